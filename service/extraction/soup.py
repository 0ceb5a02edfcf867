"""The clean tree as the BeautifulSoup tree that markdownify walks, built directly.

Parsing the tree's HTML again cost as much as the conversion itself.

Only what markdownify looks at is there: names, attributes, contents, parents and siblings.
"""

from __future__ import annotations

from typing import Any

from bs4.element import NavigableString, PageElement, Tag
from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.page import Tables


class Node(Tag):  # type: ignore[misc]
    """A tag without a parser behind it."""

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        self.attrs = attributes
        self.contents: list[PageElement] = []
        self.parent = self.previous_sibling = self.next_sibling = None
        self.hidden = name == "[document]"
        self.prefix = None

    def add(self, child: PageElement) -> None:
        """Append a child and link it to its siblings."""
        child.parent = self
        last = self.contents[-1] if self.contents else None
        child.previous_sibling, child.next_sibling = last, None
        if last is not None:
            last.next_sibling = child
        self.contents.append(child)

    def find_parent(self, name: Any = None, *arguments: Any, **options: Any) -> Any:
        """The nearest ancestor of that name; the library's own search costs a third of a conversion."""
        parent = self.parent
        while parent is not None and parent.name != name:
            parent = parent.parent
        return parent


def soup_of(root: HtmlElement, tables: Tables) -> Node:
    """The tree under `root` as a document; a table carries its HTML along when tables are to stay HTML."""
    document = Node("[document]", {})
    open_nodes = [document]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element is root:
            if event == "start":
                _add_text(document, element.text)
            continue
        if event == "start":
            attributes: dict[str, Any] = dict(element.attrib)
            if "class" in attributes:
                attributes["class"] = attributes["class"].split()
            node = Node(element.tag, attributes)
            open_nodes[-1].add(node)
            open_nodes.append(node)
            if element.tag == "table" and tables == "html":
                attributes["html"] = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
                walk.skip_subtree()
            else:
                _add_text(node, element.text)
        else:
            open_nodes.pop()
            _add_text(open_nodes[-1], element.tail)
    return document


def _add_text(node: Node, text: str | None) -> None:
    if text:
        node.add(NavigableString(text))
