"""Structured text as HTML: trees of typed nodes, as editors and content systems keep them.

One reading for all of them, by what they have in common: a node names its type, and has a text, or children. So are
ProseMirror, Slate, Lexical, Draft.js, Editor.js, Contentful, Portable Text, hast, Gutenberg's blocks and React's
elements. Iterative, bounded by `MAX_NODES`.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from typing import Any

MAX_NODES = 20_000
"""Nodes of one text."""

_TYPES = ("_type", "nodeType", "tagName", "type", "blockName", "blockType", "__typename", "kind", "tag")
_CHILDREN = ("children", "content", "nodes", "blocks", "items", "body", "paragraphs", "elements", "innerBlocks", "root",
             "value", "fields", "attributes", "props", "data")  # fmt: skip
_TEXTS = ("text", "html", "value", "innerHTML", "content", "children", "code", "markdown")
_ASIDE = ("data", "attrs", "attributes")
"""Where a node keeps what is said of it."""

_SKIPPED = re.compile(
    r"\bads?\b|advert|promo|related|newsletter|share|comment|recirc|signup|subscribe|script|style$", re.I
)
_IMAGE = re.compile(r"image|picture|photo|figure|^img$", re.I)
_TAGS = (
    (re.compile(r"^h[1-6]$|head(?:ing|er)(?!.?cell)|subhead|^title$", re.I), "h2"),
    (re.compile(r"list-?_?item|^li$", re.I), "li"),
    (re.compile(r"(?<!un)ordered-?_?list|^ol$|number(?:ed)?-?_?list", re.I), "ol"),
    (re.compile(r"list|^ul$", re.I), "ul"),
    (re.compile(r"quote", re.I), "blockquote"),
    (re.compile(r"code-?_?block|^code$|^pre$", re.I), "pre"),
    (re.compile(r"hyperlink|^link$|^a$", re.I), "a"),
    (re.compile(r"^(?:hard-?_?break|line-?_?break|br)$", re.I), "br"),
    (re.compile(r"header-?_?cell|^th$", re.I), "th"),
    (re.compile(r"cell|^td$", re.I), "td"),
    (re.compile(r"row|^tr$", re.I), "tr"),
    (re.compile(r"^table", re.I), "table"),
    (re.compile(r"paragraph|^p$|^text$|^block$|^normal$|unstyled|rich-?_?text$|^body$|^html$", re.I), "p"),
)
_INLINE = frozenset(("strong", "b", "em", "i", "sub", "sup", "del", "s", "mark"))
_LEVEL = re.compile(r"(?:^h|heading|header|-)[-_]?([1-6])$", re.I)
_BLOCKS = re.compile(r"<(?:p|br|div|ul|ol|h[1-6]|blockquote|a|em|strong|b|i)[\s/>]|</", re.I)
_MARKS = (
    (("bold", "strong"), 1, "strong"),
    (("italic", "em", "emphasis"), 2, "em"),
    (("strikethrough", "strike", "strike-through"), 4, "del"),
    (("code",), 16, "code"),
)
"""The names of a mark among the systems, its bit in Lexical's `format`, and its tag."""

_PARTS = {"ul": ("li", "li"), "ol": ("li", "li"), "table": ("tr", "tr"), "tr": ("td", "td|th")}
"""What the children of a list, a table and a row are, where they do not say so, and what they may be."""


class _Html(str):
    """What is written as it is."""

    __slots__ = ()


def is_rich(value: Any) -> bool:
    """Whether a value is such a tree: a document, or a list of mostly nodes or of long strings."""
    if isinstance(value, dict):
        kind = _kind(value).lower()
        return (
            kind in ("doc", "document", "root") or isinstance(value.get("root"), dict) or _is_list(value.get("blocks"))
        )
    return _is_list(value)


def to_html(value: Any) -> str:
    """The tree as HTML, without what is no text in it."""
    out: list[str] = []
    queue: list[tuple[Any, bool]] = [(value, False)]  # and whether it stands in a block
    for _ in range(MAX_NODES):
        if not queue:
            break
        node, is_inside = queue.pop()
        if isinstance(node, _Html):
            out.append(node)
        elif isinstance(node, str):
            text = node if _BLOCKS.search(node) else html.escape(node, quote=False)
            out.append(text if is_inside else f"<p>{text}</p>")
        elif isinstance(node, list):
            if (element := _react(node)) is not None:
                queue.append((element, is_inside))
            else:
                queue.extend((item, is_inside) for item in reversed(_with_lists(node)))
        elif isinstance(node, dict):
            queue.extend(reversed(_parts(node, is_inside)))
    return "".join(out)


def _parts(node: dict[str, Any], is_inside: bool) -> list[tuple[Any, bool]]:
    """What a node is made of: its tags, and its text or children between them."""
    kind = _kind(node)
    if _SKIPPED.search(kind):
        return []
    if _IMAGE.search(kind) and (figure := _figure(node)):
        return [(figure, True)]
    tag = _tag(node, kind)
    if tag == "br":
        return [(_Html("<br>"), True)]
    children = next((node[key] for key in _CHILDREN if isinstance(node.get(key), list) and node[key]), None)
    text = next((node[key] for key in _TEXTS if isinstance(node.get(key), str) and node[key]), None)
    if children is None and text is None:
        children = next((node[key] for key in _CHILDREN if isinstance(node.get(key), dict) and node[key]), None)
        if tag in _PARTS and isinstance(children, dict) and not _kind(children):
            children = next((children[key] for key in _CHILDREN if isinstance(children.get(key), list)), children)
    if children is not None:
        content = _typed(children, tag)
    elif text is None:
        return []
    else:
        content = _marked(node, text)
        if is_inside and tag == "p":
            tag = ""
    if not tag:
        return [(content, is_inside)]
    return [(_Html(_opening(node, tag)), True), (content, True), (_Html(f"</{tag}>"), True)]


def _tag(node: dict[str, Any], kind: str) -> str:
    """The tag for a node; empty for one that only holds others."""
    style = node.get("style")
    if kind.lower() == "block" and isinstance(style, str):  # Portable Text
        kind = "li" if node.get("listItem") else style
    if kind.lower() in _INLINE:
        return kind.lower()
    tag = next((tag for pattern, tag in _TAGS if pattern.search(kind)), "")
    told = [node, *(part for name in _ASIDE if isinstance(part := node.get(name), dict))]
    if tag == "h2":
        levels = (*(part.get(name) for name in ("level", "tag") for part in told), kind)
        found = (_LEVEL.search(level if isinstance(level, str) else f"h{level}") for level in levels if level)
        level = next((match.group(1) for match in found if match), "2")
        return f"h{level}"
    if tag == "ul" and any(
        part.get(name) in ("ordered", "number") for part in told for name in ("style", "listType", "list_type")
    ):
        return "ol"
    return tag


def _opening(node: dict[str, Any], tag: str) -> str:
    if tag != "a":
        return f"<{tag}>"
    return (
        f'<a href="{html.escape(next((a for part in (node, *map(node.get, _ASIDE)) if (a := _address(part))), ""))}">'
    )


def _typed(children: Any, tag: str) -> Any:
    """The children of a list, a table or a row, each as what it is there."""
    if tag not in _PARTS or not isinstance(children, list):
        return children
    name, allowed = _PARTS[tag]
    typed = []
    for given in children:
        child = (_react(given) if isinstance(given, list) else None) or given
        if not (isinstance(child, dict) and re.fullmatch(allowed, _tag(child, _kind(child)))):
            child = {"type": name, "children": child if isinstance(child, list) else [child]}
        typed.append(child)
    return typed


def _with_lists(nodes: list[Any]) -> list[Any]:
    """The nodes, with those that are items of no list (Portable Text, Draft.js) put in one."""
    whole: list[Any] = []
    for listed, run in groupby(nodes, _loose):
        if listed:
            items = [{**node, "type": "li", "_type": "li", "listItem": None} for node in run]
            whole.append({"type": listed, "children": items})
        else:
            whole.extend(run)
    return whole


def _loose(node: Any) -> str:
    """The list that an item without one belongs to: `ul`, `ol`, or none."""
    if not isinstance(node, dict):
        return ""
    item = node.get("listItem")
    kind = item if isinstance(item, str) else _kind(node) if str(node.get("type")).endswith("ordered-list-item") else ""
    return "" if not kind else "ol" if kind == "number" or kind.startswith("ordered") else "ul"


def _react(node: list[Any]) -> dict[str, Any] | None:
    """`["$", tag, key, {…}]`, an element in React's stream."""
    if len(node) > 3 and node[0] == "$" and isinstance(node[1], str) and isinstance(node[3], dict):
        return {"type": node[1], **node[3]}
    return None


def _marked(node: dict[str, Any], text: str) -> str:
    """A leaf's text with its marks: named in it, in its list of marks, or by the bits of Lexical's `format`."""
    given = node.get("marks")
    marks = given if isinstance(given, list) else []
    names = {str(mark.get("type") if isinstance(mark, dict) else mark) for mark in marks}
    bits = node.get("format")
    bits = bits if isinstance(bits, int) else 0
    tags = [
        tag for known, bit, tag in _MARKS if names.intersection(known) or bits & bit or any(map(node.get, known[:1]))
    ]
    address = next((a for mark in marks if isinstance(mark, dict) and (a := _address(mark.get("attrs")))), "")
    if not tags and not address:
        return text
    text = html.escape(text, quote=False)
    for tag in tags:
        text = f"<{tag}>{text}</{tag}>"
    return _Html(f'<a href="{html.escape(address)}">{text}</a>' if address else text)


def _is_list(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    first = value[:50]
    nodes = sum(
        (isinstance(v, dict) and bool(_kind(v)) and any(k in v for k in (*_TEXTS, *_CHILDREN)))
        or (isinstance(v, str) and len(v) >= 40)
        or (isinstance(v, list) and _react(v) is not None)
        for v in first
    )
    return nodes * 5 >= len(first) * 3


def _kind(node: dict[str, Any]) -> str:
    kind = next((node[key] for key in _TYPES if isinstance(node.get(key), str)), "")
    if kind == "element":  # hast: the type of every element
        kind = node["tagName"] if isinstance(node.get("tagName"), str) else kind
    return str(kind).rpartition("/")[2][:60]


def _figure(node: dict[str, Any]) -> _Html | None:
    source = next((s for s in map(_source, (node, *map(node.get, _ASIDE))) if s), "")
    if not source:
        return None
    alt, caption = (
        html.escape(_said(node, *names)) for names in (("alt", "altText", "alt_text"), ("caption", "title"))
    )
    return _Html(f'<figure><img src="{html.escape(source)}" alt="{alt}"><figcaption>{caption}</figcaption></figure>')


def _source(node: Any) -> str:
    for _ in range(3):
        if not isinstance(node, dict):
            break
        value = next((node[key] for key in ("src", "url", "file", "image", "asset") if node.get(key)), None)
        if isinstance(value, str):
            return value
        node = value
    return ""


def _address(node: Any) -> str:
    found = (node.get(key) for key in ("href", "url", "uri")) if isinstance(node, dict) else ()
    return next((value for value in found if isinstance(value, str)), "")


def _said(node: dict[str, Any], *names: str) -> str:
    parts = (part for part in (node, *map(node.get, _ASIDE)) if isinstance(part, dict))
    return next((value for part in parts for name in names if isinstance(value := part.get(name), str)), "")
