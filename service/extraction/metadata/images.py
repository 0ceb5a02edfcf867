"""The page's leading image."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from service.extraction.facts import Facts, string
from service.extraction.metadata.schema import ARTICLES, POSTS
from service.extraction.urls import is_placeholder, resolve_web
from service.page import Image

_ICON = re.compile(
    r"(?:^|[/_.\-=])(?:fav)?(?:icon|logo|sprite|avatar|gravatar|badge|emoji|captcha)s?(?:[/_.\-\d]|$)|\.(?:ico|svg)(?:\?|$)",
    re.I,
)


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
