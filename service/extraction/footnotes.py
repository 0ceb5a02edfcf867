"""Footnotes: which links are marks of notes, where the notes stand, and which links only lead back.

A mark is a short link (`1`, `[2]`, `*`, `†`) to an element of the same page that is raised, says that it is a footnote,
or has a link back. Its note is that element, or the paragraph or item around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import unquote

import numpy as np
from lxml.etree import _Element as HtmlElement
from numpy.typing import NDArray

from service.extraction.dom import text_within
from service.extraction.segment import Blocks

NOTE_CHARS = 5_000
"""Longest note; a section that a link leads to is longer."""

NOTE_ELEMENTS = 500
"""Elements of a note; an encyclopedia's references have up to 60."""

MARK_CHARS = 12
"""Longest mark, and longest link back ("[note 12]", "Return"); white space of the source may stand around it."""

MAX_MARKS = 5_000
"""Marks that are looked at in one body."""

_MARK = re.compile(r"[\[(]?(?:note |fn |n )?([\w]{1,4}|[*†‡§¶]{1,3})[\])]?", re.I)
_LABEL = re.compile(r"\w{1,12}")
_NAMED = re.compile(r"footnote|noteref|\breference\b|\bcite_ref|fn-?ref|sdfootnote", re.I)
_BLOCKS = frozenset(("li", "p", "div", "dd", "aside", "td", "section"))
_BACK = re.compile(r"[\s^↑↩↵⤴⏎\ufe0e\ufe0f,.\[\]()]*")


@dataclass(slots=True)
class Notes:
    """The footnotes of a body."""

    marks: dict[HtmlElement, str] = field(default_factory=dict)
    """Label by the link that is a note's mark."""
    notes: dict[HtmlElement, str] = field(default_factory=dict)
    """Label by the element that holds a note."""
    signs: dict[HtmlElement, str] = field(default_factory=dict)
    """What a note's mark says, which its text may begin with again."""
    ids: dict[HtmlElement, str] = field(default_factory=dict)
    """The fragment that leads to a note."""
    back: set[HtmlElement] = field(default_factory=set)
    """Links in a note that lead back to its marks, and copies of the label before it: left out."""
    lists: set[HtmlElement] = field(default_factory=set)
    """Lists that consist of notes: unwrapped."""


def find(parts: Iterable[HtmlElement], base: str | None) -> Notes:
    """The footnotes among the parts of a body; `base` is its address."""
    parts = list(parts)
    page = (base or "").partition("#")[0]
    links = [(a, name) for part in parts for a in part.iter("a") if (name := _fragment(a.get("href"), page))]
    marked = [(a, name, mark) for a, name in links if (mark := _mark_of(a))]
    found = Notes()
    if not marked:
        return found
    targets = _targets(parts)
    leads = {a: targets.get(name) for a, name in links}
    labels: set[str] = set()
    for a, name, mark in marked[:MAX_MARKS]:
        target = leads[a]
        if target is None or a in found.back:
            continue
        note = _note_of(target)
        if note is None or _is_around(note, a):
            continue
        if note in found.notes:
            found.marks[a] = found.notes[note]
            found.back.update(_links_back(note, a, leads))
            continue
        back = _links_back(note, a, leads)
        if not back and not _says_so(a):
            continue
        label = mark if _LABEL.fullmatch(mark) and mark not in labels else str(len(found.notes) + 1)
        while label in labels:
            label += "a"
        labels.add(label)
        found.marks[a], found.notes[note], found.ids[note], found.signs[note] = label, label, name, mark
        found.back.update(back)
        first = _label_copy(note, mark)
        if first is not None:
            found.back.add(first)
    _drop_odd_lists(found)
    return found


def with_notes(blocks: Blocks, kept: NDArray[np.bool_], base: str | None) -> NDArray[np.bool_]:
    """The blocks of a body and those of the notes that its marks lead to, which stand far from it as a rule."""
    found = find(blocks.elements[:1], base)
    if not found.marks or not kept.any():
        return kept
    said = {
        element for number in np.flatnonzero(kept).tolist() for element, is_tail in blocks.pieces[number] if not is_tail
    }
    labels = {label for a, label in found.marks.items() if not said.isdisjoint(a.iter())}
    result = kept.copy()
    for number, element in enumerate(blocks.elements):
        if found.notes.get(element) in labels:
            result[blocks.first[number] : blocks.last[number]] = True
    return result


def _fragment(href: str | None, page: str) -> str | None:
    if not href:
        return None
    before, hash_mark, name = href.partition("#")
    if not hash_mark or not name or (before and before != page):
        return None
    return unquote(name)


def _mark_of(a: HtmlElement) -> str | None:
    text = _short(a)
    found = _MARK.fullmatch(text) if text else None
    return found.group(1) if found else None


def _short(element: HtmlElement) -> str | None:
    text = text_within(element, MARK_CHARS + 20)
    return text.strip() if text is not None and len(text.strip()) <= MARK_CHARS else None


def _targets(parts: list[HtmlElement]) -> dict[str, HtmlElement]:
    targets: dict[str, HtmlElement] = {}
    for part in parts:
        for element in part.iter():
            name = element.get("id") or (element.get("name") if element.tag == "a" else None)
            if name:
                targets.setdefault(name, element)
    return targets


def _note_of(target: HtmlElement) -> HtmlElement | None:
    """The block that is the note a link leads to, if it is small and says something."""
    block: HtmlElement | None = target
    for _ in range(5):
        if block is None or block.tag in _BLOCKS:
            break
        block = block.getparent()
    if block is None or block.tag not in _BLOCKS or block.tag in ("td", "section"):
        return None
    if next(islice(block.iter(), NOTE_ELEMENTS, None), None) is not None:
        return None
    text = text_within(block, NOTE_CHARS)
    return block if text is not None and len(text) > 2 else None


def _is_around(note: HtmlElement, a: HtmlElement) -> bool:
    return any(ancestor is note for ancestor in a.iterancestors())


def _links_back(note: HtmlElement, a: HtmlElement, leads: dict[HtmlElement, HtmlElement | None]) -> list[HtmlElement]:
    near = {a, *islice(a.iterancestors(), 2), *islice(a, 3)}
    before = a.getprevious()
    if before is not None and before.tag == "a":
        near.add(before)
    return [link for link in note.iter("a") if leads.get(link) in near and _short(link) is not None]


def _says_so(a: HtmlElement) -> bool:
    parent = a.getparent()
    inner = next(a.iterchildren(), None)
    raised = (parent is not None and parent.tag == "sup") or (inner is not None and inner.tag == "sup")
    names = (
        a.get("class"),
        a.get("role"),
        a.get("rel"),
        a.get("id"),
        parent.get("class") if parent is not None else "",
    )
    return raised or any(name and _NAMED.search(name) for name in names)


def _label_copy(note: HtmlElement, mark: str) -> HtmlElement | None:
    """The element at a note's start that only repeats its mark."""
    element = note
    for _ in range(3):
        if (element.text or "").strip():
            return None
        element = next(element.iterchildren(), None)
        if element is None:
            return None
        if element.tag in ("sup", "a", "span", "b", "strong") and (_short(element) or "").strip("[]().: ") == mark:
            return element
    return None


def _drop_odd_lists(found: Notes) -> None:
    """Lists of notes are unwrapped; an item among others that are no notes is none either."""
    odd: set[HtmlElement] = set()
    for note in found.notes:
        listing = note.getparent()
        if note.tag not in ("li", "dd") or listing is None or listing in found.lists or listing in odd:
            continue
        items = [child for child in listing if child.tag in ("li", "dd")]
        among = sum(1 for item in items if item in found.notes)
        (found.lists if 2 * among >= len(items) and listing.tag in ("ol", "ul", "dl") else odd).add(listing)
    if odd:
        gone = {label for note, label in found.notes.items() if note.getparent() in odd and note.tag in ("li", "dd")}
        found.notes = {note: label for note, label in found.notes.items() if label not in gone}
        found.marks = {a: label for a, label in found.marks.items() if label not in gone}


def without_mark(text: str, sign: str) -> str:
    """A note's first text without what stood around its links back (`^`, `↑`) or repeats its mark (`1. `, `* `)."""
    if _BACK.fullmatch(text):
        return ""
    first = text.lstrip().lstrip("[(")
    if not first.startswith(sign):
        return text
    rest = first[len(sign) :].lstrip("])")
    after = rest.lstrip(".:)")
    return after if after[:1].isspace() or (after != rest and after) else text
