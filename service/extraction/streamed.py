"""Parts of a page that a server streams behind it, for a script to move into place: put where they belong.

React's servers send slow parts last, as `<div hidden id="S:n">`, and leave `<template id="B:n">` (a boundary) or
`<template id="P:n">` (a placeholder) where they go (33 of wcxb's 1,497 pages, up to 6,600 words of body in them).
"""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import drop

MOST_PARTS = 500
"""Parts that are moved; the pages of wcxb have at most 59."""

_PART = "S:"
_PLACES = ("B:", "P:")


def put_in_place(root: HtmlElement) -> None:
    """Move every streamed part to its place; one without a place stays where it is, no longer hidden."""
    parts = [e for e in root.iter("div") if "hidden" in e.attrib and (e.get("id") or "").startswith(_PART)]
    body = root.find("body")
    if not parts or body is None:
        return
    places = {e.get("id"): e for e in body.iter("template") if (e.get("id") or "").startswith(_PLACES)}
    for part in parts[:MOST_PARTS]:
        del part.attrib["hidden"]
        number = str(part.get("id")).removeprefix(_PART)
        place = next((places[kind + number] for kind in _PLACES if kind + number in places), None)
        if place is None or place.getparent() is None or any(ancestor is part for ancestor in place.iterancestors()):
            continue
        _detach(part)
        part.tail = place.tail
        place.getparent().replace(place, part)


def _detach(element: HtmlElement) -> None:
    """Take an element out of the tree, whole, and leave the text behind it."""
    anchor = element.makeelement("span")
    anchor.tail, element.tail = element.tail, None
    element.getparent().replace(element, anchor)
    drop(anchor)
