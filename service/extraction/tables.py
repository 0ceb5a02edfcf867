"""Tables: which are data, and how a table becomes the rectangle that Markdown needs."""

from __future__ import annotations

from lxml import etree
from lxml.etree import _Element as HtmlElement

LAYOUT_CELL_CHARS = 600
"""Longest cell of a data table without header cells; beyond it the table lays out a page."""

MAX_CELLS = 20_000
"""Cells a rectangle may have after spans are expanded; `rowspan=999` in every cell must stay bounded."""


def is_data_table(table: HtmlElement) -> bool:
    """Whether a table holds data. Layout tables nest tables, say they are presentation, or have one cell a row."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iterdescendants("table"), None) is not None:
        return False
    rows = list(table.iter("tr"))
    widths = [sum(1 for cell in row if cell.tag in ("td", "th")) for row in rows]
    if max(widths, default=0) < 2:
        return False
    if next(table.iter("th", "caption", "thead"), None) is not None:
        return True
    return all(len("".join(cell.itertext())) <= LAYOUT_CELL_CHARS for cell in table.iter("td"))


def make_rectangular(table: HtmlElement) -> None:
    """Rewrite a clean table in place: one header row, every row as wide as the widest, no spans.

    A cell that spans keeps its content in its first place; the places it covers are empty. The caption
    becomes a paragraph before the table.
    """
    grid = _grid(table)
    width = max((len(row) for row in grid), default=0)
    caption = table.find("caption")
    parent = table.getparent()
    if caption is not None and parent is not None:
        caption.tag = "p"
        parent.insert(parent.index(table), caption)
    for child in list(table):
        table.remove(child)
    for number, cells in enumerate(grid):
        row = etree.SubElement(table, "tr")
        for cell in [*cells, *[None] * (width - len(cells))]:
            if cell is None:
                cell = etree.Element("td")
            cell.tag = "td" if number else "th"
            cell.attrib.clear()
            row.append(cell)


def _grid(table: HtmlElement) -> list[list[HtmlElement | None]]:
    """Cells by row and column (HTML standard, 4.9.12 "forming a table"), None where a span covers."""
    grid: list[list[HtmlElement | None]] = []
    covered: dict[tuple[int, int], bool] = {}
    cells = 0
    for number, row in enumerate(table.iter("tr")):
        line: list[HtmlElement | None] = []
        for cell in row:
            while covered.get((number, len(line))):
                line.append(None)
            wide, high = int(cell.get("colspan") or 1), int(cell.get("rowspan") or 1)
            cells += wide * high
            if cells > MAX_CELLS:
                wide = high = 1
            for down in range(1, high):
                for right in range(wide):
                    covered[(number + down, len(line) + right)] = True
            line.extend([cell, *[None] * (wide - 1)])
        while covered.get((number, len(line))):
            line.append(None)
        if line:
            grid.append(line)
    return grid
