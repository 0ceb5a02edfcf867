"""Reader comments: body on a forum, noise under an article or a post. Removed before scoring, where they may win."""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import drop, text_of, tokens
from service.extraction.hints import COMMENTS

REST_CHARS = 250
"""Visible characters that must remain; without them the "comments" are the body (a name alone deletes nothing)."""

_SECTIONS = frozenset(("div", "section", "ul", "ol", "aside", "article", "table"))
_REMARKS = frozenset(("form", "time", "textarea"))


def remove_comments(root: HtmlElement) -> None:
    """Drop the comment sections of a page that is no forum."""
    sections = [e for e in root.iter() if e.tag in _SECTIONS and e.attrib and _is_named(e)]
    if not sections:
        return
    outer: list[HtmlElement] = []
    inside: set[HtmlElement] = set()
    for element in sections:  # document order: an ancestor comes first
        if element in inside:
            continue
        outer.append(element)
        inside.update(element.iterdescendants())
    outer = [element for element in outer if _holds_remarks(element)]
    rest = len(text_of(root)) - sum(len(text_of(element)) for element in outer)
    if rest < REST_CHARS:
        return
    for element in outer:
        drop(element)


def _is_named(element: HtmlElement) -> bool:
    if "class" not in element.attrib and "id" not in element.attrib:
        return False
    return not COMMENTS.isdisjoint(tokens(element))


def _holds_remarks(element: HtmlElement) -> bool:
    """Evidence beside the name: items of equal build, dates, a form to write in, or only a little text."""
    if next(element.iter(*_REMARKS), None) is not None:
        return True
    if len(text_of(element)) < REST_CHARS:
        return True
    builds: dict[str, int] = {}
    for child in element.iterdescendants("li", "div", "article"):
        build = f"{child.tag} {child.get('class')}"
        builds[build] = builds.get(build, 0) + 1
    return max(builds.values(), default=0) >= 2
