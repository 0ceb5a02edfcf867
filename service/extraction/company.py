"""What a block's company says: teasers and date lines go, gaps in a body are closed, a table stays whole.

Each rule stands for a measured shape (its capture is named) that blocks judged one by one get wrong.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from service.extraction.evidence import HEADINGS, signatures
from service.extraction.segment import Blocks, Floats
from service.page import Kind

GAP_LIKELY = 0.3
"""Probability from which a block between two blocks of the body, in the container of one of them, is body too."""

LAST_LIKELY = 0.25
"""Probability from which a paragraph right behind the body is its end (`relative-urls-base`)."""

GAP_WORDS = 60
"""Words up to which blocks in a row are such a gap."""

ALIKE, ALIKE_LIKELY = 0.6, 0.15
"""Share of the words in a thread's blocks of one build that must be body for the rest of them to be; and how likely."""

LISTED = 0.5
"""Share of link text from which a list is one of links."""

WHOLE = 0.5
"""Share of the words of a table or a listing from which all of it is body (`markdown-table-in-layout-cell`)."""

LAYOUT_BLOCKS = 3
"""Blocks in one cell from which it may be a part of the page (`render-document-write`)."""

DATELINES = 2
"""Date lines up to which they are of the page; more are a chronology."""

DATELINE_CHARS = 48
"""Longest block that is looked at as a date line: a label, a date, a time."""

COPIED_BLOCKS, COPIED_CHARS = 3, 300
"""Different blocks in a row, and their length, from which what was said before is a copy of a story."""

QUOTED_CHARS = 80
"""Length from which a text said before on a forum is a quotation."""

TEASER_CHARS = 450
"""Longest teaser: a short element whose only heading is a link. `widget-articles` has 23 of at most 345 characters."""

TEASERS = 3
"""Teasers side by side from which they are a list of other pages."""

LIKELY, PROSE_CHARS = 0.5, 1000
"""Probability from which a block counts as body; characters of such blocks that must stand outside comments
or teasers: without them those are the body (7 articles of wcxb are written in a container named as comments are)."""

Rules = dict[int, str]
"""What overruled the model, by block."""

_LISTS = frozenset(("ul", "ol", "dl"))
_DATED_TAGS = frozenset(("p", "div", "section", "span", "time", "header"))
_TEASER_TAGS = frozenset(("article", "li", "div", "section"))
_DATELINE = re.compile(
    r"^\W*(?:[^\W\d]{1,12}[\s:]*){0,2}"
    r"(?:\d{4}\s*[-./年년]\s*\d{1,2}\s*[-./月월]\s*\d{1,2}\s*[日일]?"
    r"|[^\W\d]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? [^\W\d]{3,9}\.? \d{4})"
    r"[\s.,T]*(?:\(?[^\W\d]{1,3}\)?\s*)?(?:\d{1,2}\s*[:時시]\s*\d{1,2}\s*[分분]?(?::\d{2})?\s*[^\W\d]{0,4})?\W*$"
)


def others(blocks: Blocks, likely: Floats, comments: NDArray[np.bool_], kind: Kind) -> Rules:
    """Which blocks are no body, however likely: reader comments and teasers beside a body, an article's date lines.

    Comments are the body of a forum, teasers that of a page of teasers: where little else is likely they stay.
    """
    rules: Rules = {}
    if kind != "forum" and _is_enough(blocks, likely, ~comments):
        rules.update(dict.fromkeys(np.flatnonzero(comments).tolist(), "a reader's comment"))
    if kind != "article":
        return rules
    teasers = _teasers(blocks, likely)
    if _is_enough(blocks, likely, ~teasers):
        for number in range(len(blocks) - 2, -1, -1):  # the heading over teasers is theirs
            if teasers[number + 1] and blocks.tags[blocks.home[number]] in HEADINGS:
                teasers[number] = True
        rules.update(dict.fromkeys(np.flatnonzero(teasers).tolist(), "a teaser"))
    lines = [
        number for number in np.flatnonzero(blocks.chars <= DATELINE_CHARS).tolist() if _is_dateline(blocks, number)
    ]
    if len(lines) <= DATELINES:
        rules.update(dict.fromkeys(lines, "a date line"))
    return rules


def _is_dateline(blocks: Blocks, number: int) -> bool:
    if blocks.tags[blocks.home[number]] not in _DATED_TAGS:
        return False
    return _DATELINE.match(" ".join(blocks.texts[number].split())) is not None


def _is_enough(blocks: Blocks, likely: Floats, among: NDArray[np.bool_]) -> bool:
    """Whether the body is likely to be `among` these blocks."""
    body = np.where(likely >= LIKELY, blocks.chars, 0)
    return bool(body[among].sum() >= PROSE_CHARS)


def joined(blocks: Blocks, chosen: NDArray[np.bool_], likely: Floats, kind: Kind, rules: Rules) -> NDArray[np.bool_]:
    """The chosen blocks, and what belongs to them: a thread's other posts, a text's gaps, the rest of a table.

    The body of a list of things is made of pieces: there a gap is none. What is said twice is kept once. `rules` is
    told of every block that is kept or dropped here.
    """
    result = chosen.copy()
    if kind in ("feed", "product"):
        return result
    before = result.copy()

    def tell(rule: str) -> None:
        rules.update(dict.fromkeys(np.flatnonzero(result != before).tolist(), rule))
        before[:] = result

    if kind == "forum":
        _with_the_alike(blocks, result, likely)
        tell("built like the other posts")
    else:
        _with_gaps(blocks, result, likely)
        tell("a gap in the body")
    _with_what_is_whole(blocks, result)
    tell("the rest of a table or listing")
    if kind != "forum":
        _with_last_words(blocks, result, likely)
        tell("last words")
    _without_copies(blocks, result, kind)
    tell("said before")
    return result


def _with_the_alike(blocks: Blocks, chosen: NDArray[np.bool_], likely: Floats) -> None:
    """Blocks built like others that are nearly all body (`forum-thread`: a short post)."""
    build = signatures(blocks)
    body = np.bincount(build, np.where(chosen, blocks.words, 0))
    chosen |= (likely >= ALIKE_LIKELY) & (body >= ALIKE * np.maximum(1, np.bincount(build, blocks.words)))[build]


def _with_gaps(blocks: Blocks, chosen: NDArray[np.bool_], likely: Floats) -> None:
    kept = np.flatnonzero(chosen).tolist()
    for before, after in pairwise(kept):
        gap = slice(before + 1, after)
        if after - before < 2 or blocks.words[gap].sum() > GAP_WORDS or not likely[gap].all():
            continue
        if likely[gap].min() >= GAP_LIKELY or _belongs(blocks, before, after):
            chosen[gap] = True


def _with_last_words(blocks: Blocks, chosen: NDArray[np.bool_], likely: Floats) -> None:
    kept = np.flatnonzero(chosen)
    after = int(kept[-1]) + 1 if len(kept) else len(blocks)
    if after < len(blocks) and likely[after] >= LAST_LIKELY and blocks.tags[blocks.home[after]] in ("p", "div"):
        chosen[after] = True


def _belongs(blocks: Blocks, before: int, after: int) -> bool:
    """Whether all blocks of a gap are, in the container of the two around it, what prose is made of.

    That is: paragraphs and terms without links (`paragraph-class-gdpr`, `markdown-headings-with-anchors`), a list of
    little link text or that a colon before it announces (`markdown-lists`), a table with header cells
    (`markdown-table-of-links`).
    """
    container = {int(blocks.up[blocks.home[before]]), int(blocks.up[blocks.home[after]])}
    announced = blocks.texts[before].rstrip().endswith((":", "："))
    for number in range(before + 1, after):
        node = int(blocks.home[number])
        while node >= 0 and int(blocks.up[node]) not in container:
            node = int(blocks.up[node])
        if node < 0:
            return False
        tags = blocks.tags[node : int(blocks.end[node])]
        held = slice(int(blocks.first[node]), int(blocks.last[node]))
        if blocks.tags[node] in ("p", "dt"):
            fits = not blocks.links[number]
        elif blocks.tags[node] in _LISTS:
            fits = announced or bool(blocks.link_chars[held].sum() < LISTED * blocks.chars[held].sum())
        else:
            fits = "table" in tags and "th" in tags
        if not fits:
            return False
    return True


def _with_what_is_whole(blocks: Blocks, chosen: NDArray[np.bool_]) -> None:
    for i, tag in enumerate(blocks.tags):
        if tag not in ("table", "pre"):
            continue
        held = slice(int(blocks.first[i]), int(blocks.last[i]))
        words = blocks.words[held]
        if not words.any() or _lays_out(blocks, i):
            continue
        if words[chosen[held]].sum() >= WHOLE * words.sum():
            chosen[held] = True


def _lays_out(blocks: Blocks, i: int) -> bool:
    """Whether a table lays out a page: it holds another table, or a cell of paragraphs with most of its text."""
    inside = range(i + 1, int(blocks.end[i]))
    words = int(blocks.words[blocks.first[i] : blocks.last[i]].sum())
    for j in inside:
        if blocks.tags[j] == "table":
            return True
        held = slice(int(blocks.first[j]), int(blocks.last[j]))
        if blocks.tags[j] == "td" and held.stop - held.start >= LAYOUT_BLOCKS and 2 * blocks.words[held].sum() >= words:
            return True
    return False


def _without_copies(blocks: Blocks, chosen: NDArray[np.bool_], kind: Kind) -> None:
    """A text that stands on the page twice is kept once (`body-twice`); a post that another quotes, too."""
    kept = np.flatnonzero(chosen).tolist()
    texts = [" ".join(blocks.texts[number].split()) for number in kept]
    again: list[bool] = []
    seen: set[str] = set()
    for text in texts:
        again.append(text in seen)
        seen.add(text)
    start = 0
    for is_copy, run in groupby(again):
        end = start + len(list(run))
        said = set(texts[start:end])
        is_story = len(said) >= COPIED_BLOCKS and sum(map(len, said)) >= COPIED_CHARS
        if is_copy and (is_story or (kind == "forum" and max(map(len, said)) >= QUOTED_CHARS)):
            chosen[kept[start:end]] = False
        start = end


def _teasers(blocks: Blocks, likely: Floats) -> NDArray[np.bool_]:
    """Blocks in teasers that stand side by side, and not in the text: what holds them holds no prose."""
    chars = blocks.inside(blocks.chars)
    body = blocks.inside(np.where(likely >= LIKELY, blocks.chars, 0))
    groups: dict[int, list[int]] = {}
    headings = np.concatenate(([0], np.cumsum([tag in HEADINGS for tag in blocks.tags])))
    alone = headings[blocks.end] - headings[:-1] == 1
    for i in np.flatnonzero(alone & (chars > 0) & (chars <= TEASER_CHARS)).tolist():
        if blocks.tags[i] in _TEASER_TAGS and _is_linked(blocks, i):
            groups.setdefault(int(blocks.parent[i]), []).append(i)
    teasers = np.zeros(len(blocks), bool)
    for parent, group in groups.items():
        if len(group) < TEASERS or body[parent] - body[group].sum() >= PROSE_CHARS:
            continue
        for i in group:
            teasers[blocks.first[i] : blocks.last[i]] = True
    return teasers


def _is_linked(blocks: Blocks, i: int) -> bool:
    """Whether the one heading inside an element is, or stands in, a link to another page."""
    span = range(i, int(blocks.end[i]))
    heading = next(j for j in span if blocks.tags[j] in HEADINGS)
    inside = range(heading, int(blocks.end[heading]))
    links = [blocks.elements[j] for j in inside if blocks.tags[j] == "a"]
    links.extend(ancestor for ancestor in blocks.elements[heading].iterancestors("a"))
    return any(not (link.get("href") or "#").startswith("#") for link in links)
