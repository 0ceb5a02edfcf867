"""Tables: which are data, and how a table becomes the rectangle that Markdown needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element as HtmlElement

LAYOUT_CELL_CHARS = 600
"""Longest cell of a data table without header cells; beyond it the table lays out a page."""

NESTED_SHARE = 0.5
"""Share of a table's text that tables inside its cells may hold; where they hold more, it lays them out."""

MAX_CELLS = 20_000
"""Cells a rectangle may have after spans are expanded; `rowspan=999` in every cell must stay bounded."""


@dataclass(slots=True)
class _Shape:
    """What one table has of its own, tables inside its cells apart."""

    widths: list[int] = field(default_factory=list)
    heads: int = 0
    named: bool = False
    chars: int = 0
    nested: int = 0
    longest: int = 0
    cell: int = 0
    tables: int = 0


def data_tables(part: HtmlElement) -> set[HtmlElement]:
    """The tables of a part that hold data; layout tables nest tables, say they are presentation, or have one column.

    One walk for all of them, however they are nested.
    """
    found: set[HtmlElement] = set()
    if next(part.iter("table"), None) is None:
        return found
    open_tables: list[_Shape] = []
    for event, element in etree.iterwalk(part, events=("start", "end")):
        tag = element.tag
        if event == "start":
            if tag == "table":
                open_tables.append(_Shape())
            if not open_tables:
                continue
            shape = open_tables[-1]
            if tag == "tr":
                shape.widths.append(0)
            elif tag in ("td", "th"):
                if shape.widths:
                    shape.widths[-1] += 1
                shape.heads += tag == "th"
                shape.cell = 0
            elif tag in ("caption", "thead"):
                shape.named = True
            _count(shape, element.text)
        elif open_tables:
            if tag == "table":
                shape = open_tables.pop()
                if _is_data(element, shape):
                    found.add(element)
                if open_tables:
                    around = open_tables[-1]
                    around.tables += 1
                    around.nested += shape.chars + shape.nested
                    around.cell += shape.chars + shape.nested
            elif tag in ("td", "th"):
                shape = open_tables[-1]
                shape.longest = max(shape.longest, shape.cell)
            if open_tables and element is not part:
                _count(open_tables[-1], element.tail)
    return found


def _count(shape: _Shape, text: str | None) -> None:
    if text:
        chars = len(text.strip())
        shape.chars += chars
        shape.cell += chars


def _is_data(table: HtmlElement, shape: _Shape) -> bool:
    if table.get("role") in ("presentation", "none") or max(shape.widths, default=0) < 2:
        return False
    has_head = shape.named or shape.heads > 0
    if shape.tables:  # small tables in the cells of one that has heads of its own
        if not has_head or shape.longest > LAYOUT_CELL_CHARS:
            return False
        return shape.nested <= NESTED_SHARE * (shape.chars + shape.nested)
    return has_head or shape.longest <= LAYOUT_CELL_CHARS


def make_rectangular(table: HtmlElement) -> None:
    """Rewrite a clean table in place: one header row, every row as wide as the widest, no spans.

    A cell that spans keeps its content in its first place; the places it covers are empty. The caption
    becomes a paragraph before the table, or behind it where it stands behind the rows.
    """
    grid = _grid(table)
    width = max((len(row) for row in grid), default=0)
    caption = table.find("caption")
    parent = table.getparent()
    if caption is not None and parent is not None:
        caption.tag = "p"
        if caption.getprevious() is None:
            table.addprevious(caption)
        else:
            table.addnext(caption)
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
