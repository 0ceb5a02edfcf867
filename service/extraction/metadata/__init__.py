"""What a page says of itself: title, site, leading image, authors, dates and the rest.

For every field the sources are asked in one order, and the first that has a believable value gives it: JSON-LD, JSON-LD
that had to be repaired, OpenGraph and other `<meta>`, microdata, visible text. Where it differs: the title is first
what a reader sees, its heading; a person in the visible byline comes before an organisation in structured data; a page
that names no date but that of its last change is given as published then.
"""

from __future__ import annotations

from dataclasses import replace

from service.extraction.facts import Facts
from service.extraction.metadata import about, dates, people, visible
from service.extraction.metadata.images import hero_of, sized, sizes_of
from service.extraction.metadata.length import length_of
from service.extraction.metadata.schema import ARTICLES, POSTS
from service.extraction.metadata.title import MAX_TITLE_CHARS, site_of, title_of
from service.extraction.metadata.visible import Signature
from service.extraction.segment import Blocks
from service.page import Metadata


def signature_of(blocks: Blocks, facts: Facts, url: str | None, base: str | None) -> Signature:
    """What the visible text says, where structured data says nothing; call before the body is taken out of the tree."""
    site = site_of(facts, url)
    headings, lower = visible.headings(blocks, "h1"), visible.headings(blocks, "h2", "h3")
    found = visible.sign(
        blocks,
        facts,
        title_of(facts, site, url, headings, lower),
        url,
        authors=not people.named(facts, site)[0],
        published=dates.published(facts) is None,
    )
    return replace(found, headings=headings, lower=lower, sizes=sizes_of(blocks, base))


def metadata_of(
    facts: Facts, base: str | None, site: str | None = None, text: str = "", signature: Signature | None = None
) -> Metadata:
    """All that the page says of itself; `text` is its body, `signature` what its visible text says."""
    signature = signature or Signature()
    persons, firm = people.named(facts, site)
    authors = persons or signature.authors or firm
    language = about.language_of(facts)
    words, minutes = length_of(text)
    modified = dates.modified(facts) or signature.modified
    return Metadata(
        author=", ".join(authors) or None,
        authors=authors,
        published=dates.published(facts) or signature.published or modified,
        modified=modified,
        language=language,
        direction=about.direction_of(facts, language, text),
        description=about.description_of(facts),
        canonical_url=about.canonical_of(facts, base),
        keywords=about.keywords_of(facts),
        section=about.section_of(facts),
        licence=about.licence_of(facts, base),
        word_count=words,
        reading_minutes=minutes,
    )


__all__ = [
    "ARTICLES",
    "MAX_TITLE_CHARS",
    "POSTS",
    "Signature",
    "hero_of",
    "metadata_of",
    "signature_of",
    "site_of",
    "sized",
    "title_of",
]
