"""What is body nowhere: scripts, styles, controls, hidden elements. Removed from the whole document before scoring.

Only what no reader sees belongs here, never a guess from a name: link lists, comments and page
chrome are judged later, inside the winner, since removing them earlier changes who wins.
"""

from __future__ import annotations

import re

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import drop, text_of

NEVER_TEXT = frozenset(
    (
        "script style template link meta title base canvas svg object embed applet frame frameset noframes "
        "input select textarea option optgroup datalist progress meter"
    ).split()
)
"""Elements whose content is no text of the page. `noscript` is not one: some forums keep the whole thread in it."""

LABEL_CHARS = 300
"""Longest text taken for a visually hidden label; longer ones are content that a style sheet animates in."""

_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.I)
_LABEL_CLASS = re.compile(r"visually[-_]?hidden|screen[-_]?reader|(?:^|[\s_-])sr[-_]?only|assistive[-_]?text", re.I)
# A button inside these is a term or a question (an accordion's head), elsewhere a control.
_SENTENCE = frozenset(("p h1 h2 h3 h4 h5 h6 dt summary li td").split())


def prune(root: HtmlElement) -> None:
    """Remove noise from the tree, in place. `<head>` loses its scripts too: read payloads and metadata first."""
    doomed: list[HtmlElement] = []
    hidden: list[HtmlElement] = []
    for element in root.iter():
        tag = element.tag
        if tag in NEVER_TEXT or (tag == "button" and not _is_phrase(element)):
            doomed.append(element)
        elif (element.attrib or tag == "dialog") and _is_hidden(element):
            hidden.append(element)
    for element in doomed:
        drop(element)
    if not hidden:
        return
    total = len(text_of(root))
    for element in hidden:
        # A page hidden as a whole until its script runs is what a reader gets to see.
        if element.getparent() is not None and 2 * len(text_of(element)) <= total:
            drop(element)


def _is_phrase(button: HtmlElement) -> bool:
    parent = button.getparent()
    if parent is None or parent.tag not in _SENTENCE:
        return False
    if parent.tag in ("li", "td", "p"):  # among words, not alone or among other controls
        return bool((parent.text or "").strip() or (button.tail or "").strip())
    return True


def _is_hidden(element: HtmlElement) -> bool:
    attributes = element.attrib
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style):
        return True
    if element.tag == "dialog" and "open" not in attributes:
        return True
    name = attributes.get("class")
    return bool(name and _LABEL_CLASS.search(name) and _is_label(element))


def _is_label(element: HtmlElement) -> bool:
    """Whether an element's text is short; stops reading where it is not."""
    chars = 0
    for text in element.itertext():
        chars += len(text)
        if chars > LABEL_CHARS:
            return False
    return True
