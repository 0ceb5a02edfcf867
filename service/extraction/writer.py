"""Copies chosen elements into a clean tree: which tags stay, which addresses they keep, what is left out.

Wrappers are unwrapped, inline tags that span blocks are reopened inside each. Iterative.
"""

from __future__ import annotations

import re
from typing import Literal

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.builder import PHRASING, SPACES, Builder, last_child
from service.extraction.dom import BLOCK
from service.extraction.tables import is_data_table
from service.extraction.urls import image_source, resolve, resolve_web
from service.page import Media

MAX_DEPTH = 40
"""Deepest nesting of a clean tree; further blocks become paragraphs. Converters recurse on depth."""

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
_SPAN = re.compile(r"^\d{1,3}$")
_NAME = re.compile(r"[\w+#.-]{1,40}")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]([\w+#.-]+)", re.I)

Action = Literal["block", "inline", "boundary", "skip", "nothing"]


class Writer(Builder):
    """One clean copy: `copy` parts into it, then `finish`. `base` resolves their addresses."""

    def __init__(self, base: str | None) -> None:
        super().__init__()
        self.base = base
        self.media: list[Media] = []
        self._seen: set[str] = set()

    def copy(self, part: HtmlElement) -> None:
        """Walk one part of the body and write its clean copy."""
        actions: list[tuple[Action, int]] = []
        walk = etree.iterwalk(part, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                actions.append(self._start(element))
                if actions[-1][0] == "skip":
                    walk.skip_subtree()
                else:
                    self.text(element.text)
            else:
                self._end(*actions.pop())
                if element is not part:
                    self.text(element.tail)

    def _start(self, element: HtmlElement) -> tuple[Action, int]:
        tag, depth = element.tag, len(self.stack)
        if self._in_pre():
            if tag == "br" or tag in BLOCK:
                self._line()
            return ("nothing", depth) if tag not in BLOCK else ("boundary", depth)
        if tag == "br":
            self._break()
        elif tag == "hr":
            self._rule()
        elif tag == "img":
            self._image(element)
        elif tag in ("video", "audio", "iframe"):
            self._media(element)
        elif tag in _INLINE:
            return self._inline(element)
        elif tag == "math" or (tag == "span" and "katex-html" in (element.get("class") or "")):
            self._math(element)
            return "skip", depth
        elif tag in _ITEMS and self._container() is self.implied:
            self._close(self.stack.index(self.implied))
            return self._start(element)
        elif tag in _KEPT and tag != "p" and self._admits(element):
            self.boundary()
            depth = len(self.stack)
            self._open(element)
            return "block", depth
        elif tag in BLOCK:
            self.boundary()
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
            self._line() if self._in_pre() else self.boundary()
        elif action == "block":
            self._close(depth)

    def _admits(self, element: HtmlElement) -> bool:
        """Whether a kept block may open here; where not, it is only a boundary."""
        tag, top = element.tag, self._container()
        if len(self.stack) >= MAX_DEPTH:
            return False
        if tag in _ITEMS:
            return top.tag in _ITEMS[tag]
        if tag in _TABLE_PARTS:
            return top.tag in _ROWS
        if top.tag in PHRASING:
            return False
        if tag == "table":
            return is_data_table(element)
        return True

    def _open(self, element: HtmlElement) -> None:
        self.break_due = False
        tag = element.tag
        top = self.stack[-1]
        if top.tag in ("ul", "ol") and tag != "li":  # a list right inside a list belongs to the item before it
            before = last_child(top)
            if before is not None:
                self.stack.append(before)
            else:
                self._push("li")
        block = self._push(tag)
        if tag in ("td", "th"):
            for name in ("colspan", "rowspan"):
                value = (element.get(name) or "").strip()
                if _SPAN.match(value) and int(value) > 1:
                    block.set(name, value)
        elif tag == "ol" and re.fullmatch(r"\d{1,9}", element.get("start") or "") and element.get("start") != "1":
            block.set("start", element.get("start"))
        elif tag == "pre":
            code = self._push("code")
            language = _language(element)
            if language:
                code.set("class", f"language-{language}")

    def _inline(self, element: HtmlElement) -> tuple[Action, int]:
        attributes: dict[str, str] = {}
        if element.tag == "a":
            href = resolve(self.base, element.get("href"))
            if href is None:
                return "nothing", 0
            attributes["href"] = href
        name = _INLINE[element.tag]
        if any(tag == name for tag, _ in self.wanted):  # bold in bold says nothing, and must not nest without end
            return "nothing", 0
        if name == "q":
            self.text("“")
        self.wanted.append((name, attributes))
        return "inline", 0

    def _math(self, element: HtmlElement) -> None:
        """A formula once, as the TeX its MathML carries; without it, its symbols. KaTeX draws it again in HTML."""
        if element.tag != "math":
            return
        notes = [note for note in element.iter("annotation") if "tex" in (note.get("encoding") or "")]
        source = "".join(notes[0].itertext() if notes else element.itertext()).strip()
        if source:
            self.wanted.append(("code", {"class": "language-math"}))
            self.text(source)
            self.wanted.pop()
            self.opened = self.opened[: len(self.wanted)]

    def _image(self, element: HtmlElement) -> None:
        source = image_source(element, self.base)
        if source is None or source in self._seen:
            return
        self._seen.add(source)
        self._ready()
        alt = SPACES.sub(" ", element.get("alt") or "").strip()
        target = self.opened[-1] if self.opened else self.stack[-1]
        if self.space:
            self._append(" ")
            self.space = False
        self._add(target, "img", {"src": source, "alt": alt})

    def _media(self, element: HtmlElement) -> None:
        source = resolve_web(self.base, element.get("src") or element.get("data-src"))
        if source is None:
            nested = next((child.get("src") for child in element.iter("source") if child.get("src")), None)
            source = resolve_web(self.base, nested)
        if source is not None:
            self.media.append(Media(source, "embed" if element.tag == "iframe" else element.tag))


def _language(pre: HtmlElement) -> str | None:
    code = pre.find("code")
    for element in (code, pre, pre.getparent()):
        if element is not None:
            found = _LANGUAGE.search(element.get("class") or "")
            if found:
                return found.group(1).lower()
            named = _NAME.fullmatch(element.get("data-lang") or "")
            if named:
                return str(named.group()).lower()
    return None
