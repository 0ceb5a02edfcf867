"""What flows out: a page and its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from service.paging import Heading, Piece, piece

Kind = Literal["article", "social", "feed", "forum", "product", "documentation", "page"]
Tables = Literal["markdown", "html"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the body: absolute `url`, visible `text`."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the body: absolute `url`, alternative text, caption of its figure, size in pixels where declared."""

    url: str
    alt: str = ""
    caption: str = ""
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """A video or audio in the body; `type` is `video`, `audio` or `embed`."""

    url: str
    type: Literal["video", "audio", "embed"]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the page says of itself; None, or an empty list, where it does not say.

    `author` is `authors` in one line. `published` and `modified` are ISO 8601, to the precision and with the time zone
    that the page gives. `language` is a BCP 47 tag, `direction` `ltr` or `rtl`. `word_count` and `reading_minutes` are
    the body's. `partial`: the body is only a part of the text, by the signs in `partial_evidence` (of a paywall).
    """

    author: str | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    description: str | None = None
    canonical_url: str | None = None
    authors: tuple[str, ...] = ()
    direction: Literal["ltr", "rtl"] | None = None
    keywords: tuple[str, ...] = ()
    section: str | None = None
    licence: str | None = None
    word_count: int = 0
    reading_minutes: float = 0.0
    partial: bool = False
    partial_evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of `explain`: an element that competed to be the body, and how it was judged."""

    element: str
    chars: int
    p_share: float
    link_share: float
    score: float
    won: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """A feature of a block, its value, and what it added to the block's log-odds of being body."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text as it was judged: `likely` is the model's probability, `rule` what overruled it, if any did."""

    text: str
    element: str
    likely: float
    kept: bool
    rule: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The main content of one page.

    `markdown`, `text` and `html` are three faces of the same clean tree. `source` says where the
    body was found: `body` (the markup), `payload:NAME` (data inside the page) or `description`.
    `outline` has its headings, with their places in `markdown`.
    `blocks` is every block of the page as it was judged, where the caller asked to have it explained.
    `url` is the final address, after redirects, or None when a caller gave only bytes.
    """

    url: str | None
    title: str | None
    site: str | None
    kind: Kind
    markdown: str
    text: str
    html: str
    hero_image_url: str | None = None
    truncated: bool = False
    source: str = "body"
    tier: Literal["static", "rendered"] = "static"
    metadata: Metadata = field(default_factory=Metadata)
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    media: tuple[Media, ...] = ()
    outline: tuple[Heading, ...] = ()
    explain: tuple[Candidate, ...] = ()
    blocks: tuple[Block, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    """Milliseconds by stage: fetch, render, extract, convert."""

    def piece(self, offset: int = 0, limit: int | None = None) -> Piece:
        """At most `limit` characters of the Markdown from `offset`, cut between blocks; see `service.paging`."""
        return piece(self.markdown, offset, limit)
