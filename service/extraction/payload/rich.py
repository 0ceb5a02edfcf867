"""Structured text as HTML: trees of typed nodes, as editors and content systems keep them.

One reading for all of them, by what they have in common: a node names its type, and has a text, or children. So are
ProseMirror, Slate, Lexical, Draft.js, Editor.js, Contentful, Portable Text, hast, Gutenberg's blocks and React's
elements. Iterative, bounded by `MAX_NODES`.
"""

from __future__ import annotations

import html
import re
from typing import Any

MAX_NODES = 20_000
"""Nodes of one text."""

_TYPES = ("_type", "nodeType", "tagName", "type", "blockName", "blockType", "__typename", "kind", "tag")
_CHILDREN = ("children", "content", "nodes", "blocks", "items", "body", "paragraphs", "elements", "innerBlocks", "root",
             "value", "fields", "attributes", "props", "data")  # fmt: skip
_TEXTS = ("text", "html", "value", "innerHTML", "content", "code", "markdown")
_SKIPPED = re.compile(
    r"\bads?\b|advert|promo|related|newsletter|share|comment|recirc|signup|subscribe|script|style$", re.I
)
_TAGS = (
    (re.compile(r"head(?:ing|er)|subhead|^title$", re.I), "h2"),
    (re.compile(r"list-?_?item|^li$", re.I), "li"),
    (re.compile(r"order(?:ed)?-?_?list|^ol$|numbered", re.I), "ol"),
    (re.compile(r"list|^ul$", re.I), "ul"),
    (re.compile(r"quote", re.I), "blockquote"),
    (re.compile(r"code-?_?block|^code$|^pre$", re.I), "pre"),
    (re.compile(r"hyperlink|^link$|^a$", re.I), "a"),
    (re.compile(r"^(?:hard-?_?break|line-?_?break|br)$", re.I), "br"),
    (re.compile(r"header-?_?cell|^th$", re.I), "th"),
    (re.compile(r"cell|^td$", re.I), "td"),
    (re.compile(r"row|^tr$", re.I), "tr"),
    (re.compile(r"^table", re.I), "table"),
    (re.compile(r"^(?:strong|b|em|i|sub|sup)$", re.I), ""),
    (re.compile(r"paragraph|^p$|^text$|^block$|^normal$|unstyled|rich-?_?text$|^body$|^html$", re.I), "p"),
)
_PICTURE = re.compile(r"image|picture|photo|figure|^img$", re.I)
_LEVEL = re.compile(r"(?:^h|heading|header|-)(?:[-_]?)([1-6])$", re.I)
_BLOCKS = re.compile(r"<(?:p|br|div|ul|ol|h[1-6]|blockquote|a|em|strong|b|i)[\s/>]|</", re.I)


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
    queue: list[tuple[Any, bool]] = [(value, False)]
    for _ in range(MAX_NODES):
        if not queue:
            break
        node, is_inside = queue.pop()
        if isinstance(node, tuple):
            out.append(node[0])
        elif isinstance(node, str):
            text = node if _BLOCKS.search(node) else html.escape(node, quote=False)
            out.append(text if is_inside else f"<p>{text}</p>")
        elif isinstance(node, list):
            if len(node) > 3 and node[0] == "$" and isinstance(node[1], str) and isinstance(node[3], dict):
                queue.append(({"type": node[1], **node[3]}, is_inside))
            else:
                queue.extend((item, is_inside) for item in reversed(node))
        elif isinstance(node, dict):
            _node(node, is_inside, queue)
    return "".join(out)


def _node(node: dict[str, Any], is_inside: bool, queue: list[tuple[Any, bool]]) -> None:
    kind = _kind(node)
    if _SKIPPED.search(kind):
        return
    places = (node, node.get("data"), node.get("attrs"), node.get("attributes"))
    source = next((address for place in places if (address := _source(place))), "")
    if source and _PICTURE.search(kind):
        alt, caption = _said(node, "alt", "altText", "alt_text"), _said(node, "caption", "title")
        image = f'<img src="{html.escape(source)}" alt="{html.escape(alt)}">'
        queue.append(((f"<figure>{image}<figcaption>{caption}</figcaption></figure>",), is_inside))
        return
    style = node.get("style")
    if kind.lower() == "block" and isinstance(style, str):
        kind = "li" if node.get("listItem") else style
    tag = next((tag or kind.lower() for pattern, tag in _TAGS if pattern.search(kind)), "")
    if tag == "h2":
        level = _LEVEL.search(kind)
        number = node.get("level") or next(
            (d["level"] for d in (node.get("attrs"), node.get("data")) if isinstance(d, dict) and d.get("level")), None
        )
        tag = f"h{level.group(1)}" if level else f"h{number}" if number in (1, 2, 3, 4, 5, 6) else "h2"
    elif (level := re.fullmatch(r"h([1-6])", kind, re.I)) is not None:
        tag = kind.lower()
    children = next((node[k] for k in _CHILDREN if isinstance(node.get(k), list) and node[k]), None)
    if children is None:
        children = next((node[k] for k in _CHILDREN if isinstance(node.get(k), dict) and node[k]), None)
    text = next((node[k] for k in _TEXTS if isinstance(node.get(k), str) and node[k]), None)
    if children is None and isinstance(node.get("children"), str):
        children = node["children"]
    if tag == "br":
        queue.append((("<br>",), is_inside))
        return
    is_leaf = children is None or (text is not None and not isinstance(children, list))
    if is_leaf and is_inside and tag == "p":
        tag = ""
    opening, closing = (f"<{tag}>", f"</{tag}>") if tag else ("", "")
    if tag == "a":
        address = next((a for d in (node, node.get("data"), node.get("attrs")) if (a := _address(d))), "")
        opening = f'<a href="{html.escape(address)}">'
    inside = is_inside or tag not in ("", "ul", "ol", "table", "tr", "blockquote")
    if closing:
        queue.append(((closing,), is_inside))
    queue.append(
        (_marked(node, text) if is_leaf and text is not None else children if not is_leaf else "", inside or tag != "")
    )
    if opening:
        queue.append(((opening,), is_inside))


def _marked(node: dict[str, Any], text: str) -> Any:
    """A leaf's text with its marks."""
    marks = node.get("marks")
    names = [m.get("type") if isinstance(m, dict) else m for m in marks] if isinstance(marks, list) else []
    bold = node.get("bold") or "bold" in names or "strong" in names
    italic = node.get("italic") or "italic" in names or "em" in names
    if not (bold or italic):
        return text
    marked = html.escape(text, quote=False)
    for name, is_set in (("em", italic), ("strong", bold)):
        marked = f"<{name}>{marked}</{name}>" if is_set else marked
    return (marked,)


def _is_list(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    first = value[:50]
    nodes = sum(
        (isinstance(v, dict) and bool(_kind(v)) and any(k in v for k in (*_TEXTS, *_CHILDREN)))
        or (isinstance(v, str) and len(v) >= 40)
        or (isinstance(v, list) and len(v) > 3 and v[0] == "$")
        for v in first
    )
    return bool(nodes * 5 >= len(first) * 3)


def _kind(node: dict[str, Any]) -> str:
    kind = next((node[k] for k in _TYPES if isinstance(node.get(k), str)), "")
    return str(kind).rpartition("/")[2][:60]


def _source(node: Any) -> str:
    for _ in range(3):
        if not isinstance(node, dict):
            break
        value = next((node[k] for k in ("src", "url", "file", "image", "asset") if node.get(k)), None)
        if isinstance(value, str):
            return value
        node = value
    return ""


def _address(node: Any) -> str:
    value = (
        next((node[k] for k in ("href", "url", "uri") if isinstance(node.get(k), str)), "")
        if isinstance(node, dict)
        else ""
    )
    return str(value)


def _said(node: dict[str, Any], *names: str) -> str:
    for part in (node, node.get("data"), node.get("attrs"), node.get("attributes")):
        for name in names:
            if isinstance(part, dict) and isinstance(part.get(name), str):
                return str(part[name])
    return ""
