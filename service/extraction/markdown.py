"""The clean tree as Markdown (CommonMark and GFM), its blocks by markdownify, its lines by `inline`."""

from __future__ import annotations

import re
from typing import Any

from lxml.etree import _Element as HtmlElement
from markdownify import ATX, MarkdownConverter

from service.extraction.lists import number_items
from service.extraction.soup import soup_of
from service.extraction.tables import make_rectangular
from service.page import Tables

INDENT_CHARS = 4_194_304
"""Characters of all indents in one body: as many as a page may have bytes. 400,000 lines of code in 18 lists are 80 MB
otherwise; what is beyond is no longer inside its list."""

_LINES = re.compile(r"\n(?=[^\n])")


class Converter(MarkdownConverter):
    """markdownify over blocks whose lines are written already."""

    def __init__(self) -> None:
        super().__init__(heading_style=ATX)
        self._indents = INDENT_CHARS

    def _indented(self, text: str, width: int) -> str:
        """Text with all lines but the first indented, as long as there is room for it."""
        self._indents -= width * text.count("\n")
        return _LINES.sub("\n" + " " * width, text) if self._indents >= 0 else text

    def process_text(self, el: Any, parent_tags: set[str] | None = None) -> str:
        """A line, as it was written."""
        return str(el)

    def convert_tr(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A row; the first is the head and brings the line under it (tables are rectangles by now)."""
        if el.previous_sibling is not None:
            return f"|{text}\n"
        return f"|{text}\n|{' --- |' * el['cells']}\n"

    def convert_list(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A list; inside an item it follows the item's own line directly."""
        return f"\n{text.rstrip()}\n" if "li" in parent_tags else f"\n\n{text}\n\n"

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """An item under its `mark`, set beforehand: counting here is quadratic."""
        text = text.strip("\n ")
        if not text:
            return "\n"
        mark = el["mark"]
        return f"{mark}{self._indented(text, len(mark))}\n"

    def convert_note(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A footnote's text, under its label."""
        return f"\n\n[^{el['data-label']}]: {self._indented(text.strip(), 4)}\n\n"

    def convert_dd(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A definition: on the line under its term as Markdown Extra has it, or as blocks of its own."""
        text, before = text.strip(), el.previous_sibling
        is_line = "\n" not in text and text[:1] != "#" and text != "---" and not any(part.name for part in el.contents)
        if not is_line or before is None or (before.name and "on_line" not in before.attrs):
            return f"\n\n{text}\n\n"
        el.attrs["on_line"] = ""
        return f": {text}\n"

    def convert_blockquote(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A quotation, `>` before each line."""
        text = text.strip("\n ")
        return f"\n\n> {_QUOTED.sub(_quoted, text)}\n\n" if text else ""

    def convert_block(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """What has no mark of its own in Markdown: its blocks."""
        return f"\n\n{text.strip(chr(10))}\n\n"

    convert_figure = convert_details = convert_div = convert_block


_QUOTED = re.compile(r"\n(\n?)")


def _quoted(found: re.Match[str]) -> str:
    return "\n>\n> " if found.group(1) else "\n> "


def to_markdown(html: str, root: HtmlElement, tables: Tables = "markdown") -> str:
    """The clean tree as Markdown. The tree is used up: its tables become rectangles, its items get marks."""
    if tables == "markdown" and "<table" in html:
        for table in list(root.iter("table")):
            make_rectangular(table)
    number_items(root)
    return str(Converter().convert_soup(soup_of(root, tables))).strip()
