"""What is body nowhere: scripts, styles, controls, hidden elements. Removed from the whole document before scoring.

Only what no reader sees belongs here, never a guess from a name: link lists, comments and page chrome are judged
later, block by block. What a reader can open (a tab, an accordion's panel) is not hidden from him.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import NAME_CHARS, text_within, tokens, visible_chars

NEVER_TEXT = frozenset(
    (
        "script style template link meta title base canvas svg object embed applet frame frameset noframes "
        "input select textarea option optgroup datalist progress meter"
    ).split()
)
"""Elements whose content is no text of the page. `noscript` is not one: some forums keep the whole thread in it."""

HEADED = 3
"""Hidden elements of one build, each under a heading, from which they are an accordion's panels."""

_GONE = "gone"
# The tag of what is stripped in one go: dropped one by one, the texts between would be joined again and again.

_RAW = ("iframe", "noembed")
# What these hold is mark-up that a parser reads as text (HTML standard, 13.2.6.2).

LABEL_CHARS = 300
"""Longest text taken for a visually hidden label; longer ones are content that a style sheet animates in."""

PANELS = frozenset(
    (
        "accordion accordions collapse collapsible panel panels tab tabs tabbed tabpanel toggle expand expander "
        "expandable faq answer answers more readmore read disclosure spoiler details content"
    ).split()
)
"""Words in the class of what a reader opens. On wcxb (a third of its articles, all other pages) 8 in 10 of 15,000 words
in hidden elements that a control names or that have a panel's role are body, half of 4,500 in those so named, and 1 in
11 of 99,000 in others."""

_CONTROLS = frozenset(("aria-controls", "data-target", "data-bs-target"))
_HEADS = frozenset(("h2", "h3", "h4", "h5", "h6", "dt", "button", "summary"))
_NO_PANELS = frozenset(("dialog", "alertdialog", "menu", "alert"))
_CHROME = frozenset(("nav", "header", "footer", "dialog"))
_FINDABLE = "until-found"
# Hidden, but what a search in the page opens (HTML standard, 6.1).
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.I)
_LABEL_CLASS = re.compile(r"visually[-_]?hidden|screen[-_]?reader|(?:^|[\s_-])sr[-_]?only|assistive[-_]?text", re.I)
# A button inside these is a term or a question (an accordion's head), elsewhere a control.
_SENTENCE = frozenset(("p h1 h2 h3 h4 h5 h6 dt summary li td").split())


def prune(root: HtmlElement) -> None:
    """Remove noise from the tree, in place. `<head>` loses its scripts too: read payloads and metadata first."""
    hidden: list[HtmlElement] = []
    controlled: set[str] = set()
    for element in root.iter():
        is_hidden = False
        for name, value in element.items():
            if name == "class":
                is_hidden = is_hidden or (_names_a_label(value[:NAME_CHARS]) and _is_label(element))
            elif name == "href":
                if value[:1] == "#":
                    controlled.add(value[1:])
            elif name == "style":
                is_hidden = is_hidden or _hides_by_style(value[:NAME_CHARS])
            elif name == "hidden":
                is_hidden = is_hidden or value.lower() != _FINDABLE
            elif name in _CONTROLS:
                controlled.update(word.removeprefix("#") for word in value.split())
        if is_hidden or (element.tag == "dialog" and element.get("open") is None):
            hidden.append(element)
    builds = Counter(_build(e) for e in hidden if _is_headed(e))
    opened = {e for e in hidden if _is_panel(e, controlled, builds)}
    for frame in root.iter(*_RAW):
        frame.text = None
    for button in [e for e in root.iter("button") if not _is_phrase(e)]:
        button.tag = _GONE
    etree.strip_elements(root, *NEVER_TEXT, _GONE, with_tail=False)
    hidden = [e for e in hidden if e not in opened]
    total = visible_chars(root) if hidden else 0
    for element in hidden:
        # A page hidden as a whole until its script runs is what a reader gets to see.
        if 2 * visible_chars(element) <= total:
            element.tag = _GONE
    etree.strip_elements(root, _GONE, with_tail=False)


def _is_headed(element: HtmlElement) -> bool:
    head = element.getprevious()
    return head is not None and head.tag in _HEADS


def _build(element: HtmlElement) -> tuple[str, str | None]:
    return element.tag, element.get("class")


def _is_panel(element: HtmlElement, controlled: set[str], builds: Counter[tuple[str, str | None]]) -> bool:
    """Whether a hidden element is one that a reader opens: a tab, an accordion's panel, the rest of a text."""
    if element.tag == "dialog" or element.get("role") in _NO_PANELS or _is_label(element):
        return False
    if any(ancestor.tag in _CHROME for ancestor in element.iterancestors()):
        return False
    if element.get("id") in controlled or element.get("role") in ("tabpanel", "region"):
        return True
    if not PANELS.isdisjoint(tokens(element)):
        return True
    head = element.getprevious()
    if head is None or head.tag not in _HEADS:
        return False
    # Under a heading it may be a message to come; under a control, or under several, it is what they open.
    return next(head.iter("button", "summary", "a"), None) is not None or builds[_build(element)] >= HEADED


def _is_phrase(button: HtmlElement) -> bool:
    parent = button.getparent()
    if parent is None or parent.tag not in _SENTENCE:
        return False
    if parent.tag in ("li", "td", "p"):  # among words, not alone or among other controls
        return bool((parent.text or "").strip() or (button.tail or "").strip())
    return True


def hides(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element's own attributes hide it, until a script shows it if one does."""
    if "hidden" in attributes and attributes["hidden"].lower() != _FINDABLE:
        return True
    if "style" in attributes and _hides_by_style(attributes["style"][:NAME_CHARS]):
        return True
    return tag == "dialog" and "open" not in attributes


def _is_label(element: HtmlElement) -> bool:
    """Whether an element is named as one for screen readers, and short; stops reading where it is not."""
    name = element.get("class")
    if not name or not _names_a_label(name[:NAME_CHARS]):
        return False
    return text_within(element, LABEL_CHARS) is not None


@lru_cache(maxsize=4096)
def _hides_by_style(style: str) -> bool:
    return _HIDDEN_STYLE.search(style) is not None


@lru_cache(maxsize=4096)
def _names_a_label(name: str) -> bool:
    return _LABEL_CLASS.search(name) is not None
