"""Arc XP: `Fusion.globalContent = {"content_elements": [{"type": "text", …}, …]}`, every type of element as HTML."""

from __future__ import annotations

import html
from typing import Any

from service.extraction.facts import string

MAX_ELEMENTS = 5_000
"""Elements of one story, those inside others counted."""

MAX_DEPTH = 12
"""Lists and quotes in each other; deeper ones are left out."""

_TEXT = frozenset(("text", "paragraph"))
_NOTES = frozenset(("correction", "endorsement"))


def story(content: Any) -> str | None:
    """The elements of a story as HTML; None where it has none."""
    elements = content.get("content_elements") if isinstance(content, dict) else None
    if not isinstance(elements, list):
        return None
    left = [MAX_ELEMENTS]
    return "".join(_element(item, left, MAX_DEPTH) for item in _objects(elements)) or None


def _element(item: dict[str, Any], left: list[int], depth: int) -> str:
    left[0] -= 1
    if left[0] < 0 or not depth:
        return ""
    kind = item.get("type")
    text = _string(item.get("content"))
    if kind in _TEXT:
        return f"<p>{text}</p>"
    if kind == "header":
        level = item.get("level")
        level = level if isinstance(level, int) and 1 <= level <= 6 else 2
        return f"<h{level}>{text}</h{level}>"
    if kind == "raw_html":
        return text
    if kind in _NOTES:
        return f"<p>{_string(item.get('text')) or text}</p>"
    if kind == "divider":
        return "<hr>"
    if kind == "code":
        return f"<pre><code>{html.escape(text, quote=False)}</code></pre>"
    if kind == "list":
        tag = "ol" if item.get("list_type") == "ordered" else "ul"
        entries = (_inner(entry, left, depth - 1) for entry in _objects(item.get("items")))
        return f"<{tag}>{''.join(f'<li>{entry}</li>' for entry in entries)}</{tag}>"
    if kind == "quote":
        body = "".join(_element(entry, left, depth - 1) for entry in _objects(item.get("content_elements")))
        source = item.get("citation")
        cited = _inner(source, left, depth - 1) if isinstance(source, dict) else ""
        return f"<blockquote>{body or f'<p>{text}</p>'}{f'<p>{cited}</p>' if cited else ''}</blockquote>"
    if kind == "table":
        return _table(item, left, depth)
    return _link(item, text) or _medium(item, left, depth)


def _table(item: dict[str, Any], left: list[int], depth: int) -> str:
    head = "".join(f"<th>{_inner(cell, left, depth - 1)}</th>" for cell in _objects(item.get("header")))
    rows = [_objects(row) for row in _list(item.get("rows")) if isinstance(row, list)]
    lines = ("".join(f"<td>{_inner(cell, left, depth - 1)}</td>" for cell in row) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _link(item: dict[str, Any], text: str) -> str:
    """Links between paragraphs, alone or in a list, and ratings; empty for any other type."""
    kind = item.get("type")
    if kind == "interstitial_link":
        return f"<p>{_anchor(_string(item.get('url')), text)}</p>"
    if kind == "link_list":
        entries = (_anchor(_string(e.get("url")), _string(e.get("content"))) for e in _objects(item.get("items")))
        title = _string(item.get("title"))
        return f"{f'<p>{title}</p>' if title else ''}<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"
    if kind == "numeric_rating":
        rating, most, unit = (item.get(key) for key in ("numeric_rating", "max", "units"))
        shown = f"{rating}/{most}" if isinstance(most, (int, float)) else str(rating)
        if isinstance(rating, (int, float)) and not isinstance(rating, bool):
            return f"<p>{shown}{f' {html.escape(unit)}' if isinstance(unit, str) else ''}</p>"
    return ""


def _medium(item: dict[str, Any], left: list[int], depth: int) -> str:
    """Images, galleries, video, audio, and what is embedded; empty for any other type."""
    kind = item.get("type")
    address = _string(item.get("url")) or _string(item.get("canonical_url"))
    if kind == "image" and address:
        return _figure(f'<img src="{html.escape(address)}" alt="{html.escape(string(item.get("alt_text")))}">', item)
    if kind == "gallery":
        return "".join(_element(entry, left, depth - 1) for entry in _objects(item.get("content_elements")))
    if kind in ("video", "audio"):
        streams = [_string(stream.get("url")) for stream in _objects(item.get("streams"))]
        source = next((s for s in streams if s.partition("?")[0].endswith((".mp4", ".mp3", ".m4a"))), address)
        source = source or next(iter(streams), "")
        name = string(item.get("headlines"), "basic") or _string(item.get("caption")) or kind
        return _figure(f'<{kind} src="{html.escape(source)}">{_anchor(source, html.escape(name))}</{kind}>', {})
    if kind == "oembed_response":
        raw = item.get("raw_oembed")
        raw = raw if isinstance(raw, dict) else {}
        source = next(
            (a for a in (_string(raw.get("url")), _string(raw.get("_id")), _string(item.get("referent"))) if a), ""
        )
        shown = _string(raw.get("html"))
        quoted = shown if "<blockquote" in shown else ""
        return quoted or (
            f"<p>{_anchor(source, html.escape(_string(raw.get('title')) or source))}</p>" if source else ""
        )
    if kind == "custom_embed":
        return _embed(item.get("embed"))
    if kind in ("story", "reference") and address:
        return f"<p>{_anchor(address, html.escape(string(item.get('headlines'), 'basic')) or address)}</p>"
    return ""


def _embed(embed: Any) -> str:
    """What a site's own element says of itself: a link with its title, where it has an address of the web."""
    if not isinstance(embed, dict):
        return ""
    config = embed.get("config")
    config = config if isinstance(config, dict) else {}
    address = next((a for part in (config, embed) if (a := _string(part.get("url"))).startswith("http")), "")
    title = next((t for name in ("title", "caption", "name") if (t := _string(config.get(name)))), "")
    return f"<p>{_anchor(address, html.escape(title or address))}</p>" if address else ""


def _figure(medium: str, item: dict[str, Any]) -> str:
    caption = _string(item.get("caption"))
    return f"<figure>{medium}<figcaption>{caption}</figcaption></figure>"


def _anchor(address: str, text: str) -> str:
    return f'<a href="{html.escape(address)}">{text or html.escape(address)}</a>' if address else text


def _inner(entry: dict[str, Any], left: list[int], depth: int) -> str:
    """The inside of a list's item, a cell or a citation."""
    if entry.get("type") == "list":
        return _element(entry, left, depth)
    return _string(entry.get("content")) or "".join(
        _element(part, left, depth - 1) for part in _objects(entry.get("content_elements")) if depth > 0
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _string(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
