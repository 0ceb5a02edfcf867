"""The chosen elements as one small, clean tree: the source of HTML, text and Markdown alike.

Only tags a reader needs stay, with absolute addresses and no other attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml.etree import _Element as HtmlElement

from service.extraction import footnotes, formulas, lists
from service.extraction.images import caption_of
from service.extraction.letters import SPACES
from service.extraction.writer import Writer
from service.page import Image, Link, Media

TITLE_BLOCKS = 6
"""Blocks at the start of a body among which its title's copy is looked for: kicker, image, byline may precede it."""

_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Clean:
    """The clean tree under a `<div>`, and what stands in it."""

    root: HtmlElement
    media: tuple[Media, ...] = ()

    def links(self) -> tuple[Link, ...]:
        """The links with text, in order; marks of footnotes and players are none."""
        links = (a for a in self.root.iter("a") if "class" not in a.attrib)
        pairs = ((a.get("href"), SPACES.sub(" ", "".join(a.itertext())).strip()) for a in links)
        return tuple(Link(href, text) for href, text in pairs if text)

    def drop_title(self, title: str) -> None:
        """Remove the heading that only repeats the title, where it opens the body."""
        wanted = _NOT_WORD.sub("", title).casefold()
        for element in list(self.root)[:TITLE_BLOCKS]:
            if (
                element.tag in ("h1", "h2", "h3")
                and _NOT_WORD.sub("", "".join(element.itertext())).casefold() == wanted
            ):
                self.root.remove(element)
                return

    def images_with_captions(self) -> tuple[Image, ...]:
        """The images, each with its alternative text and the caption of its figure."""
        return tuple(Image(i.get("src"), i.get("alt") or "", caption_of(i)) for i in self.root.iter("img"))


def prepare(root: HtmlElement) -> None:
    """Keep in the tree what is noise to a reader and meaning to a copy: the boxes of tasks, TeX in scripts.

    Call before noise is pruned.
    """
    lists.keep_tasks(root)
    formulas.keep_scripts(root)


def clean(parts: Iterable[HtmlElement], base: str | None) -> Clean:
    """Copy the parts of a body into one clean tree; `base` resolves their addresses. The parts stay as they are."""
    parts = list(parts)
    writer = Writer(base, footnotes.find(parts, base))
    for part in parts:
        writer.copy(part)
        writer.boundary()
    return Clean(writer.finish(), tuple(writer.media))
