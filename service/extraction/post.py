"""A social post, whatever it was read from, and what it is as elements and as facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from lxml import etree
from lxml.etree import _Element as HtmlElement

from service.extraction.documents import from_text
from service.extraction.dom import collapse, drop, parse
from service.extraction.facts import Facts
from service.failures import ExtractFailed

MAX_NODES = 20_000
"""Elements of one post's text."""

MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|&(?:#\d{1,7}|[a-zA-Z]{2,31});")
"""A tag or a reference: what makes a text mark-up."""


@dataclass(slots=True)
class Media:
    """An image, sound or video of a post, with what is said of it."""

    url: str
    kind: str
    text: str = ""


@dataclass(slots=True)
class Post:
    """A post; `content` is HTML."""

    author: str = ""
    address: str = ""
    """Of the author's page."""
    published: str = ""
    title: str = ""
    warning: str = ""
    content: str = ""
    url: str = ""
    site: str = ""
    is_article: bool = False
    choices: list[str] = field(default_factory=list)
    """Of a poll."""
    media: list[Media] = field(default_factory=list)
    quoted: Post | None = None

    def says_something(self) -> bool:
        """Whether there is anything to read in it."""
        return bool(collapse(self.content) or self.media or self.quoted or self.choices)


def to_element(post: Post) -> HtmlElement:
    """A post as elements: author and time, text, media, the quoted post."""
    root = etree.Element("div")
    if post.author or post.published:
        head = etree.SubElement(root, "p")
        name = etree.SubElement(head, "a", {"href": post.address}) if post.address else etree.SubElement(head, "strong")
        name.text = post.author or post.address
        name.tail = f"{', ' if name.text else ''}{post.published}" if post.published else None
    for line, tag in ((post.title, "h2"), (post.warning, "p")):
        if line:
            etree.SubElement(root, tag).text = line
    root.extend(list(_content(post.content)))
    if post.choices:
        listing = etree.SubElement(root, "ul")
        for choice in post.choices:
            etree.SubElement(listing, "li").text = choice
    for media in post.media:
        root.append(_media_element(media))
    if post.quoted is not None:
        quote = etree.SubElement(root, "blockquote")
        quote.extend(list(to_element(post.quoted)))
    elif post.url and not len(root):
        etree.SubElement(etree.SubElement(root, "p"), "a", {"href": post.url}).text = post.url
    return root


def facts_of(post: Post) -> Facts:
    """What a post says of itself, as a page would in JSON-LD."""
    node: dict[str, Any] = {"@type": "SocialMediaPosting", "author": {"name": post.author}}
    node |= {"datePublished": post.published} if post.published else {}
    node |= {"headline": post.title} if post.title else {}
    meta = {"og:site_name": post.site} if post.site else {}
    return Facts(meta=meta, nodes=[node], title=post.title, canonical=post.url or None)


def _media_element(media: Media) -> HtmlElement:
    figure = etree.Element("figure")
    if media.kind == "image":
        etree.SubElement(figure, "img", {"src": media.url, "alt": media.text})
        return figure
    player = etree.SubElement(figure, media.kind, {"src": media.url})
    etree.SubElement(player, "a", {"href": media.url}).text = media.text or media.kind
    return figure


def _content(content: str) -> HtmlElement:
    if not MARKUP.search(content):
        return from_text(content) if collapse(content) else etree.Element("div")
    try:
        body = parse(f"<body>{content}</body>", max_nodes=MAX_NODES, max_depth=100).find("body")
    except ExtractFailed:
        return from_text(MARKUP.sub(" ", content))
    for noise in list(body.iter("script", "style")):
        drop(noise)
    if (body.text or "").strip():
        lead = etree.Element("p")
        lead.text, body.text = body.text, None
        while len(body) and body[0].tag in ("a", "span", "br", "b", "i", "em", "strong", "code"):
            lead.append(body[0])
        body.insert(0, lead)
    return body
