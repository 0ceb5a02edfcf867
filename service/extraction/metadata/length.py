"""How long a text is to read: words where a script has spaces, characters where it has none."""

from __future__ import annotations

import re
import unicodedata

WORDS_A_MINUTE = 200
"""Reading speed in scripts with spaces."""

CHARACTERS_A_MINUTE = 500
"""Reading speed in scripts without spaces between words."""

# Thai, Lao, Burmese, Khmer; kana; ideographs. Hangul has spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(r"\w+(?:[’'.\-]\w+)*")


def length_of(text: str) -> tuple[int, float]:
    """(words, minutes to read, to a tenth). A character of a script without spaces is a word, as in word processors.

    Vowel signs and tone marks are part of their character.
    """
    characters = sum(not unicodedata.combining(c) and unicodedata.category(c) != "Mn" for c in _CHARACTER.findall(text))
    words = len(_WORD.findall(_CHARACTER.sub(" ", text) if characters else text))
    minutes = words / WORDS_A_MINUTE + characters / CHARACTERS_A_MINUTE
    return words + characters, round(minutes, 1)
