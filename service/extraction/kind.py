"""What kind of page this is, decided from the page itself: what it declares, how it is built, what its body is like."""

from __future__ import annotations

import re

from lxml.etree import _Element as HtmlElement

from service.extraction.density import Counts
from service.extraction.dom import tokens
from service.extraction.facts import Facts
from service.extraction.hints import COMMENTS
from service.extraction.metadata import ARTICLES
from service.page import Kind

_FORUM_SOFTWARE = re.compile(
    r"phpbb|vbulletin|xenforo|discourse|discuz|invision|ip\.board|mybb|simple machines|smf|vanilla|flarum|nodebb|"
    r"fluxbb|punbb|"
    r"gnuboard|asp-?playground|yabb|woltlab|burning board",
    re.I,
)
_DOCUMENTATION_SOFTWARE = re.compile(
    r"sphinx|docusaurus|mkdocs|vitepress|vuepress|gitbook|javadoc|doxygen|docfx|readthedocs|rustdoc|antora|docsify|"
    r"asciidoctor|nextra|starlight",
    re.I,
)
_POST_WORDS = frozenset(("post", "posts", "message", "postbody", "postrow", "postbit", "answer"))
_THREAD_WORDS = frozenset(("thread", "topic", "forum", "forums", "viewtopic", "showthread", "board", "bbs"))
_THREAD_ADDRESS = re.compile(
    r"/(?:forums?|threads?|topics?|viewtopic|showthread|questions|bbs|board)(?:[/.?_-]|$)", re.I
)

FORUM_POSTS = 2
"""Posts of equal build from which a page with a thread's name is a forum's."""

ARTICLE_CHARS = 400
"""Visible characters of prose from which an undeclared page is an article."""


def declared_kind(root: HtmlElement, facts: Facts, url: str | None) -> Kind | None:
    """The kind a page declares or is built as, before its body is known; None where it does not say."""
    generator = facts.meta.get("generator", "")
    if any(facts.of_type("DiscussionForumPosting", "QAPage")) or _FORUM_SOFTWARE.search(generator):
        return "forum"
    if any(facts.of_type("SocialMediaPosting")) or _has_itemtype(root, "SocialMediaPosting"):
        return "social"
    if _has_itemtype(root, "DiscussionForumPosting", "QAPage"):
        return "forum"
    if facts.meta.get("og:type", "").lower() in ("product", "og:product", "product.item") or any(
        facts.of_type("Product")
    ):
        return "product"
    if _DOCUMENTATION_SOFTWARE.search(generator) or any(facts.of_type("APIReference")):
        return "documentation"
    if any(facts.of_type(*ARTICLES)) or facts.meta.get("og:type", "").lower() == "article":
        return "article"
    return "forum" if _is_thread(root, url) else None


def kind_of(declared: Kind | None, body: Counts, items: int) -> Kind:
    """The final kind: what was declared, else by the body's prose and by the linked `items` it lists."""
    if declared is not None:
        return declared
    if items >= 8 and body.link_share > 0.3:
        return "feed"
    prose = body.chars - body.link_chars
    return "article" if prose >= ARTICLE_CHARS and body.link_share < 0.25 else "page"


def _has_itemtype(root: HtmlElement, *names: str) -> bool:
    return any((e.get("itemtype") or "").rsplit("/", 1)[-1] in names for e in root.xpath("//*[@itemtype]"))


def _is_thread(root: HtmlElement, url: str | None) -> bool:
    """A page named as a thread that holds posts of equal build."""
    named = bool(url and _THREAD_ADDRESS.search(url))
    posts: dict[tuple[str, str], int] = {}
    for element in root.iter("div", "li", "article", "tr", "table", "section"):
        name = element.get("class")
        if not name:
            continue
        words = tokens(element)
        if not COMMENTS.isdisjoint(words):  # `thread-even` is a comment's place under an article
            continue
        if not named and not _THREAD_WORDS.isdisjoint(words):
            named = True
        if not _POST_WORDS.isdisjoint(words):
            key = (element.tag, name.split()[0])
            posts[key] = posts.get(key, 0) + 1
    return named and max(posts.values(), default=0) >= FORUM_POSTS
