"""Writes the clean tree: reads one element after another and opens, closes and splits what the copy needs.

Wrappers are unwrapped, bare text gets a paragraph, inline tags that span blocks are reopened inside
each. Iterative, and linear in the size of what is read.
"""

from __future__ import annotations

import re
from typing import Literal

from lxml import etree
from lxml.etree import _Element as HtmlElement

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
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LISTS = frozenset(("ul", "ol", "dl"))
_ROWS = frozenset(("table", "thead", "tbody", "tfoot", "tr"))
_PHRASING = _HEADINGS | {"p", "td", "th", "dt", "summary", "figcaption", "caption"}
_KEPT = _PHRASING | _LISTS | _ROWS | {"li", "dd", "blockquote", "figure", "details", "pre"}
_ITEMS = {"li": ("ul", "ol"), "dt": ("dl",), "dd": ("dl",)}
_TABLE_PARTS = (_ROWS | {"td", "th", "caption"}) - {"table"}
_SPAN = re.compile(r"^\d{1,3}$")
_NAME = re.compile(r"[\w+#.-]{1,40}")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]([\w+#.-]+)", re.I)
# Chinese and Japanese lines are joined without a space; Korean words need theirs.
_UNSPACED_JOIN = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[ \t]*\n\s*(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
_SOFT_HYPHEN = "\u00ad"

Action = Literal["block", "inline", "boundary", "skip", "nothing"]


class Writer:
    """One clean copy in the making: `copy` parts into it, then `finish`."""

    def __init__(self, base: str | None) -> None:
        self.base = base
        self.root = etree.Element("div")
        self.media: list[Media] = []
        self.stack: list[HtmlElement] = [self.root]
        self.wanted: list[tuple[str, dict[str, str]]] = []  # inline tags around the text being read
        self.opened: list[HtmlElement] = []  # those of them opened in the current block
        self.space = False  # a space is due before the next word
        self.break_due = False  # a line break is due before the next word of a cell or heading
        self.seen: set[str] = set()
        self.pending: list[str] = []  # text not yet in the tree, for
        self.target: HtmlElement | None = None
        self.implied: HtmlElement | None = None  # the list item that loose text opened

    # Reading -----------------------------------------------------------------------------------------

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
        if top.tag in _PHRASING:
            return False
        if tag == "table":
            return is_data_table(element)
        return True

    # Writing -----------------------------------------------------------------------------------------

    def text(self, text: str | None) -> None:
        """Write text, its white space folded, into the paragraph or block that is open."""
        if not text:
            return
        if self._in_pre():
            self._append(text)
            return
        folded = _SPACES.sub(" ", _UNSPACED_JOIN.sub("", text.replace(_SOFT_HYPHEN, "")))
        if folded == " ":
            self.space = True
            return
        if not folded:
            return
        if folded[0] == " ":
            self.space = True
        trailing = folded[-1] == " "
        self._ready()
        self._append((" " if self.space else "") + folded.strip(" "))
        self.space = trailing

    def boundary(self) -> None:
        """End the line: close the paragraph, or mark a line break inside a cell or heading."""
        self.opened.clear()
        self.space = False
        if self.stack[-1].tag == "p":
            self._close(len(self.stack) - 1)
        elif self.stack[-1].tag in _PHRASING and self._has_content(self.stack[-1]):
            self.break_due = True

    def finish(self) -> HtmlElement:
        """Close everything and give the tree."""
        self._close(1)
        return self.root

    def _open(self, element: HtmlElement) -> None:
        self.break_due = False
        tag = element.tag
        top = self.stack[-1]
        if top.tag in ("ul", "ol") and tag != "li":  # a list right inside a list belongs to the item before it
            if len(top):
                self.stack.append(top[-1])
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

    def _close(self, depth: int) -> None:
        self._flush()
        self.opened.clear()
        self.space = self.break_due = False
        while len(self.stack) > depth:
            block = self.stack.pop()
            if block.tag == "li" and [child.tag for child in block].count("p") == 1 and block[0].tag == "p":
                _unwrap_first(block)
            if block.tag not in ("td", "th") and not self._has_content(block) and block.getparent() is not None:
                block.getparent().remove(block)

    def _push(self, tag: str) -> HtmlElement:
        block = self._add(self.stack[-1], tag)
        self.stack.append(block)
        return block

    def _ready(self) -> None:
        """Open what text needs here: a list item, a paragraph, the inline tags around it."""
        top = self.stack[-1]
        if top.tag in ("ul", "ol"):
            top = self.implied = self._push("li")
        elif top.tag == "dl":
            top = self.implied = self._push("dd")
        if top.tag not in _PHRASING:
            self._push("p")
            self.opened.clear()
            self.space = False
        if self.break_due:
            self.opened.clear()
            self._add(self.stack[-1], "br")
            self.break_due = self.space = False
        if not self._has_content(self.stack[-1]):
            self.space = False
        if (self.space and self.opened != [] and len(self.opened) < len(self.wanted)) or (
            self.space and not self.opened
        ):
            self._append(" ")
            self.space = False
        for tag, attributes in self.wanted[len(self.opened) :]:
            inside = self.opened[-1] if self.opened else self.stack[-1]
            self.opened.append(self._add(inside, tag, attributes))

    def _append(self, text: str) -> None:
        """Write text into the innermost open element; joined only when the tree grows, or it would be quadratic."""
        target = self.opened[-1] if self.opened else self.stack[-1]
        if target is not self.target:
            self._flush()
            self.target = target
        self.pending.append(text)

    def _flush(self) -> None:
        if not self.pending or self.target is None:
            return
        text = "".join(self.pending)
        self.pending.clear()
        last = _last_child(self.target)
        if last is not None:
            last.tail = (last.tail or "") + text
        else:
            self.target.text = (self.target.text or "") + text

    def _add(self, parent: HtmlElement, tag: str, attributes: dict[str, str] | None = None) -> HtmlElement:
        self._flush()
        return etree.SubElement(parent, tag, attributes or {})

    def _has_content(self, element: HtmlElement) -> bool:
        if self.pending and self.target is element:
            return True
        return _last_child(element) is not None or bool(element.text and element.text.strip())

    def _break(self) -> None:
        if self.stack[-1].tag in _PHRASING and self._has_content(self.stack[-1]):
            self.break_due = True
            self.space = False

    def _rule(self) -> None:
        if self._container().tag in ("div", "blockquote", "li", "dd"):
            self.boundary()
            self._add(self.stack[-1], "hr")

    def _line(self) -> None:
        """End a line of code, once however many blocks end there."""
        if self.pending and not self.pending[-1].endswith("\n"):
            self._append("\n")

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
        if source is None or source in self.seen:
            return
        self.seen.add(source)
        self._ready()
        alt = _SPACES.sub(" ", element.get("alt") or "").strip()
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

    # Looking -----------------------------------------------------------------------------------------

    def _container(self) -> HtmlElement:
        """The innermost open block that is no implied paragraph."""
        return self.stack[-2] if self.stack[-1].tag == "p" and len(self.stack) > 1 else self.stack[-1]

    def _in_pre(self) -> bool:
        return len(self.stack) > 1 and self.stack[-2].tag == "pre"


def _last_child(element: HtmlElement) -> HtmlElement | None:
    # Not len(element): libxml2 counts the children each time.
    return next(element.iterchildren(reversed=True), None)


def _unwrap_first(item: HtmlElement) -> None:
    """Make a list item tight: its only paragraph's content becomes its own."""
    paragraph = item[0]
    item.text = paragraph.text
    for child in list(paragraph):
        paragraph.addprevious(child)
    item.remove(paragraph)


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
