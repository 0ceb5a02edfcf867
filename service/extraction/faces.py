"""The clean tree as HTML and as plain text, word for word what its Markdown says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as HtmlElement

_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"(?<! ) +\n")
_LINES = frozenset(
    ("p h1 h2 h3 h4 h5 h6 li dt dd blockquote pre tr figcaption caption summary div ul ol dl table hr figure").split()
)
_LOOSE = frozenset(("p h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl table figure").split())


def to_html(root: HtmlElement) -> str:
    """The content of the clean tree's root as HTML."""
    return (root.text or "") + "".join(etree.tostring(child, encoding="unicode", method="html") for child in root)


def to_text(root: HtmlElement) -> str:
    """Plain text: a line a block, an empty line between paragraphs, cells apart by a tab."""
    text = "".join(_pieces(root))
    return _BLANK_LINES.sub("\n\n", _TRAILING.sub("\n", text)).strip()


def _pieces(root: HtmlElement) -> Iterator[str]:
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            if tag in _LINES or tag == "br":
                yield "\n"
            elif tag in ("td", "th") and element.getprevious() is not None:
                yield "\t"
            elif tag == "input":
                yield "[x]" if element.get("checked") is not None else "[ ]"
            elif element.get("class") in ("footnote-ref", "footnote-label"):
                yield "["
            if element.text:
                yield element.text
        else:
            if tag in _LOOSE:
                yield "\n\n"
            elif element.get("class") in ("footnote-ref", "footnote-label"):
                yield "]"
            if element.tail and element is not root:
                yield element.tail
