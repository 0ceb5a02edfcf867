"""The clean tree in the making: what is open, and what text or a break needs where it stands.

Text arrives in pieces and opens what it needs: a paragraph, a list item, the inline tags around it.
Linear in what is written.
"""

from __future__ import annotations

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.letters import folded, is_unspaced

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
PHRASING = HEADINGS | {"p", "td", "th", "dt", "summary", "figcaption", "caption"}
"""Blocks that hold text and inline tags; a break of blocks inside them is a line break."""

CELLS = frozenset(("td", "th"))

ADDRESS_CHARS = 4_194_304
"""Characters of all addresses in a tree: as many as a page may have bytes. A base of 8 KB before 200,000 relative links
would be 1.6 GB."""

REPEATED_CHARS = 65_536
"""Characters that one link may cost by being opened anew in each block it spans; a link around whole cards needs two or
three of its address, a link left open has one for each paragraph of a page."""

MAX_INLINE = 8
"""Inline tags around one word; each is opened anew in every block, so more would multiply a page."""

_MERGED = frozenset(("strong", "em", "del", "code", "kbd", "samp"))
# Right behind their like they go on: `<b>a</b><b>b</b>` is one bold run, and Markdown has no way to write two.


class Builder:
    """A tree under a `<div>`, written from left to right."""

    def __init__(self) -> None:
        self.root = etree.Element("div")
        self.stack: list[HtmlElement] = [self.root]
        self.wanted: list[tuple[str, dict[str, str]]] = []  # inline tags around the text to come
        self.opened: list[HtmlElement] = []  # those of them opened in the current block
        self.space = False  # a space is due before the next word
        self.newline = False  # and it was a line's end in the source
        self.break_due = False  # a line break is due before the next word of a cell or heading
        self.implied: HtmlElement | None = None  # the list item that loose text opened
        self._pending: list[str] = []  # text not yet in the tree, for
        self._target: HtmlElement | None = None
        self._last = ""  # the character written last
        self._verbatim = False  # code in a line: its spaces stay
        self._addresses = ADDRESS_CHARS
        self._repeated: dict[int, int] = {}  # what a link's repetitions have cost, by the identity of its attributes

    def text(self, text: str | None) -> None:
        """Write text, its white space folded, into the paragraph or block that is open."""
        if not text:
            return
        if self._in_pre():
            self._append(text)
            return
        if self._verbatim:
            self._code_lines(text)
            return
        text, before, after = folded(text)
        if not text or text.isspace():  # a no-break space alone is a gap like another
            self.space = self.space or bool(before or text)
            self.newline = self.newline or before == "\n"
            return
        if before:
            self.newline = before == "\n" if not self.space else self.newline or before == "\n"
            self.space = True
        if self.space and self.newline and is_unspaced(self._last) and is_unspaced(text[0]):
            self.space = False
        self._ready()
        self._append(f" {text}" if self.space else text)
        self._last = text[-1]
        self.space, self.newline = bool(after), after == "\n"

    def boundary(self) -> None:
        """End the line: close the paragraph, or mark a line break inside a cell or heading."""
        self.opened.clear()
        self.space = False
        top = self.stack[-1]
        if top.tag == "p":
            self._close(len(self.stack) - 1)
        elif top.tag in PHRASING and self._has_content(top):
            self.break_due = True

    def finish(self) -> HtmlElement:
        """Close everything and give the tree."""
        self._close(1)
        return self.root

    def _code_lines(self, text: str) -> None:
        for number, line in enumerate(text.split("\n")):
            if number:
                self._break()
            if line:
                self._ready()
                self._append(line)

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
            if block.tag == "li":
                _tighten(block)
            if block.tag not in CELLS and not self._has_content(block) and block.getparent() is not None:
                block.getparent().remove(block)

    def _push(self, tag: str) -> HtmlElement:
        block = self._add(self.stack[-1], tag)
        self.stack.append(block)
        return block

    def _ready(self) -> None:
        """Open what text needs here: a list item, a paragraph, the inline tags around it."""
        top = self.stack[-1]
        tag = top.tag
        if tag not in PHRASING:
            if tag in ("ul", "ol"):
                self.implied = self._push("li")
            elif tag == "dl":
                self.implied = self._push("dd")
            self._push("p")
            self.opened.clear()
            self.space = False
        elif self.break_due:
            self.opened.clear()
            if tag not in CELLS or not _ends_in_list(top):  # a list in a cell breaks the line by itself
                self._add(top, "br")
            self.break_due = self.space = False
        elif self.space and not self._has_content(top):
            self.space = False
        if len(self.opened) < len(self.wanted):
            self._open_inline()

    def _open_inline(self) -> None:
        if self.space:
            self._append(" ")
            self.space = False
        for tag, attributes in self.wanted[len(self.opened) :]:
            inside = self.opened[-1] if self.opened else self.stack[-1]
            if tag == "a" and not self._afford(attributes):
                self.opened.append(inside)
                continue
            if tag in _MERGED:
                before = last_child(inside)
                if before is None or self._target is not before:  # what waits for it goes on, or it would be quadratic
                    self._flush()
                    before = last_child(inside)
                if (
                    before is not None
                    and before.tag == tag
                    and not before.tail
                    and not before.attrib
                    and not attributes
                ):
                    self.opened.append(before)
                    continue
            self.opened.append(self._add(inside, tag, attributes))

    def _afford(self, attributes: dict[str, str]) -> bool:
        """Whether a link's address may be written here, once more or for the first time."""
        cost = len(attributes["href"])
        spent = self._repeated.get(id(attributes))
        self._repeated[id(attributes)] = 0 if spent is None else spent + cost
        return self._spend(cost) and (spent is None or spent + cost <= REPEATED_CHARS)

    def _spend(self, chars: int) -> bool:
        """Whether so many characters of addresses may still be written."""
        if chars > self._addresses:
            return False
        self._addresses -= chars
        return True

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
        if self._pending:
            self._flush()
        return etree.SubElement(parent, tag, attributes or {})

    def _has_content(self, element: HtmlElement) -> bool:
        if self._pending and self._target is element:
            return True
        if last_child(element) is not None:
            return True
        text = element.text
        return bool(text and text.strip())

    def _break(self) -> None:
        top = self.stack[-1]
        if self.break_due and top.tag == "p" and not self._verbatim:
            self.boundary()  # two breaks part paragraphs, as in a page drawn without any
        elif top.tag in PHRASING and self._has_content(top):
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


def _ends_in_list(cell: HtmlElement) -> bool:
    last = last_child(cell)
    return last is not None and last.tag in ("ul", "ol") and not last.tail


def _tighten(item: HtmlElement) -> None:
    """Make a list item tight: its only paragraph's content becomes its own."""
    first = next(item.iterchildren(), None)
    if first is None or first.tag != "p" or item.text:
        return
    if any(child.tag == "p" for child in first.itersiblings()):
        return
    item.text = first.text
    for child in list(first):
        first.addprevious(child)
    item.remove(first)
