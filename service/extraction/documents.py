"""Bodies that are no HTML page: plain text, Markdown, JSON. Each becomes elements for the clean tree."""

from __future__ import annotations

import json
import re

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import printable


def from_text(text: str) -> HtmlElement:
    """Plain text: a paragraph for each run of lines, its line breaks kept."""
    body = etree.Element("div")
    for block in re.split(r"\n\s*\n", printable(text).replace("\r\n", "\n").strip()):
        paragraph = etree.SubElement(body, "p")
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        paragraph.text = lines[0] if lines else ""
        for line in lines[1:]:
            etree.SubElement(paragraph, "br").tail = line
    return body


def from_json(text: str) -> HtmlElement:
    """JSON: its indented form as a code block; as it stands when it is not valid."""
    try:
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = text.strip()
    body = etree.Element("div")
    code = etree.SubElement(etree.SubElement(body, "pre", {"class": "language-json"}), "code")
    code.text = printable(text)
    return body


def markdown_title(text: str) -> str | None:
    """The first level-one heading of a Markdown document."""
    heads = (line[2:].strip().rstrip("#").strip() for line in text.splitlines() if line.startswith("# "))
    return next(heads, None) or None
