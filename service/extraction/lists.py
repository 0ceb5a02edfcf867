"""Lists: the boxes of tasks, and the mark before each item."""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

TASK = "data-task"
"""The attribute that keeps a task's box where noise takes the control itself away: `x` or a space."""

MAX_NUMBER = 999_999_999
"""Largest number of an item (CommonMark 5.2: nine digits)."""


def keep_tasks(root: HtmlElement) -> None:
    """Note on each item that begins with a checkbox whether it is ticked."""
    for box in root.iter("input"):
        if (box.get("type") or "").lower() == "checkbox":
            item = task_of(box)
            if item is not None:
                item.set(TASK, " " if box.get("checked") is None else "x")


def task_of(box: HtmlElement) -> HtmlElement | None:
    """The list item that begins with a checkbox, at most in a label and a paragraph."""
    element = box
    for _ in range(4):
        parent = element.getparent()
        if parent is None or element.getprevious() is not None or (parent.text or "").strip():
            return None
        if parent.tag == "li":
            return parent
        element = parent
    return None


def number_items(root: HtmlElement) -> None:
    """Set `mark` on every item: its bullet or number, another kind of mark for a list right behind a list."""
    for listing in root.iter("ul", "ol"):
        before = listing.getprevious()
        behind = before is not None and before.tag == listing.tag and not (before.tail or "").strip()
        other = behind and before.get("mark") != "other"
        if other:
            listing.set("mark", "other")
        number = int(listing.get("start") or 1)
        for item in listing:
            if listing.tag == "ul":
                item.set("mark", "* " if other else "- ")
                continue
            number = min(int(item.get("value") or number), MAX_NUMBER)
            item.set("mark", f"{number}{')' if other else '.'} ")
            number += 1
