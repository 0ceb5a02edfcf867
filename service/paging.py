"""A long body in pieces that end where its blocks do, and an outline of it; offsets are characters of the Markdown."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

MAX_HEADINGS = 2_000
"""Headings in an outline; a long reference has some hundreds."""

MAX_HEADING_CHARS = 300
"""Where the text of a heading is cut."""

MAX_PARSED_CHARS = 50_000
"""Characters of headings whose mark-up is taken out in one outline: the parser needs the square of some (300 brackets:
1 ms)."""

MAX_LINES = 20_000
"""Lines that are searched backwards for the beginning of a block or of a list's item."""

MAX_CLUSTER = 64
"""Characters that are taken for one sign at most: a family of emoji has 11, letters with many marks a dozen."""

# What stands before a fence in a line: indents, quote marks, bullets. No part can begin as another ends: linear.
_FENCE = re.compile(
    r"^([ \t]*(?:(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))[ \t]*)*)(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)", re.M
)
_HEADING = re.compile(r"^(#{1,6})[ \t]+([^\n]+)$", re.M)
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_MARKED = re.compile(r"[\\`*_\[\]<&~!]")
_TOP_LINE = re.compile(r"^(?=[^\s>])", re.M)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the body: `level` 1 to 6, `text` without mark-up, `offset` where it begins in the Markdown."""

    level: int
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the Markdown, and where the next one begins; None at the end."""

    markdown: str
    next_offset: int | None


def piece(markdown: str, offset: int = 0, limit: int | None = None) -> Piece:
    """At most `limit` characters from `offset`, cut between blocks.

    The cut is the last beginning of a block in reach; in a block that is longer, the last item of a list, else the last
    line, else a space, else between two signs. Pieces that follow each other are together exactly the whole. Raises
    `ValueError` for an `offset` under 0 or a `limit` under 1.
    """
    if offset < 0 or (limit is not None and limit < 1):
        raise ValueError("`offset` must be 0 or more, `limit` 1 or more")
    if limit is None or offset + limit >= len(markdown):
        return Piece(markdown[offset:], None)
    end = _cut(markdown, offset, offset + limit)
    return Piece(markdown[offset:end], end)


def outline(markdown: str) -> tuple[Heading, ...]:
    """The headings outside code, quotes and lists, in order."""
    if "#" not in markdown:
        return ()
    fenced = _fenced(markdown, len(markdown))
    found: list[Heading] = []
    left = MAX_PARSED_CHARS
    for match in _HEADING.finditer(markdown):
        if len(found) == MAX_HEADINGS:
            break
        text = _CLOSING.sub("", match.group(2)[:MAX_HEADING_CHARS].rstrip()).rstrip()
        if text and not _inside(fenced, match.start()):
            if _MARKED.search(text) and left >= len(text):
                left -= len(text)
                text = _plain(text)
            found.append(Heading(len(match.group(1)), text, match.start()))
    return tuple(found)


def _cut(text: str, low: int, high: int) -> int:
    """The best end, over `low` and up to `high`, which is inside the text."""
    fenced = _fenced(text, high)
    end = high
    for _ in range(MAX_LINES):
        if (gap := text.rfind("\n\n", low, end)) < 0:
            break
        start = gap + 2
        if low < start <= high and not text[start].isspace() and not _inside(fenced, start):
            return start
        end = gap + 1
    if not _inside(fenced, high):
        end = high
        for _ in range(MAX_LINES):
            if (line := text.rfind("\n", low, end) + 1) <= low:
                break
            if _ITEM.match(text, line) and not _inside(fenced, line):
                return line
            end = line - 1
    for sign in ("\n", " "):
        if (start := text.rfind(sign, low, high) + 1) > low:
            return start
    for start in range(high, max(low, high - MAX_CLUSTER), -1):
        if not _joined(text, start):
            return start
    return high


def _joined(text: str, place: int) -> bool:
    """Whether the characters on both sides of a place are one sign to a reader."""
    before, behind = text[place - 1], text[place]
    return (
        unicodedata.category(behind) in ("Mn", "Mc", "Me")
        or "\u200d" in (before, behind)
        or "\U0001f3fb" <= behind <= "\U0001f3ff"  # skin tones
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= behind <= "\U0001f1ff")  # flags
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= behind <= "\udfff")
        or before == "\\"  # an escape and what it escapes
        or (before, behind) == ("\r", "\n")
    )


def _fenced(text: str, end: int) -> tuple[list[int], list[int]]:
    """Where code between fences begins and ends, as far as `end`; a fence never closed ends with what holds it."""
    starts: list[int] = []
    ends: list[int] = []
    place, top = 0, -1
    stop = text.find("\n", end) + 1 or len(text)
    while (opening := _FENCE.search(text, place, stop)) is not None and opening.start() < end:
        margin, mark = opening.group(1), opening.group(2)
        close = len(text)
        # Inside a quote or an item, a line at the left margin ends both.
        if margin:
            if top < opening.end():
                outer = _TOP_LINE.search(text, opening.end())
                top = outer.start() if outer is not None else len(text)
            close = top
        for line in _FENCE.finditer(text, opening.end(), close):
            if line.group(2)[0] == mark[0] and len(line.group(2)) >= len(mark) and not line.group(3).strip():
                close = line.end()
                break
        starts.append(opening.start())
        ends.append(close)
        place = max(close, opening.end())
    return starts, ends


def _inside(fenced: tuple[list[int], list[int]], place: int) -> bool:
    """Whether a place is behind the beginning and before the end of a fenced code."""
    number = bisect_right(fenced[0], place) - 1
    return number >= 0 and fenced[0][number] < place < fenced[1][number]


def _plain(text: str) -> str:
    """The words of a heading, as a renderer shows them."""
    from markdown_it import MarkdownIt  # only where there is mark-up

    tokens = MarkdownIt("commonmark").enable("strikethrough").parseInline(text)
    shown = ("text", "text_special", "code_inline", "image", "softbreak")
    parts = [child.content for token in tokens for child in token.children or () if child.type in shown]
    return "".join(parts).strip()
