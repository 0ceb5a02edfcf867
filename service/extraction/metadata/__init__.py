"""What a page says of itself: title, site, leading image, authors, dates and the rest.

For every field the sources are asked in one order, and the first that has a believable value gives it: JSON-LD, JSON-LD
that had to be repaired, OpenGraph and other `<meta>`, microdata, visible text. Where it differs: the title is first
what a reader sees, its heading; a person in the visible byline comes before an organisation in structured data; a page
that names no date but that of its last change is given as published then.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from service.extraction.facts import Facts
from service.extraction.metadata import about, dates, people, visible
from service.extraction.metadata.about import description_of
from service.extraction.metadata.images import Told, hero_of, told, told_of
from service.extraction.metadata.length import length_of
from service.extraction.metadata.schema import ARTICLES, POSTS
from service.extraction.metadata.title import MAX_TITLE_CHARS, site_of, title_of
from service.extraction.metadata.visible import Signature
from service.extraction.segment import Blocks
from service.page import Metadata


@dataclass(frozen=True, slots=True)
class Details:
    """What a page says of itself, its body not yet counted; `images` is told by address."""

    site: str | None
    title: str | None
    metadata: Metadata
    images: dict[str, Told] = field(default_factory=dict)


def details_of(facts: Facts, url: str | None, base: str | None, blocks: Blocks | None = None) -> Details:
    """The details of a page; of its `blocks`, if it has any, before the body is taken out of the tree."""
    site = site_of(facts, url)
    seen = (visible.headings(blocks, "h1"), visible.headings(blocks, "h2", "h3")) if blocks is not None else ()
    title = title_of(facts, site, url, *seen)
    persons, firm = people.named(facts, site)
    published, modified = dates.published(facts), dates.modified(facts)
    signature = Signature()
    if blocks is not None:
        signature = visible.sign(blocks, facts, title, url, authors=not persons, published=published is None)
    authors = persons or signature.authors or firm
    modified = modified or signature.modified
    metadata = Metadata(
        author=", ".join(authors) or None,
        authors=authors,
        published=published or signature.published or modified,
        modified=modified,
        language=about.language_of(facts),
        direction=about.direction_of(facts),
        description=description_of(facts),
        canonical_url=about.canonical_of(facts, base),
        keywords=about.keywords_of(facts),
        section=about.section_of(facts),
        licence=about.licence_of(facts, base),
    )
    return Details(site, title, metadata, told_of(blocks, base) if blocks is not None else {})


def counted(metadata: Metadata, text: str) -> Metadata:
    """Metadata with the length of the body, its `text`, and a direction that only its letters tell."""
    words, minutes = length_of(text)
    direction = metadata.direction or about.direction_of_letters(text)
    return replace(metadata, direction=direction, word_count=words, reading_minutes=minutes)


__all__ = [
    "ARTICLES",
    "MAX_TITLE_CHARS",
    "POSTS",
    "Details",
    "counted",
    "description_of",
    "details_of",
    "hero_of",
    "site_of",
    "title_of",
    "told",
]
