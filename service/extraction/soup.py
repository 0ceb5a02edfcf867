"""The clean tree as the BeautifulSoup tree that markdownify walks, built directly.

Parsing the tree's HTML again cost as much as the conversion itself. Lines of text are Markdown already (`inline`), so
that markdownify only sees blocks: lists, quotes, tables, code. Only what it looks at is there: names, attributes,
contents, parents and siblings.
"""

from __future__ import annotations

import re
from typing import Any

from bs4.element import NavigableString, PageElement, Tag
from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.escape import guarded, heading
from service.extraction.inline import INLINE, Line, tag_of
from service.page import Tables

_HEADINGS = {"h1": "#", "h2": "##", "h3": "###", "h4": "####", "h5": "#####", "h6": "######"}
_ONE_LINE = frozenset((*_HEADINGS, "dt"))
_PARAGRAPHS = frozenset(("p", "figcaption", "caption"))
_CELLS = frozenset(("td", "th"))
_BLANK_LINES = re.compile(r"\n\s*\n")


class Written(NavigableString):  # type: ignore[misc]
    """Lines that are Markdown already."""

    def __new__(cls, markdown: str) -> Written:
        """Leave out what the library's own constructor does for encodings."""
        return str.__new__(cls, markdown)


class Node(Tag):  # type: ignore[misc]
    """A tag without a parser behind it."""

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        self.attrs = attributes
        self.contents: list[PageElement] = []
        self.parent = self.previous_sibling = self.next_sibling = None
        self.hidden = name == "[document]"
        self.prefix = None
        self._lines: list[str] = []

    def __bool__(self) -> bool:
        """Whether anything is in it."""
        return bool(self.contents or self._lines)

    def write(self, markdown: str) -> None:
        """Append Markdown, an empty line between two blocks of it."""
        lines = self._lines
        if lines and markdown[:2] == "\n\n" and lines[-1][-1:] == "\n":
            lines[-1] = lines[-1].rstrip("\n")
        lines.append(markdown)

    def add(self, child: Node) -> None:
        """Append a child."""
        self.settle()
        self._link(child)

    def settle(self) -> None:
        """Make one piece of all lines written since the last child: markdownify pays for each."""
        if self._lines:
            self._link(Written("".join(self._lines)))
            self._lines = []

    def _link(self, child: PageElement) -> None:
        child.parent = self
        last = self.contents[-1] if self.contents else None
        child.previous_sibling, child.next_sibling = last, None
        if last is not None:
            last.next_sibling = child
        self.contents.append(child)

    def find_parent(self, name: Any = None, *arguments: Any, **options: Any) -> Any:
        """No element asks for another ancestor than `pre`, and that has no descendants here."""
        return None


def soup_of(root: HtmlElement, tables: Tables) -> Node:
    """The tree under `root` as a document; a table carries its HTML along when tables are to stay HTML."""
    return _Soup(tables).of(root)


class _Soup:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.nodes = [Node("[document]", {})]
        self.line = Line()
        self.cells = 0

    def of(self, root: HtmlElement) -> Node:
        line = self.line
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if element is root:
                if event == "start":
                    line.text(element.text)
                continue
            tag = element.tag
            if event == "start":
                if tag in INLINE:
                    line.open(element)
                    line.text(element.text)
                elif self._start(element, tag):
                    line.text(element.text)
                else:
                    walk.skip_subtree()
            else:
                if tag in INLINE:
                    line.close(element)
                else:
                    self._end(element, tag)
                line.text(element.tail)
        self._flush()
        self.nodes[0].settle()
        return self.nodes[0]

    def _start(self, element: HtmlElement, tag: str) -> bool:
        """A block begins; False where its content is not to be walked."""
        if self.cells:  # what a cell holds is one line
            if tag in ("ul", "ol", "li"):
                self.line.raw(tag_of(element))
            elif element.getprevious() is not None and tag == "p":
                self.line.raw(self.line.line_break)
            return True
        self._flush()
        if tag in _ONE_LINE:
            self.line.line_break = " "
        elif tag in _PARAGRAPHS or tag == "summary":
            self.line.line_break = "\\\n"
        elif tag in _CELLS:
            self.cells = 1
            self.line.line_break = "<br>"
        elif tag == "hr":
            # Right behind a bullet, dashes would make a rule of the bullet too.
            self._add("\n\n---\n\n" if self.nodes[-1] or self.nodes[-1].name != "li" else "\n\n___\n\n")
        elif tag == "pre":
            self._add(_fenced(element))
            return False
        elif tag == "table" and self.tables == "html":
            html = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
            self._add(f"\n\n{_BLANK_LINES.sub(chr(10), html)}\n\n")
            return False
        else:
            node = Node("note" if element.get("class") == "footnote" else tag, dict(element.attrib))
            self.nodes[-1].add(node)
            self.nodes.append(node)
        if tag == "summary":
            self.line.open(etree.Element("strong"))
        return True

    def _end(self, element: HtmlElement, tag: str) -> None:
        if tag in _CELLS:
            self.cells = 0
            self.nodes[-1].attrs["cells"] = self.nodes[-1].attrs.get("cells", 0) + 1
            # GFM takes `\|` for a bar before it looks at anything else in the cell, code included.
            self._add(f" {self.line.written().strip().replace('|', chr(92) + '|')} |")
            self.line.line_break = "\\\n"
        elif self.cells:
            if tag in ("ul", "ol", "li"):
                self.line.raw(f"</{tag}>")
        elif tag in _HEADINGS:
            self._add(f"\n\n{_HEADINGS[tag]} {heading(self.line.written().strip())}\n\n")
            self.line.line_break = "\\\n"
        elif tag == "dt":
            self._add(f"\n\n{guarded(self.line.written().strip())}\n")
            self.line.line_break = "\\\n"
        elif tag in _PARAGRAPHS:
            self._add(f"\n\n{guarded(self.line.written().strip())}\n\n")
        elif tag == "summary":
            self.line.close(etree.Element("strong"))
            self._add(f"\n\n{guarded(self.line.written().strip())}\n\n")
        elif tag not in ("hr", "pre") and not (tag == "table" and self.tables == "html"):
            self._flush()
            self.nodes.pop().settle()

    def _flush(self) -> None:
        if self.line and (written := self.line.written().strip()):
            self._add(guarded(written))

    def _add(self, markdown: str) -> None:
        self.nodes[-1].write(markdown)


_FENCE = re.compile(r"`{3,}")


def _fenced(pre: HtmlElement) -> str:
    """A code block as it stands, the fence longer than any inside."""
    inner = next(pre.iterchildren(), pre)
    code = "".join(inner.itertext())
    mark = "`" * (max((len(run) for run in _FENCE.findall(code)), default=2) + 1)
    language = (inner.get("class") or "").removeprefix("language-")
    return f"\n\n{mark}{language}\n{code.removesuffix(chr(10))}\n{mark}\n\n"
