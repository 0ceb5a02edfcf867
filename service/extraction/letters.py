"""Characters of a line: white space folded, marks without meaning taken out, lines joined as their script wants it."""

from __future__ import annotations

import re

SPACES = re.compile(r"[ \t\n\r\f\v]+")
_EDGE = " \t\n\r\f\v"

_HAN = (
    "\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\uffe0-\uffef\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_HAN}]")
# Chinese and Japanese lines are joined without a space; Korean words need theirs.
_JOIN = re.compile(rf"(?<=[{_HAN}])[ \t]*\n\s*(?=[{_HAN}])")

_JOINING = "\u0600-\u0fff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefe"
_EMOJI = "\u2190-\u2bff\ufe0f\u20e3\U0001f000-\U0001faff"
_SOUTH_EAST = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]")
# Soft hyphens and word joiners only say where a line may break. A zero-width space ends a word in Thai, Lao, Burmese
# and Khmer; a non-joiner shapes Arabic and Indic letters; a joiner these and emoji. Marks of direction all stay.
_MEANINGLESS = re.compile(
    "[\u00ad\u2060-\u2064\ufeff]"
    f"|(?<![{_SOUTH_EAST}])\u200b(?![{_SOUTH_EAST}])"
    f"|(?<![{_JOINING}])\u200c"
    f"|(?<![{_JOINING}{_EMOJI}])\u200d|\u200d(?![{_JOINING}{_EMOJI}])"
)


def folded(text: str) -> tuple[str, str, str]:
    r"""Text without white space at its ends, and what stood there: nothing, a space, or a newline (`"\n"`)."""
    if not text.isascii():
        if _INVISIBLE.search(text):
            text = _MEANINGLESS.sub("", text)
        if "\n" in text:
            text = _JOIN.sub("", text)
    core = text.strip(_EDGE)
    if len(core) == len(text):
        return SPACES.sub(" ", core), "", ""
    if not core:
        return "", "\n" if "\n" in text else " " if text else "", ""
    start = text[: text.find(core[0])]
    end = text[len(start) + len(core) :]
    before = "\n" if "\n" in start else " " if start else ""
    after = "\n" if "\n" in end else " " if end else ""
    return SPACES.sub(" ", core), before, after


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script whose lines are joined without a space."""
    return character > "\u2e7f" and _UNSPACED.match(character) is not None
