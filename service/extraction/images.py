"""The real address of an image: lazy attributes, source sets, `noscript` copies; never a stand-in."""

from __future__ import annotations

import re
from itertools import islice

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import collapse, text_within
from service.extraction.urls import is_placeholder, resolve_web

MAX_CAPTION_CHARS = 5_000
"""Longest caption; what is longer is a text beside the image."""

_SRCSET = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s+(\d+(?:\.\d+)?)([wx]))?\s*(?:,|$)")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-original-src", "data-actualsrc", "data-echo")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_FILE = re.compile(r"\S{1,2000}\.(?:jpe?g|png|webp|gif|avif|svg|bmp)(?:[?#]\S{0,2000})?", re.I)
_POINT = re.compile(r"\s*[01](?:\.0+)?(?:px)?\s*")


def image_source(image: HtmlElement, base: str | None) -> str | None:
    """The real address of an `<img>`: lazy attributes, then `src`, then the largest of a source set.

    Placeholders, data URIs and images of one pixel are no image; None when nothing else is there.
    """
    if _is_point(image):
        return None
    for name in (*_LAZY, "src"):
        if (address := _real(image.get(name), base)) is not None:
            return address
    for element in (image, *_sources(image)):
        for name in _LAZY_SETS:
            if (address := _real(largest(element.get(name)), base)) is not None:
                return address
    for name, value in image.items():  # each script has an attribute of its own; a file's name gives it away
        if name.startswith("data-"):
            reference = (
                largest(value) if "srcset" in name else value.strip() if _FILE.fullmatch(value.strip()) else None
            )
            if (address := _real(reference, base)) is not None:
                return address
    return None


def caption_of(image: HtmlElement) -> str:
    """The caption of the figure that an image is in; nothing where it is longer than any caption."""
    figure = next((around for around in islice(image.iterancestors(), 8) if around.tag == "figure"), None)
    caption = figure.find(".//figcaption") if figure is not None else None
    return collapse(text_within(caption, MAX_CAPTION_CHARS)) if caption is not None else ""


def largest(srcset: str | None) -> str | None:
    """The reference with the largest width or density in a `srcset`."""
    best: tuple[float, str] | None = None
    for match in _SRCSET.finditer(srcset or ""):
        size = float(match.group(2) or 1)
        if best is None or size > best[0]:
            best = (size, match.group(1))
    return best[1] if best else None


def is_copy(noscript: HtmlElement) -> bool:
    """Whether a `noscript` only repeats the image beside it, for readers whose scripts do not run."""
    return next(noscript.iter("img"), None) is not None and not "".join(noscript.itertext()).strip()


def _real(reference: str | None, base: str | None) -> str | None:
    address = resolve_web(base, reference) if reference else None
    return address if address and not is_placeholder(address) else None


def _is_point(image: HtmlElement) -> bool:
    width, height = image.get("width"), image.get("height")
    return bool(width and height and _POINT.fullmatch(width) and _POINT.fullmatch(height))


def _sources(image: HtmlElement) -> list[HtmlElement]:
    parent = image.getparent()
    return list(parent.findall("source")) if parent is not None and parent.tag == "picture" else []
