"""How much of a text is prose, and a text as elements."""

from __future__ import annotations

import html
import re

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import parse, printable

MAX_NODES = 50_000
"""Elements of one body."""

SENTENCE_CHARS = 40
"""Characters from which a line with the end of a sentence is prose; a third of it in scripts without spaces."""

MARKUP = re.compile(
    r"<(?:p|div|br|h[1-6]|ul|ol|li|a|strong|em|b|i|figure|img|blockquote|table|section|span)[\s/>]", re.I
)
_ESCAPED = re.compile(r"&(?:amp;)?lt;/?(?:p|div|br|h[1-6]|ul|ol|li|a|strong|em|figure|blockquote)[\s/&]", re.I)
_BREAK = re.compile(r"</?(?:p|div|br|h[1-6]|li|ul|ol|blockquote|figure|section|tr|td)(?:\s[^<>]{0,2000})?/?>", re.I)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?:\s|$)|[。！？।؟۔]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,31});", re.I)


def plain(text: str) -> str:
    """A text without its mark-up, a line for each block."""
    text = unescaped(text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return html.unescape(text)


def measure(text: str) -> int:
    """Visible characters in the lines that hold sentences: none in a list of labels, a path, code or a sprite."""
    total = 0
    for line in plain(text).splitlines():
        size = sum(map(len, line.split()))
        if size * 3 < SENTENCE_CHARS or not _END.search(line):
            continue
        if size >= SENTENCE_CHARS or _UNSPACED.search(line):
            total += size
    return total


def unescaped(text: str) -> str:
    """HTML that was escaped once or twice more than it should be; a page's own examples of mark-up stay."""
    for _ in range(2):
        if MARKUP.search(text) or not _ESCAPED.search(text):
            break
        text = html.unescape(text)
    return text


def element(text: str) -> HtmlElement:
    """HTML or plain text as the elements of a body. Raises `ExtractFailed` beyond `MAX_NODES`."""
    text = unescaped(text)
    if MARKUP.search(text):
        return parse(f"<body>{text}</body>", max_nodes=MAX_NODES, max_depth=500).find("body")
    body = etree.Element("div")
    for line in printable(html.unescape(text) if _ENTITY.search(text) else text).splitlines():
        if line.strip():
            etree.SubElement(body, "p").text = line.strip()
    return body
