"""What kind of page this is, decided from the page itself: what it declares, how it is built, what its body is like."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from service.extraction.comments import NAMES as COMMENTS
from service.extraction.density import Counts
from service.extraction.dom import NAME_CHARS, words
from service.extraction.evidence import Evidence
from service.extraction.facts import Facts
from service.extraction.metadata import ARTICLES
from service.extraction.segment import Blocks
from service.extraction.trees import Trees
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

_POST_TAGS = frozenset(("div", "li", "article", "tr", "table", "section"))

FORUM_POSTS = 2
"""Posts of equal build from which a page with a thread's name is a forum's."""

THIN_CHARS = 1000
"""Visible characters under which a page says too little to be judged by: of 6 such pages of wcxb that declare a kind
all are of that kind, and the model names one of them right."""

SURE = 0.4
"""Probability under which the model's best guess is none: 75 of 1,488 pages of wcxb, on which it is right about as
often as what they declare and measure (.8703 and .8696 over all pages, by cross-validation)."""

SURE_OF_DOCUMENTATION = 0.5
"""The same for documentation, which any page in plain mark-up is a little like (`render-consent-late`)."""

ARTICLE_CHARS = 400
"""Visible characters outside links from which such a page is an article, if it declares nothing."""

FEED_LINKS, FEED_LINK_SHARE = 8, 0.3
"""Links, and share of the text in them, from which it is a list of them."""

AS: dict[str, Kind] = {
    "article": "article",
    "documentation": "documentation",
    "forum": "forum",
    "product": "product",
    "collection": "feed",
    "listing": "feed",
    "feed": "feed",
    "service": "page",
}
"""The kinds of labelled pages as kinds of answers: shelves of goods and lists of texts are feeds."""


def declared_kind(blocks: Blocks, facts: Facts, url: str | None) -> Kind | None:
    """The kind a page declares or is built as, before its body is known; None where it does not say."""
    itemtypes = {
        name.rsplit("/", 1)[-1]
        for attributes in (blocks.elements[0].getroottree().getroot().attrib, *blocks.attributes)
        if "itemtype" in attributes
        for name in attributes["itemtype"].split()
    }
    generator = facts.meta.get("generator", "")
    if any(facts.of_type("DiscussionForumPosting", "QAPage")) or _FORUM_SOFTWARE.search(generator):
        return "forum"
    if any(facts.of_type("SocialMediaPosting")) or "SocialMediaPosting" in itemtypes:
        return "social"
    if not itemtypes.isdisjoint(("DiscussionForumPosting", "QAPage")):
        return "forum"
    if facts.meta.get("og:type", "").lower() in ("product", "og:product", "product.item") or any(
        facts.of_type("Product")
    ):
        return "product"
    if _DOCUMENTATION_SOFTWARE.search(generator) or any(facts.of_type("APIReference")):
        return "documentation"
    if any(facts.of_type(*ARTICLES)) or facts.meta.get("og:type", "").lower() == "article":
        return "article"
    return "forum" if _is_thread(blocks, url) else None


def probabilities(judge: Trees, traits: dict[str, float]) -> dict[str, float]:
    """How likely a page is of each of the kinds that a model was fitted to."""
    raw = judge(np.asarray([[traits.get(name, 0.0) for name in judge.names]], np.float32))[0]
    power = np.exp(raw - raw.max())
    return dict(zip(judge.outputs, (power / power.sum()).tolist(), strict=True))


def tell(found: Evidence, kinds: dict[str, float]) -> None:
    """Add the kinds to what is known of every block: what is body depends on the kind of page."""
    for name, likely in sorted(kinds.items()):
        found.add(f"kind:{name}", likely)


def decided(declared: Kind | None, kinds: dict[str, float], page: Counts) -> Kind:
    """The kind of a page: a declared post is one, a page with hardly any text what it declares; else what is likely.

    `kinds` are the model's `probabilities`, `page` what all of the page counts.
    """
    if declared == "social":
        return "social"
    if page.chars < THIN_CHARS:
        return declared or _measured(page)
    together: dict[Kind, float] = {}
    for name, likely in kinds.items():
        kind = AS.get(name, "page")
        together[kind] = together.get(kind, 0.0) + likely
    best = max(together, key=lambda kind: together[kind])
    sure = SURE_OF_DOCUMENTATION if best == "documentation" else SURE
    return best if together[best] >= sure else declared or _measured(page)


def _measured(page: Counts) -> Kind:
    """What a page of which little is known is, by its text and links."""
    if page.links >= FEED_LINKS and page.link_share > FEED_LINK_SHARE:
        return "feed"
    return "article" if page.chars - page.link_chars >= ARTICLE_CHARS else "page"


def _is_thread(blocks: Blocks, url: str | None) -> bool:
    """A page named as a thread that holds posts of equal build."""
    named = bool(url and _THREAD_ADDRESS.search(url))
    posts: dict[tuple[str, str], int] = {}
    for tag, attributes in zip(blocks.tags, blocks.attributes, strict=True):
        if tag not in _POST_TAGS or not (name := attributes.get("class")):
            continue
        is_thread, is_post = _read(name[:NAME_CHARS], attributes.get("id", "")[:NAME_CHARS])
        named = named or is_thread
        if is_post:
            key = (tag, name.split()[0] if name.split() else "")
            posts[key] = posts.get(key, 0) + 1
    return named and max(posts.values(), default=0) >= FORUM_POSTS


@lru_cache(maxsize=4096)
def _read(name: str, identity: str) -> tuple[bool, bool]:
    """Whether an element's class and id name a thread, and a post of one."""
    found = words(f"{name} {identity}")
    if not COMMENTS.isdisjoint(found):  # `thread-even` is a comment's place under an article
        return False, False
    return not _THREAD_WORDS.isdisjoint(found), not _POST_WORDS.isdisjoint(found)
