"""Code as an author wrote it: its language, and what highlighters and their copy buttons put into it."""

from __future__ import annotations

import re
from itertools import islice

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_within, tokens

CONTROL_CHARS = 24
"""Longest label of a copy button ("Copy to clipboard" and its like)."""

_NAME = re.compile(r"[\w+#.-]{1,40}")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|highlight|brush:?|source|sourceCode)[-\s:]+"
    r"(?!code\b|source|highlight|lang|line|block)([\w+#.-]+)|hljs\s+(?!language)([\w+#-]+))",
    re.I,
)
_NO_LANGUAGE = frozenset(("none", "plain", "plaintext", "text", "default", "auto", "nohighlight", "code", "undefined"))
_GUTTER = re.compile(
    r"(?:^|[\s_-])(?:line-?(?:no|num|nums|number|numbers)|lineno?s?|gutter|lnt?|blob-num)(?:$|[\s_-])", re.I
)
_DIGITS = re.compile(r"[\d\s]*")
_LINE = frozenset(("line", "row", "loc", "l"))
_CODE_CELL = re.compile(r"(?:^|[\s_-])(?:code|blob-code|rouge-code)", re.I)


def language_of(pre: HtmlElement) -> str | None:
    """The language that a code block's class names, its code's or that of what wraps it."""
    parent = pre.getparent()
    around = parent.getparent() if parent is not None else None
    for element in (pre.find("code"), pre, parent, around):
        if element is None:
            continue
        found = _LANGUAGE.search(element.get("class") or "")
        name = (found.group(1) or found.group(2)) if found else None
        if name is None:
            named = _NAME.fullmatch(element.get("data-lang") or element.get("data-language") or "")
            name = named.group() if named else None
        if name:
            name = name.lower()
            return None if name in _NO_LANGUAGE else name
    return None


def is_furniture(element: HtmlElement) -> bool:
    """Whether an element inside a code block is a line's number or a control, not code."""
    if element.tag == "button":
        return True
    attributes = element.attrib
    if "data-line-number" in attributes and element.tag in ("td", "a") and not (element.text or "").strip():
        return True
    name = attributes.get("class")
    if not name:
        return False
    if _GUTTER.search(name) and all(map(_DIGITS.fullmatch, element.itertext())):
        return True
    return is_copy_control(element)


def is_copy_control(element: HtmlElement) -> bool:
    """Whether an element only copies the code beside it."""
    if {"copy", "clipboard"}.isdisjoint(tokens(element)):
        return False
    return text_within(element, CONTROL_CHARS) is not None


def is_beside_code(element: HtmlElement, known: dict[HtmlElement, bool]) -> bool:
    """Whether an element has a code block among the elements around it; `known` says it of those looked at before."""
    parent = element.getparent()
    for around in (parent, parent.getparent() if parent is not None else None):
        if around is None:
            continue
        if around not in known:
            known[around] = next(around.iterchildren("pre", "code", "table"), None) is not None
        if known[around]:
            return True
    return False


def unbroken_lines(pre: HtmlElement) -> set[HtmlElement]:
    """The elements of a code block that are lines by their style alone: no newline stands between them."""
    holder = pre
    for _ in range(3):
        children = [child for child in holder if not is_furniture(child)]
        if len(children) == 1 and not (holder.text or "").strip() and not (children[0].tail or "").strip():
            holder = children[0]
        else:
            break
    lines = [child for child in holder if _is_line(child)]
    if len(lines) < 2 or len(lines) < len(children) or (holder.text or "").strip():
        return set()
    if any("\n" in (line.tail or "") or "\n" in "".join(line.itertext()) for line in lines[:-1]):
        return set()
    return set(lines[:-1])


def _is_line(element: HtmlElement) -> bool:
    if element.tag == "code":
        return True
    if element.tag != "span":
        return False
    return "data-line" in element.attrib or not _LINE.isdisjoint(tokens(element))


def code_rows(table: HtmlElement) -> bool:
    """Whether a table is a code listing with a line in each row: a gutter and a cell of code."""
    rows = 0
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if len(cells) < 2 or not all(map(_is_gutter, cells[:-1])) or not _is_code_cell(cells[-1]):
            return False
        rows += 1
    return rows > 0


def gutter_of(table: HtmlElement) -> HtmlElement | None:
    """The cell with all numbers, in a table that is a code listing in one row: such a cell and one with all code."""
    rows = list(islice(table.iter("tr"), 2))
    if len(rows) != 1:
        return None
    cells = [cell for cell in rows[0] if cell.tag in ("td", "th")]
    is_listing = len(cells) == 2 and _is_gutter(cells[0]) and next(cells[1].iter("pre"), None) is not None
    return cells[0] if is_listing else None


def _is_gutter(cell: HtmlElement) -> bool:
    if not all(map(_DIGITS.fullmatch, cell.itertext())):
        return False
    name = cell.get("class") or ""
    inner = next(cell.iterdescendants(), None)
    return (
        "data-line-number" in cell.attrib
        or bool(_GUTTER.search(name))
        or (inner is not None and (inner.tag == "pre" or bool(_GUTTER.search(inner.get("class") or ""))))
    )


def _is_code_cell(cell: HtmlElement) -> bool:
    if _CODE_CELL.search(cell.get("class") or ""):
        return next(cell.iter("pre"), None) is None
    first = next(cell.iterchildren(), None)
    return first is not None and first.tag in ("code", "pre")
