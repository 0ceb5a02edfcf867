"""Our Markdown as a CommonMark and GFM parser reads it back: its words, to compare with the page's own text."""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

PARSER = (
    MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin, inline=False).use(deflist_plugin)
)
PARSER.core.ruler.disable("footnote_tail")  # notes stay where they stand
PARSER.options["maxNesting"] = 500

_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>]*>")


def words(text: str) -> list[str]:
    """The words of a text: runs of letters and digits, in order."""
    return _WORD.findall(text)


def words_of_markdown(markdown: str) -> list[str]:
    """The words that a reader of the rendered Markdown sees, in order."""
    return words("".join(_pieces(PARSER.parse(markdown))))


def text_of_markdown(markdown: str) -> str:
    """All that a reader of the rendered Markdown sees, without white space."""
    return "".join("".join(_pieces(PARSER.parse(markdown))).split())


def _pieces(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield from _inline(token.children or [])
            yield "\n"
        elif token.type in ("fence", "code_block"):
            yield token.content
            yield "\n"
        elif token.type == "html_block":
            yield entities.unescape(_TAG.sub(lambda tag: "" if tag.group() in _PHRASING else " ", token.content))
        elif token.type == "footnote_reference_open":
            yield f"[{token.meta['label']}] "
        elif token.block:
            yield "\n"


_PHRASING = frozenset(
    f"<{slash}{name}>" for slash in ("", "/") for name in "a b i strong em code sub sup mark del kbd samp".split()
)


def _inline(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif token.type == "html_inline":
            if token.content.startswith(("<br", "<ul", "<ol", "<li", "</ul", "</ol", "</li")):
                yield "\n"
        elif token.type == "footnote_ref":
            yield f"[{token.meta['label']}]"
