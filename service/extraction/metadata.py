"""Title, site, hero image and the rest, each from the first source that can be trusted with it."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urlsplit

from service.extraction.facts import Facts, string
from service.extraction.urls import is_placeholder, resolve_web
from service.page import Image, Metadata

ARTICLES = (
    "Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "AnalysisNewsArticle", "OpinionNewsArticle",
    "TechArticle", "ScholarlyArticle", "LiveBlogPosting", "Report", "Review", "AdvertiserContentArticle",
)  # fmt: skip
"""schema.org types of an article."""

POSTS = ("SocialMediaPosting", "DiscussionForumPosting", "QAPage", "Question")
"""schema.org types of posts and threads."""

MAX_TITLE_CHARS = 1_000
"""Where a title is cut; the longest on the boards are a tenth of that."""

_SEPARATOR = re.compile(r"\s+(?:[|–—·•»«›<>/]|::|-|:)\s+|\s*[|｜]\s*|\s*:\s+(?=[^:]*$)")
_ICON = re.compile(
    r"(?:^|[/_.\-=])(?:fav)?(?:icon|logo|sprite|avatar|gravatar|badge|emoji|captcha)s?(?:[/_.\-\d]|$)|\.(?:ico|svg)(?:\?|$)",
    re.I,
)
_NOT_LETTERS = re.compile(r"[\W_]+")


def site_of(facts: Facts, url: str | None) -> str | None:
    """The site's name: `og:site_name`, JSON-LD publisher or WebSite, else the host without `www.`."""
    name = facts.meta.get("og:site_name", "")
    if not name:
        name = next(
            (n for node in facts.of_type(*ARTICLES, *POSTS) if (n := string(node.get("publisher"), "name"))), ""
        )
    if not name:
        name = next((n for node in facts.of_type("WebSite") if (n := string(node.get("name")))), "")
    return name or facts.meta.get("application-name") or _host(url)


def title_of(facts: Facts, site: str | None, url: str | None) -> str | None:
    """The page's own title: headline, `og:title`, `<title>` or `<h1>`, the site's name cut off.

    A title that only names the site loses to any other; where a heading is the title's own beginning
    or end, the heading is the title without its decoration.
    """
    brands = {_key(name) for name in (site or "", facts.meta.get("og:site_name", ""), *_brands(url)) if name}
    headline = next((h for node in facts.of_type(*ARTICLES, *POSTS) if (h := string(node.get("headline")))), "")
    declared = [headline, facts.meta.get("og:title", ""), facts.meta.get("twitter:title", ""), facts.title]
    lone = facts.headings if len(facts.headings) == 1 else []
    candidates = [cut for text in (*declared, *lone, *facts.headings[:1]) if (cut := _cut(text, brands))]
    candidates = [text for text in candidates if _key(text) not in brands]
    if not candidates:
        return (facts.title or (facts.headings or [""])[0]) or None
    best = candidates[0]
    for heading in facts.headings:
        inner, outer = _key(heading), _key(best)
        if (
            len(inner) >= 8
            and inner != outer
            and (outer.startswith(inner) or outer.endswith(inner))
            and (inner not in brands and _SEPARATOR.search(best))
        ):
            return heading
    return best


def hero_of(facts: Facts, base: str | None, images: tuple[Image, ...]) -> str | None:
    """The page's leading image: `og:image`, `twitter:image`, JSON-LD, else the body's first that is no icon."""
    declared = [
        facts.meta.get(name)
        for name in ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
    ]
    declared += [
        string(node.get("image"), "url", "contentUrl", "@id") for node in facts.of_type(*ARTICLES, *POSTS, "Product")
    ]
    for reference in (*declared, *(image.url for image in images)):
        address = resolve_web(base, reference)
        if (
            address
            and address.startswith("http")
            and not is_placeholder(address)
            and not _ICON.search(urlsplit(address).path)
        ):
            return address
    return None


def metadata_of(facts: Facts, base: str | None) -> Metadata:
    """Author, dates, language, description and canonical address, JSON-LD before meta."""
    nodes = list(facts.of_type(*ARTICLES, *POSTS))
    meta = facts.meta

    def first(key: str, *names: str) -> str | None:
        found = next((text for node in nodes if (text := string(node.get(key), "name", "@value"))), "")
        return found or next((meta[name] for name in names if name in meta), None)

    author = first("author", "author", "article:author", "parsely-author", "dc.creator", "twitter:creator")
    canonical = resolve_web(base, facts.canonical)
    return Metadata(
        author=author
        if author and not author.startswith(("http:", "https:")) and not re.fullmatch(r"[\d\s:./TZ+-]+", author)
        else None,
        published=first(
            "datePublished", "article:published_time", "datepublished", "date", "pubdate", "dc.date.issued"
        ),
        modified=first("dateModified", "article:modified_time", "datemodified", "lastmod", "og:updated_time"),
        language=facts.language or meta.get("og:locale"),
        description=meta.get("og:description") or meta.get("description") or meta.get("twitter:description"),
        canonical_url=canonical if canonical and urlsplit(canonical).hostname else None,
    )


def _key(text: str) -> str:
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _host(url: str | None) -> str | None:
    try:
        host = (urlsplit(url).hostname or "") if url else ""
    except ValueError:  # an address that a caller made up
        return None
    return host.removeprefix("www.") or None


def _brands(url: str | None) -> list[str]:
    host = _host(url) or ""
    labels = host.split(".")
    return [host, *labels[-3:-1], *labels[:1]] if host else []


def _cut(title: str, brands: set[str]) -> str:
    """A title without the site's name at its end or start."""
    title = " ".join(title.split())[:MAX_TITLE_CHARS]
    for _ in range(3):
        separators = list(_SEPARATOR.finditer(title))
        if not separators:
            break
        last, first = separators[-1], separators[0]
        if _is_brand(title[last.end() :], brands):
            title = title[: last.start()].strip()
        elif _is_brand(title[: first.start()], brands):
            title = title[first.end() :].strip()
        else:
            break
    return title


def _is_brand(part: str, brands: set[str]) -> bool:
    """Whether a part of a title names the site: a brand, or one lengthened or shortened ("Small Boats Board")."""
    key = _key(part)
    return key in brands or any(
        len(brand) >= 5 and len(key) >= 5 and (key.startswith(brand) or brand.startswith(key)) for brand in brands
    )
