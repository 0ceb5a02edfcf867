"""What walls and notices say, as it is compared: folded, sized, quoted or not; and the table of walls, compiled.

A page is first asked which phrases it holds at all: nearly all hold none, and a search for a plain text is
ten times as quick as one for any of hundreds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TITLE_ENDING = 4
"""Letters that may follow a phrase in a title."""

QUOTED_CHARS = 500
"""Characters around a phrase in which its quotation marks are looked for."""

_NO_LETTER = re.compile(r"[\W\d_]+")
_WIDE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_QUOTES = "\"'“”‘’„‟«»‹›「」『』〈〉《》＂"
_QUESTIONS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Phrases:
    """What one kind of wall says: parts of its sentences, whole titles, its words; and mark-up that agrees."""

    said: tuple[str, ...]
    titles: re.Pattern[str] | None
    words: tuple[str, ...]
    forms: re.Pattern[str] | None

    def within(self, text: str) -> tuple[str, ...]:
        """The phrases that a folded text holds, the longest first."""
        return tuple(phrase for phrase in self.said if phrase in text)


@cache
def table() -> dict[str, Any]:
    """The table `walls.yaml`, as it is written."""
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("walls.yaml").read_text(encoding="utf-8"))
    return data


@cache
def phrases_of(kind: str) -> Phrases:
    """The phrases of a kind of wall, folded and compiled."""
    section, forms = table()[kind], table()[kind].get("forms")
    titles = [re.escape(text) for text in _longest_first(section.get("titles", {}))]
    return Phrases(
        _longest_first(section["phrases"]),
        re.compile("|".join(titles)) if titles else None,
        tuple(table()["words"][kind]),
        re.compile("|".join(forms)) if forms else None,
    )


@cache
def addressed() -> re.Pattern[str]:
    """Words by which a sentence speaks to its reader."""
    return re.compile("|".join(pattern for group in table()["addressed"].values() for pattern in group))


def _longest_first(groups: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(
        sorted({fold(text) for group in groups.values() for text in group}, key=lambda text: (-len(text), text))
    )


def letters(text: str) -> int:
    """Letters, each counted once."""
    return len(_NO_LETTER.sub("", text))


def size(text: str) -> int:
    """Letters, those of Chinese, Japanese and Korean counted twice: they say as much as two Latin ones."""
    return letters(text) + len(_WIDE.findall(text))


def fold(text: str) -> str:
    """Text as phrases are compared: case-folded, white space folded, one apostrophe."""
    return " ".join(text.replace("’", "'").casefold().split())


def own(sentence: str, phrases: tuple[str, ...]) -> Iterator[str]:
    """The phrases that a folded sentence says itself: it neither quotes them nor asks about them."""
    for phrase in phrases:
        if phrase in sentence and not (asks(sentence) and len(sentence) > len(phrase) * 1.6):
            matches = re.finditer(re.escape(phrase), sentence)
            if any(not is_quoted(sentence, match) for match in matches):
                yield phrase


def asks(text: str) -> bool:
    """Whether a text is a question."""
    return text.endswith(_QUESTIONS)


def is_titled(part: str, titles: re.Pattern[str]) -> bool:
    """Whether a part of a title is such a phrase, up to a grammatical ending: "Not found in the river" is none."""
    part = part.strip(" .!?…")
    match = titles.match(part)
    return match is not None and len(part) - match.end() <= TITLE_ENDING


def is_quoted(line: str, match: re.Match[str]) -> bool:
    """Whether a phrase stands between quotation marks in a longer line: somebody else's words."""
    start, end = match.span()
    before, after = line[max(0, start - QUOTED_CHARS) : start], line[end : end + QUOTED_CHARS].lstrip(" .!…。")
    opens = any(before.count(mark) for mark in _QUOTES if mark != "'")
    return bool(opens and any(mark in after for mark in _QUOTES)) and len(line) > len(match.group(0)) * 1.5
