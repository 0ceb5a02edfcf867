"""What is body nowhere: scripts, styles, controls, hidden elements. Removed from the whole document before scoring.

Only what no reader sees belongs here, never a guess from a name: link lists, comments and page chrome are judged
later, block by block. What a reader can open (a tab, an accordion's panel) is not hidden from him.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import drop, tokens, visible_chars

NEVER_TEXT = frozenset(
    (
        "script style template link meta title base canvas svg object embed applet frame frameset noframes "
        "input select textarea option optgroup datalist progress meter"
    ).split()
)
"""Elements whose content is no text of the page. `noscript` is not one: some forums keep the whole thread in it."""

LABEL_CHARS = 300
"""Longest text taken for a visually hidden label; longer ones are content that a style sheet animates in."""

PANELS = frozenset(
    (
        "accordion accordions collapse collapsible panel panels tab tabs tabbed tabpanel toggle expand expander "
        "expandable faq answer answers more readmore read disclosure spoiler details content"
    ).split()
)
"""Words in the class of what a reader opens. Of 13,000 words in hidden panels told by such evidence on wcxb, 8 in 10
are body; of 99,000 in other hidden elements, 1 in 11."""

_SUSPECTS = etree.XPath(
    "descendant-or-self::*[@hidden or @style or self::dialog or @class and (contains(@class, 'idden')"
    " or contains(@class, 'eader') or contains(@class, 'sr') or contains(@class, 'Sr') or contains(@class, 'ssist'))]"
)
"""Elements worth a look: libxml2 passes over the others, nine in ten."""

_CONTROLLED = etree.XPath("//@aria-controls | //@data-target | //@data-bs-target | //@href[starts-with(., '#')]")
"""Ids of the elements that a control of the page names."""

_HEADS = frozenset(("h2", "h3", "h4", "h5", "h6", "dt", "button", "summary"))
_NO_PANELS = frozenset(("dialog", "alertdialog", "menu", "alert"))
_CHROME = frozenset(("nav", "header", "footer", "dialog"))
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.I)
_LABEL_CLASS = re.compile(r"visually[-_]?hidden|screen[-_]?reader|(?:^|[\s_-])sr[-_]?only|assistive[-_]?text", re.I)
# A button inside these is a term or a question (an accordion's head), elsewhere a control.
_SENTENCE = frozenset(("p h1 h2 h3 h4 h5 h6 dt summary li td").split())


def prune(root: HtmlElement) -> None:
    """Remove noise from the tree, in place. `<head>` loses its scripts too: read payloads and metadata first."""
    hidden = [e for e in _SUSPECTS(root) if hides(e.tag, e.attrib) or _is_label(e)]
    controlled = (
        {str(name).removeprefix("#") for names in _CONTROLLED(root) for name in names.split()} if hidden else set()
    )
    opened = {e for e in hidden if _is_panel(e, controlled)}
    for element in [*root.iter(*NEVER_TEXT), *(e for e in root.iter("button") if not _is_phrase(e))]:
        drop(element)
    hidden = [e for e in hidden if e not in opened and e.getparent() is not None]
    total = visible_chars(root) if hidden else 0
    for element in hidden:
        # A page hidden as a whole until its script runs is what a reader gets to see.
        if element.getparent() is not None and 2 * visible_chars(element) <= total:
            drop(element)


def _is_panel(element: HtmlElement, controlled: set[str]) -> bool:
    """Whether a hidden element is one that a reader opens: a tab, an accordion's panel, the rest of a text."""
    if (
        element.tag == "dialog"
        or _is_label(element)
        or any(ancestor.tag in _CHROME for ancestor in element.iterancestors())
    ):
        return False
    if element.get("role") in ("dialog", "alertdialog", "menu", "alert"):
        return False
    if element.get("id") in controlled or element.get("role") in ("tabpanel", "region"):
        return True
    head = element.getprevious()
    return (head is not None and head.tag in _HEADS) or not PANELS.isdisjoint(tokens(element))


def _is_phrase(button: HtmlElement) -> bool:
    parent = button.getparent()
    if parent is None or parent.tag not in _SENTENCE:
        return False
    if parent.tag in ("li", "td", "p"):  # among words, not alone or among other controls
        return bool((parent.text or "").strip() or (button.tail or "").strip())
    return True


def hides(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element's own attributes hide it, until a script shows it if one does."""
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style):
        return True
    return tag == "dialog" and "open" not in attributes


def _is_label(element: HtmlElement) -> bool:
    """Whether an element is named as one for screen readers, and short; stops reading where it is not."""
    name = element.get("class")
    if not name or not _LABEL_CLASS.search(name):
        return False
    chars = 0
    for text in element.itertext():
        chars += len(text)
        if chars > LABEL_CHARS:
            return False
    return True
