"""HTML text to an lxml tree, parsed by the HTML standard; caps on nodes and depth; small tree helpers.

libxml2's own HTML parser is not a standard one: it nests a page inside an inline `<svg>` sprite and
drops what follows an early `</body></html>`. lexbor (selectolax) builds the standard's tree; libxml2
then only reads lexbor's well-formed serialization of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from lxml import etree
from lxml.etree import _Element as HtmlElement
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from service.failures import ExtractFailed

VOID = frozenset(("area base br col embed hr img input link meta param source track wbr").split())
"""Elements without an end tag (HTML standard, 13.1.2)."""

BLOCK = frozenset(
    (
        "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
        "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol "
        "optgroup option p pre section summary table tbody td tfoot th thead tr ul"
    ).split()
)
"""Elements that start a line of their own (HTML standard, 15.3: display block, list-item or a table part)."""

# Possessive quantifiers: a tag left open must not make the scan quadratic.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*+)[^<>]*+>")
# libxml2 knows these as ordinary elements, and would nest what follows inside.
_UNKNOWN_VOID = re.compile(rb'<(embed|source|track|wbr)((?:\s++[^\s"=<>]++(?:="[^"]*+")?)*+)>')
_SPACE = re.compile(r"[ \t\n\r\f\v]+")
# Not allowed in XML, and lexbor keeps some: libxml2 would end the document at a NUL.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# The same of UTF-8: as bytes a page of 270 KB is cleaned in a tenth of the time.
_CONTROL_BYTES = bytes((*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F))
_FORM_FEED_TO_SPACE = bytes.maketrans(b"\f", b" ")
_NONCHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")


QUADRATIC_TAGS = 20_000
"""Tags from which a document's nesting is checked first: lexbor's time is quadratic in depth (20,000: 0.4 s)."""

_IMPLIED = frozenset(("p li dt dd tr td th tbody thead tfoot colgroup option optgroup rp rt a").split())
# Elements the standard's parser closes by itself: left open, they do not nest.


def parse(html: str, *, max_nodes: int, max_depth: int) -> HtmlElement:
    """The `<html>` element of a document.

    In a document nested beyond what the parsers take, elements deeper than `max_depth` lose their
    tags and keep their text. Raises `ExtractFailed` when the document is empty or has more than
    `max_nodes` elements. Iterative throughout.
    """
    tags = html.count("<")
    if tags > max_nodes * 3:
        raise _too_many(max_nodes)
    if tags > QUADRATIC_TAGS:
        html = _flatten(html, max_depth)
    root = _tree(html, max_nodes)
    if root is None:
        root = _tree(_flatten(html, max_depth), max_nodes)
    if root is None:
        raise ExtractFailed("The page is empty or nested too deeply to read.", reason="empty")
    return root


def _tree(html: str, max_nodes: int) -> HtmlElement | None:
    """The tree, or None when the document is nested deeper than libxml2's 2,048."""
    # Controls come from character references too, so they go after parsing.
    try:
        serialized = (LexborHTMLParser(html).html or "").encode("utf-8", "ignore")
    except SelectolaxError as error:  # the standard has no document that cannot be parsed: only memory can lack
        raise MemoryError(str(error)) from error
    serialized = serialized.translate(_FORM_FEED_TO_SPACE, _CONTROL_BYTES)
    for character in _NONCHARACTERS:
        serialized = serialized.replace(character, b"")
    # Formatting elements left open are rebuilt in every paragraph: a tree can be larger than its source.
    tags = serialized.count(b"<")
    if tags > max_nodes * 3:
        raise _too_many(max_nodes)
    serialized = _UNKNOWN_VOID.sub(rb"<\1\2></\1>", serialized)
    # Not lxml.html: its element classes are looked up in Python, for every access to an element.
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(serialized, parser)
    too_deep = any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)
    if too_deep:
        return None
    if tags > max_nodes and sum(1 for _ in root.iter()) > max_nodes:
        raise _too_many(max_nodes)
    return root


def _too_many(max_nodes: int) -> ExtractFailed:
    return ExtractFailed(f"The page has more than {max_nodes:,} elements.", reason="nodes")


def _flatten(html: str, max_depth: int) -> str:
    """Drop the tags that would nest deeper than `max_depth`, before any parser sees them.

    Depth is counted per tag name, so an end tag closes what it would close and a stray one nothing.
    """
    open_tags: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    depth = start = position = 0
    kept: list[str] = []
    while match := _TAG.search(html, position):
        name, position = match.group(2).lower(), match.end()
        if name in ("script", "style"):  # tags in their strings are no tags
            end = html.find(f"</{name}", position)
            position = end + 2 + len(name) if end >= 0 else len(html)
        if name in VOID or name in _IMPLIED or name in ("script", "style"):
            continue
        if not match.group(1):
            over = depth >= max_depth
            (dropped if over else open_tags)[name] += 1
            depth += not over
        elif over := dropped[name] > 0:
            dropped[name] -= 1
        elif open_tags[name]:
            open_tags[name] -= 1
            depth -= 1
        if over:
            kept.append(html[start : match.start()])
            start = match.end()
    kept.append(html[start:])
    return " ".join(kept)


def printable(text: str) -> str:
    """Text without the characters that a tree cannot hold: controls, lone surrogates, noncharacters."""
    return _CONTROL.sub("", text.replace("\f", " "))


def collapse(text: str | None) -> str:
    """Text with runs of HTML white space folded to one space and trimmed (no-break spaces stay)."""
    return _SPACE.sub(" ", text).strip(" ") if text else ""


def text_of(element: HtmlElement) -> str:
    """An element's text, words of neighbouring blocks kept apart, white space folded."""
    return collapse("".join(_pieces(element)))


def text_within(element: HtmlElement, chars: int) -> str | None:
    """An element's text as it stands, or None where it is longer than so many characters; stops reading there."""
    pieces: list[str] = []
    for piece in element.itertext():
        pieces.append(piece)
        chars -= len(piece)
        if chars < 0:
            return None
    return "".join(pieces)


def visible_chars(root: HtmlElement) -> int:
    """Characters of a tree's text that are no white space."""
    return sum(map(len, etree.tostring(root, method="text", encoding="unicode", with_tail=False).split()))


def text_lines(root: HtmlElement) -> list[str]:
    """The visible text of a tree, a line for each block that has any."""
    lines: list[str] = []
    current: list[str] = []
    body = root.find("body")
    for piece in _pieces(root if body is None else body):
        if piece == " ":
            if line := collapse("".join(current)):
                lines.append(line)
            current = []
        else:
            current.append(piece)
    if line := collapse("".join(current)):
        lines.append(line)
    return lines


def _pieces(element: HtmlElement) -> Iterator[str]:
    for event, node in etree.iterwalk(element, events=("start", "end")):
        block = node.tag in BLOCK or node.tag == "br"
        if event == "start":
            if block:
                yield " "
            if node.text:
                yield node.text
        else:
            if block:
                yield " "
            if node.tail and node is not element:
                yield node.tail


def drop(element: HtmlElement) -> None:
    """Remove an element and its content, keeping the text that follows it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        previous = element.getprevious()
        if previous is not None:
            previous.tail = (previous.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def tokens(element: HtmlElement) -> tuple[str, ...]:
    """The lower-case words of an element's class and id: `postBody-main` gives `post`, `body`, `main`."""
    return words(f"{element.get('class') or ''} {element.get('id') or ''}")


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

NAME_CHARS = 1_000
"""Characters of a name or style that are read: what is remembered of strangers' pages has to stay small. Of wcxb's
class attributes one in 9,000 is longer."""


def words(name: str) -> tuple[str, ...]:
    """Split camelCase, snake_case or kebab-case names into lower-case words."""
    return _words(name[:NAME_CHARS])


@lru_cache(maxsize=8192)
def _words(name: str) -> tuple[str, ...]:
    return tuple([word for part in name.split() for word in _parts(part)])


# Whole class attributes are every page's own, their parts are not.
@lru_cache(maxsize=16384)
def _parts(name: str) -> tuple[str, ...]:
    return tuple([word.lower() for word in _WORD.findall(name)])
