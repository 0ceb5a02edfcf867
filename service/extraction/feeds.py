"""Feeds as one list of entries: RSS 0.9x, 1.0 and 2.0, and Atom, through feedparser; JSON Feed 1.x."""

from __future__ import annotations

import html
import io
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

import feedparser
from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.decode import decode
from service.extraction.documents import from_text
from service.extraction.dom import collapse, drop, parse, printable
from service.extraction.feedxml import MAX_ENTRIES, MAX_FIELD_CHARS, shape
from service.extraction.urls import resolve
from service.failures import ExtractFailed

MAX_NODES = 100_000
"""Elements of all entries together; an entry that would go over it keeps its title, address and date."""

MAX_FILES = 10
"""Enclosures of an entry that are listed."""

_INLINE = re.compile(
    r"</?(?:a|abbr|b|br|cite|code|em|font|i|img|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.I
)
_ADDRESSES = ("href", "src", "poster", "data-src")


@dataclass(slots=True)
class Entry:
    """One entry; `date` in ISO 8601 as exact as the feed has it, `content` as HTML, `base` resolves its addresses."""

    title: str = ""
    link: str = ""
    date: str = ""
    author: str = ""
    content: str = ""
    base: str | None = None
    files: list[tuple[str, str]] = field(default_factory=list)
    """Address and media type of each enclosure."""


@dataclass(slots=True)
class Feed:
    """A feed: its title, the address of its site, what it says of itself, its entries in their order."""

    title: str = ""
    link: str = ""
    description: str = ""
    entries: list[Entry] = field(default_factory=list)


def read(body: bytes, content_type: str | None, url: str | None) -> Feed:
    """A feed from its bytes. Raises `ExtractFailed` when the document is broken beyond reading or has no entry."""
    text = decode(body, content_type, url).text
    feed = _json_feed(text, url) if text.lstrip("\ufeff \t\r\n").startswith("{") else _xml_feed(text, url)
    if not feed.entries:
        raise ExtractFailed("The feed has no items.", reason="feed without items")
    return feed


def to_element(feed: Feed) -> HtmlElement:
    """The entries as a list: title as a link, date and author, content, enclosures."""
    root = etree.Element("div")
    listing = etree.SubElement(root, "ul")
    left = MAX_NODES
    for entry in feed.entries:
        item = etree.SubElement(listing, "li")
        head = etree.SubElement(item, "p")
        name = etree.SubElement(head, "a", {"href": entry.link}) if entry.link else etree.SubElement(head, "strong")
        name.text = entry.title or entry.link or "Untitled"
        notes = ", ".join(part for part in (entry.date, entry.author) if part)
        name.tail = f" ({notes})" if notes else None
        content = _content(entry, left)
        if content is not None:
            left -= sum(1 for _ in content.iter())
            item.extend(list(content))
        for address, kind in entry.files[:MAX_FILES]:
            item.append(_file(address, kind))
    return root


def _content(entry: Entry, left: int) -> HtmlElement | None:
    """An entry's content, addresses absolute; None where there is none, or more than is `left` to read."""
    if not collapse(entry.content):
        return None
    try:
        content = parse(f"<body><div>{entry.content}</div></body>", max_nodes=left, max_depth=100).find("body")
    except ExtractFailed:
        return None
    for noise in list(content.iter("script", "style", "iframe")):
        drop(noise)
    for element in content.iter():
        for name in _ADDRESSES:
            if element.get(name) and (address := resolve(entry.base, element.get(name))):
                element.set(name, address)
    return content


def _file(address: str, kind: str) -> HtmlElement:
    """An enclosure: an image as such, sound and video as a player that holds a link, anything else as a link."""
    medium = kind.partition("/")[0]
    paragraph = etree.Element("p")
    if medium == "image":
        etree.SubElement(paragraph, "img", {"src": address, "alt": ""})
        return paragraph
    player = etree.SubElement(paragraph, medium, {"src": address}) if medium in ("audio", "video") else paragraph
    etree.SubElement(player, "a", {"href": address}).text = kind or address
    return paragraph


def _xml_feed(text: str, url: str | None) -> Feed:
    shaped = shape(text, url)
    if shaped is None:
        raise ExtractFailed("The feed is broken beyond reading.", reason="feed broken")
    headers = {"content-type": "application/xml; charset=utf-8"}
    try:
        # From a stream, never a string: feedparser would open a string as a file or an address. What it cleans
        # and resolves is cleaned and resolved here, in linear time.
        parsed = feedparser.parse(
            io.BytesIO(shaped), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except (UnicodeError, ValueError, AttributeError, KeyError, IndexError, TypeError) as error:
        raise ExtractFailed("The feed is broken beyond reading.", reason=type(error).__name__) from None
    site = _address(url, parsed.feed.get("link"))
    feed = Feed(_title(parsed.feed, "title"), site, _title(parsed.feed, "subtitle"))
    feed.entries = [_entry(entry, site or url) for entry in parsed.entries[:MAX_ENTRIES]]
    return feed


def _entry(entry: Any, base: str | None) -> Entry:
    parts = [*(entry.get("content") or []), *([entry.summary_detail] if "summary_detail" in entry else [])]
    best: dict[str, Any] = max(parts, key=lambda part: len(part.get("value") or ""), default={})
    content = str(best.get("value") or "")
    if best.get("type") == "text/plain" and "<" not in content:
        content = html.escape(content, quote=False) if "&" in content else content
    links = [link for link in entry.get("links") or [] if link.get("rel") == "enclosure"]
    files = [(link.get("href") or link.get("url"), link.get("type") or "") for link in links]
    files += [
        (media.get("url"), media.get("type") or f"{media.get('medium') or 'image'}/*")
        for media in entry.get("media_content") or []
    ]
    found = Entry(
        title=_title(entry, "title"),
        link=_address(base, entry.get("link")),
        date=_moment(entry),
        author=collapse(printable(str(entry.get("author") or "")))[:MAX_FIELD_CHARS],
        content=content,
        base=best.get("base") or base,
    )
    for address, kind in files:
        absolute = _address(base, address)
        if absolute and absolute not in (known for known, _ in found.files):
            found.files.append((absolute, kind))
    return found


def _title(entry: Any, name: str) -> str:
    """A title as text: tags of inline mark-up dropped, references read, unless it says that it is plain text."""
    value = printable(str(entry.get(name) or ""))[:MAX_FIELD_CHARS]
    declared = (entry.get(f"{name}_detail") or {}).get("type")
    if declared != "text/plain" or _INLINE.search(value) or "&" in value:
        value = html.unescape(_INLINE.sub("", value))
    return collapse(printable(value))


def _moment(entry: Any) -> str:
    """An entry's date, in UTC; without a time where the feed has none."""
    for name in ("published", "updated", "created"):
        moment = entry.get(f"{name}_parsed")
        if isinstance(moment, time.struct_time):
            exact = ":" in str(entry.get(name) or "")
            return time.strftime("%Y-%m-%dT%H:%M:%SZ" if exact else "%Y-%m-%d", moment)
    return ""


def _json_feed(text: str, url: str | None) -> Feed:
    try:
        data = json.loads(text.lstrip("\ufeff"), strict=False)
    except (ValueError, RecursionError) as error:
        raise ExtractFailed("The feed is broken beyond reading.", reason=type(error).__name__) from None
    data = data if isinstance(data, dict) else {}
    site = _address(url, data.get("home_page_url"))
    feed = Feed(_text(data.get("title")), site, _text(data.get("description")))
    items = data.get("items")
    for item in (items if isinstance(items, list) else [])[:MAX_ENTRIES]:
        if isinstance(item, dict):
            feed.entries.append(_json_entry(item, data, site or url))
    return feed


def _json_entry(item: dict[str, Any], feed: dict[str, Any], base: str | None) -> Entry:
    plain = _text(item.get("content_text"))
    contents = [_text(item.get("content_html")), _paragraphs(plain), _paragraphs(_text(item.get("summary")))]
    identity = _text(item.get("id"))
    link = _text(item.get("url")) or _text(item.get("external_url"))
    entry = Entry(
        title=collapse(_text(item.get("title")))[:MAX_FIELD_CHARS],
        link=_address(base, link or (identity if identity.startswith(("http:", "https:")) else "")),
        date=(_text(item.get("date_published")) or _text(item.get("date_modified")))[:40],
        author=", ".join(_people(item) or _people(feed)),
        content=contents[0] or max(contents, key=len),
        base=base,
    )
    picture = _address(base, _text(item.get("image")))
    if picture and picture not in entry.content:
        entry.files.append((picture, "image/*"))
    attachments = item.get("attachments")
    for attachment in attachments if isinstance(attachments, list) else []:
        if isinstance(attachment, dict) and (address := _address(base, attachment.get("url"))):
            entry.files.append((address, _text(attachment.get("mime_type"))))
    return entry


def _people(item: dict[str, Any]) -> list[str]:
    """Names of authors: `authors` (version 1.1) or `author` (1.0)."""
    authors = item.get("authors") if isinstance(item.get("authors"), list) else [item.get("author")]
    names = (_text(author.get("name")) for author in authors or [] if isinstance(author, dict))
    return [name[:MAX_FIELD_CHARS] for name in names if name][:10]


def _paragraphs(text: str) -> str:
    return "".join(etree.tostring(part, encoding="unicode") for part in from_text(text)) if text else ""


def _address(base: str | None, reference: Any) -> str:
    return resolve(base, printable(reference)) or "" if isinstance(reference, str) else ""


def _text(value: Any) -> str:
    return printable(value).strip() if isinstance(value, str) else ""


__all__ = ["MAX_ENTRIES", "Entry", "Feed", "read", "to_element"]
