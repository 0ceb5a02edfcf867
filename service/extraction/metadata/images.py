"""The page's leading image, and the sizes of those in its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from service.extraction.facts import Facts, string
from service.extraction.images import caption_of, image_source
from service.extraction.metadata.schema import ARTICLES, POSTS
from service.extraction.segment import Blocks
from service.extraction.urls import is_placeholder, resolve_web
from service.page import Image

Told = tuple[int | None, int | None, str]
"""Width and height in pixels, None where not declared; the caption of the figure around."""

MAX_IMAGES = 500
"""Images of which more than the address is read."""

_PIXELS = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*(?:px)?\s*", re.I)
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


def told_of(blocks: Blocks, base: str | None) -> dict[str, Told]:
    """What a page tells of its images, by address: a percentage is no size, and a caption need not be body."""
    found: dict[str, Told] = {}
    left = MAX_IMAGES
    for number, tag in enumerate(blocks.tags):
        if tag != "img" or not left:
            continue
        width, height = (_pixels(blocks.attributes[number].get(name)) for name in ("width", "height"))
        caption = caption_of(blocks.elements[number])
        if width or height or caption:
            left -= 1
            address = image_source(blocks.elements[number], base)
            if address:
                found.setdefault(address, (width, height, caption))
    return found


def told(images: tuple[Image, ...], known: Mapping[str, Told]) -> tuple[Image, ...]:
    """The images with what the page tells of them."""
    none: Told = (None, None, "")
    return tuple(
        replace(image, width=width, height=height, caption=image.caption or caption)
        for image in images
        for width, height, caption in (known.get(image.url, none),)
    )


def _pixels(value: str | None) -> int | None:
    match = _PIXELS.fullmatch(value or "")
    return int(match.group(1)) or None if match else None
