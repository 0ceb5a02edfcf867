"""The clean tree in the making: what is open, and what text or a break needs where it stands.

Text arrives in pieces and opens what it needs: a paragraph, a list item, the inline tags around it.
Linear in what is written.
"""

from __future__ import annotations

import re

from lxml import etree
from lxml.etree import _Element as HtmlElement

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
PHRASING = HEADINGS | {"p", "td", "th", "dt", "summary", "figcaption", "caption"}
"""Blocks that hold text and inline tags; a break of blocks inside them is a line break."""

SPACES = re.compile(r"[ \t\n\r\f\v]+")
# Chinese and Japanese lines are joined without a space; Korean words need theirs.
_UNSPACED_JOIN = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[ \t]*\n\s*(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)
_SOFT_HYPHEN = "\u00ad"


class Builder:
    """A tree under a `<div>`, written from left to right."""

    def __init__(self) -> None:
        self.root = etree.Element("div")
        self.stack: list[HtmlElement] = [self.root]
        self.wanted: list[tuple[str, dict[str, str]]] = []  # inline tags around the text to come
        self.opened: list[HtmlElement] = []  # those of them opened in the current block
        self.space = False  # a space is due before the next word
        self.break_due = False  # a line break is due before the next word of a cell or heading
        self.implied: HtmlElement | None = None  # the list item that loose text opened
        self._pending: list[str] = []  # text not yet in the tree, for
        self._target: HtmlElement | None = None

    def text(self, text: str | None) -> None:
        """Write text, its white space folded, into the paragraph or block that is open."""
        if not text:
            return
        if self._in_pre():
            self._append(text)
            return
        folded = SPACES.sub(" ", _UNSPACED_JOIN.sub("", text.replace(_SOFT_HYPHEN, "")))
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
        elif self.stack[-1].tag in PHRASING and self._has_content(self.stack[-1]):
            self.break_due = True

    def finish(self) -> HtmlElement:
        """Close everything and give the tree."""
        self._close(1)
        return self.root

    def _container(self) -> HtmlElement:
        """The innermost open block that is no implied paragraph."""
        return self.stack[-2] if self.stack[-1].tag == "p" and len(self.stack) > 1 else self.stack[-1]

    def _in_pre(self) -> bool:
        return len(self.stack) > 1 and self.stack[-2].tag == "pre"

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
        if top.tag not in PHRASING:
            self._push("p")
            self.opened.clear()
            self.space = False
        if self.break_due:
            self.opened.clear()
            self._add(self.stack[-1], "br")
            self.break_due = self.space = False
        if not self._has_content(self.stack[-1]):
            self.space = False
        if self.space and (not self.opened or len(self.opened) < len(self.wanted)):
            self._append(" ")
            self.space = False
        for tag, attributes in self.wanted[len(self.opened) :]:
            inside = self.opened[-1] if self.opened else self.stack[-1]
            self.opened.append(self._add(inside, tag, attributes))

    def _append(self, text: str) -> None:
        """Write text into the innermost open element; joined only when the tree grows, or it would be quadratic."""
        target = self.opened[-1] if self.opened else self.stack[-1]
        if target is not self._target:
            self._flush()
            self._target = target
        self._pending.append(text)

    def _flush(self) -> None:
        if not self._pending or self._target is None:
            return
        text = "".join(self._pending)
        self._pending.clear()
        last = last_child(self._target)
        if last is not None:
            last.tail = (last.tail or "") + text
        else:
            self._target.text = (self._target.text or "") + text

    def _add(self, parent: HtmlElement, tag: str, attributes: dict[str, str] | None = None) -> HtmlElement:
        self._flush()
        return etree.SubElement(parent, tag, attributes or {})

    def _has_content(self, element: HtmlElement) -> bool:
        if self._pending and self._target is element:
            return True
        return last_child(element) is not None or bool(element.text and element.text.strip())

    def _break(self) -> None:
        if self.stack[-1].tag in PHRASING and self._has_content(self.stack[-1]):
            self.break_due = True
            self.space = False

    def _rule(self) -> None:
        if self._container().tag in ("div", "blockquote", "li", "dd"):
            self.boundary()
            self._add(self.stack[-1], "hr")

    def _line(self) -> None:
        """End a line of code, once however many blocks end there."""
        if self._pending and not self._pending[-1].endswith("\n"):
            self._append("\n")


def last_child(element: HtmlElement) -> HtmlElement | None:
    """The last child or None. Not `element[-1]` after `len(element)`: libxml2 counts the children each time."""
    return next(element.iterchildren(reversed=True), None)


def _unwrap_first(item: HtmlElement) -> None:
    """Make a list item tight: its only paragraph's content becomes its own."""
    paragraph = item[0]
    item.text = paragraph.text
    for child in list(paragraph):
        paragraph.addprevious(child)
    item.remove(paragraph)
