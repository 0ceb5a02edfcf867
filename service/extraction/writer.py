"""Copies chosen elements into a clean tree: which tags stay, which addresses they keep, what is left out.

Wrappers are unwrapped, inline tags that span blocks are reopened inside each. Iterative.
"""

from __future__ import annotations

import re
from typing import Literal

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction import callouts, code, footnotes, formulas
from service.extraction.builder import CELLS, HEADINGS, MAX_INLINE, PHRASING, last_child
from service.extraction.dom import BLOCK
from service.extraction.insets import PLAYERS, Insets
from service.extraction.lists import MAX_NUMBER, TASK, task_of
from service.extraction.tables import data_tables
from service.extraction.urls import resolve

MAX_DEPTH = 40
"""Deepest nesting of a clean tree; further blocks become paragraphs. Converters recurse on depth."""

MAX_QUOTES = 10
"""Quotations in one another that are kept; each costs two characters in every line inside."""

_INLINE = {
    "a": "a", "strong": "strong", "b": "strong", "em": "em", "i": "em", "code": "code", "kbd": "kbd", "samp": "samp",
    "tt": "code", "var": "em", "del": "del", "s": "del", "strike": "del", "sub": "sub", "sup": "sup", "mark": "mark",
    "q": "q", "ruby": "ruby", "rt": "rt", "rp": "rp",
}  # fmt: skip
_LISTS = frozenset(("ul", "ol", "dl"))
_ROWS = frozenset(("table", "thead", "tbody", "tfoot", "tr"))
_KEPT = PHRASING | _LISTS | _ROWS | {"li", "dd", "blockquote", "figure", "details", "pre"}
_ITEMS = {"li": ("ul", "ol"), "dt": ("dl",), "dd": ("dl",)}
_TABLE_PARTS = (_ROWS | {"td", "th", "caption"}) - {"table"}
_IN_CELL = frozenset(("ul", "ol", "li"))
_PRE = frozenset(("pre", "listing", "xmp"))
_OLD_LISTS = frozenset(("menu", "dir"))
_SPAN = re.compile(r"^\d{1,3}$")
_NUMBER = re.compile(r"\d{1,9}")
_ANCHOR_MARKS = re.compile(r"[\s#¶§🔗⚓∞\ufe0f]*")

Action = Literal["block", "inline", "boundary", "skip", "nothing", "verbatim", "row", "title", "note"]


class Writer(Insets):
    """One clean copy: `copy` parts into it, then `finish`. `base` resolves their addresses."""

    def __init__(self, base: str | None, notes: footnotes.Notes | None = None) -> None:
        super().__init__(base, notes or footnotes.Notes())
        self._data: set[HtmlElement] = set()
        self._lines: set[HtmlElement] = set()  # lines of code that end without a newline
        self._gutters: set[HtmlElement] = set()
        self._call_outs = 0
        self._beside_code: dict[HtmlElement, bool] = {}
        self._has_notes = bool(self._notes.marks)

    def copy(self, part: HtmlElement) -> None:
        """Walk one part of the body and write its clean copy."""
        self._data = data_tables(part)
        actions: list[tuple[Action, int]] = []
        walk = etree.iterwalk(part, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                action = self._start(element)
                actions.append(action)
                if action[0] == "skip":
                    walk.skip_subtree()
                elif text := element.text:
                    self.text(text)
            else:
                kind, depth = actions.pop()
                if kind not in ("nothing", "skip"):
                    self._end(kind, depth)
                if element in self._lines:
                    self._append("\n")
                if element is not part and (text := element.tail):
                    self.text(text)

    def _start(self, element: HtmlElement) -> tuple[Action, int]:
        tag, depth = element.tag, len(self.stack)
        if tag in _OLD_LISTS:
            tag = "ul"
        if self._in_pre():
            return self._start_in_code(element, tag, depth)
        if self._has_notes:
            if element in self._notes.marks:
                self._note_mark(element)
                return "skip", depth
            if element in self._notes.back:
                return "skip", depth
            if element in self._notes.notes and self._container().tag not in PHRASING:
                return "note", self._note(element)
            if element in self._notes.lists:
                self.boundary()
                return "boundary", depth
        if tag in _INLINE:
            return self._inline(element)
        if tag in ("span", "p", "div") and not element.attrib:
            pass
        elif tag == "br":
            self._break()
        elif tag == "hr":
            self._rule()
        elif tag in ("img", "amp-img"):
            self._image(element)
        elif tag in PLAYERS:
            self._media(element)
            return "skip", depth
        elif tag == "math":
            self._formula(formulas.tex_of(element), formulas.is_display(element))
            return "skip", depth
        elif tag == "noscript" and self._is_seen(element):
            return "skip", depth
        elif tag == "input":
            if task_of(element) is not None:
                self._task_due = "x" if element.get("checked") is not None else " "
        elif tag == "script" or tag == "style":
            return "skip", depth
        elif tag in _ITEMS and self._container() is self.implied:
            self._close(self.stack.index(self.implied))
            return self._start(element)
        elif "class" in element.attrib and tag not in ("td", "th"):
            name = element.get("class")
            if (
                ("copy" in name or "clipboard" in name)
                and code.is_copy_control(element)
                and code.is_beside_code(element, self._beside_code)
            ):
                return "skip", depth
            if ("katex" in name or "mjx" in name) and formulas.is_drawn(element):
                return "skip", depth
            if self._call_outs:
                if callouts.is_title(element):
                    return self._title()
            elif self._container().tag not in PHRASING and callouts.is_call_out(element):
                return self._call_out()
        elif tag == "mjx-math" and formulas.is_drawn(element):
            return "skip", depth
        if tag in _PRE or (tag == "table" and code.code_rows(element)):
            return self._code(element)
        if tag == "table" and (gutter := code.gutter_of(element)) is not None:
            self._gutters.add(gutter)
            self.boundary()
            return "boundary", depth
        if tag in CELLS:
            if element in self._gutters:
                return "skip", depth
            if self._container().tag in CELLS:  # of a small table in a cell, whose rows are lines
                self.space = True
                return "nothing", depth
        if tag in _KEPT and tag != "p" and self._admits(element, tag):
            self.boundary()
            depth = len(self.stack)
            self._open(element, tag)
            return "block", depth
        if tag in BLOCK:
            self.boundary()
            return "boundary", depth
        return "nothing", depth

    def _start_in_code(self, element: HtmlElement, tag: str, depth: int) -> tuple[Action, int]:
        if code.is_furniture(element):
            return "skip", depth
        if tag == "br":
            self._append("\n")
        elif tag == "tr":
            return "row", depth
        elif tag in BLOCK and tag not in _TABLE_PARTS:
            self._line()
            return "boundary", depth
        return "nothing", depth

    def _end(self, action: Action, depth: int) -> None:
        if action == "inline":
            name, _ = self.wanted.pop()
            if len(self.opened) > len(self.wanted):
                self.opened.pop()
            if name == "q":
                self.text("”")
        elif action == "boundary":
            if self._in_pre():
                self._line()
            else:
                self.boundary()
        elif action == "block":
            if depth < len(self.stack) and self.stack[depth].get("class") == "call-out":
                self._call_outs -= 1
                del self.stack[depth].attrib["class"]
            self._close(depth)
        elif action == "row":
            self._append("\n")
        elif action == "verbatim":
            self._verbatim = False
            self.wanted.pop()
            self.boundary()
        elif action == "title":
            self.wanted.pop()
            self.boundary()
        elif action == "note":
            self._note_sign = ""
            self._close(depth)

    def _admits(self, element: HtmlElement, tag: str) -> bool:
        """Whether a kept block may open here; where not, it is only a boundary."""
        top = self._container()
        if len(self.stack) >= MAX_DEPTH:
            return False
        if tag in _ITEMS:
            return top.tag in _ITEMS[tag]
        if tag in _TABLE_PARTS:
            return top.tag in _ROWS
        if top.tag in CELLS:
            return tag in _IN_CELL
        if top.tag in PHRASING:
            return False
        if top.tag == "li" and self._in_cell():
            return tag in _IN_CELL
        if tag == "table":
            return element in self._data
        if tag == "blockquote":
            return sum(1 for block in self.stack if block.tag == tag) < MAX_QUOTES
        return True

    def _in_cell(self) -> bool:
        return any(block.tag in CELLS for block in self.stack)

    def _open(self, element: HtmlElement, tag: str) -> None:
        top = self.stack[-1]
        if tag not in _ITEMS:
            self._enter_item()
        self.break_due = False
        block = self._push(tag)
        if tag in CELLS:
            for name in ("colspan", "rowspan"):
                value = (element.get(name) or "").strip()
                if _SPAN.match(value) and int(value) > 1:
                    block.set(name, value)
        elif tag == "ol":
            start = element.get("start") or ""
            if _NUMBER.fullmatch(start) and start != "1":
                block.set("start", start)
        elif tag == "li":
            value = element.get("value") or ""
            if top.tag == "ol" and _NUMBER.fullmatch(value) and int(value) <= MAX_NUMBER:
                block.set("value", value)
            self._task_due = element.get(TASK) or ""

    def _enter_item(self) -> None:
        """A block right inside a list belongs to the item before it."""
        top = self.stack[-1]
        if top.tag in _LISTS:
            before = last_child(top)
            if before is None or before.tag == "dt":
                self._push("dd" if top.tag == "dl" else "li")
            else:
                self.stack.append(before)

    def _inline(self, element: HtmlElement) -> tuple[Action, int]:
        attributes: dict[str, str] = {}
        name = _INLINE[element.tag]
        if name == "a":
            href = resolve(self.base, element.get("href"))
            if href is None:
                return "nothing", 0
            if self.stack[-1].tag in HEADINGS and "#" in href and _is_anchor(element):
                return "skip", 0
            attributes["href"] = href
        if name == "strong" and self.stack[-1].tag == "summary":  # bold by itself
            return "nothing", 0
        if len(self.wanted) >= MAX_INLINE or any(tag == name for tag, _ in self.wanted):
            return "nothing", 0  # bold in bold says nothing, and must not nest without end
        if name == "q":
            self.text("“")
        self.wanted.append((name, attributes))
        return "inline", 0

    def _code(self, element: HtmlElement) -> tuple[Action, int]:
        """A code block; where none may open, its lines as code."""
        top = self._container()
        if top.tag in PHRASING or len(self.stack) >= MAX_DEPTH - 1 or (top.tag == "li" and self._in_cell()):
            self.boundary()
            self._verbatim = True
            self.wanted.append(("code", {}))
            return "verbatim", 0
        self.boundary()
        depth = len(self.stack)
        self._enter_item()
        self.break_due = False
        self._push("pre")
        block = self._push("code")
        if language := code.language_of(element):
            block.set("class", f"language-{language}")
        if element.tag != "table":
            self._lines = code.unbroken_lines(element)
        return "block", depth

    def _call_out(self) -> tuple[Action, int]:
        """A call-out is a quotation of the page's own, its title bold."""
        self.boundary()
        depth = len(self.stack)
        if depth >= MAX_DEPTH or self._container().tag in _LISTS | _ROWS:
            return "boundary", depth
        self._push("blockquote").set("class", "call-out")
        self._call_outs += 1
        return "block", depth

    def _title(self) -> tuple[Action, int]:
        self.boundary()
        self.wanted.append(("strong", {}))
        return "title", 0


def _is_anchor(link: HtmlElement) -> bool:
    """Whether a link in a heading only offers the heading's own address (`#`, `¶`)."""
    return (link.get("href") or "").startswith("#") and _ANCHOR_MARKS.fullmatch("".join(link.itertext())) is not None
