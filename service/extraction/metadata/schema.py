"""The schema.org objects that describe the page itself: of JSON-LD (then of what was repaired), and of microdata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from service.extraction.facts import Facts, types

ARTICLES = (
    "Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "AnalysisNewsArticle", "OpinionNewsArticle",
    "TechArticle", "ScholarlyArticle", "LiveBlogPosting", "Report", "Review", "AdvertiserContentArticle",
)  # fmt: skip
"""schema.org types of an article."""

POSTS = ("SocialMediaPosting", "DiscussionForumPosting", "QAPage", "Question")
"""schema.org types of posts and threads."""

WORKS = frozenset(
    (*ARTICLES, *POSTS, "Recipe", "HowTo", "Blog", "PodcastEpisode", "VideoObject", "Book", "CreativeWork", "Course",
     "Dataset", "FAQPage", "MedicalWebPage", "WebPage", "ItemPage", "AboutPage", "SatiricalArticle",
     "BackgroundNewsArticle", "AskPublicNewsArticle", "MedicalScholarlyArticle", "LearningResource", "Guide")
)  # fmt: skip
"""Types of works that may have an author and a date; articles and posts come first, pages last."""

_PAGES = frozenset(("WebPage", "ItemPage", "AboutPage", "FAQPage", "MedicalWebPage", "Blog", "VideoObject"))


def works(facts: Facts) -> list[dict[str, Any]]:
    """The JSON-LD objects that may say who wrote the page and when: articles and posts, other works, then pages."""
    return _ranked((*facts.nodes, *facts.mended))


def items(facts: Facts) -> list[dict[str, Any]]:
    """The same of microdata."""
    return _ranked(facts.items)


def _ranked(nodes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    main: list[dict[str, Any]] = []
    other: list[dict[str, Any]] = []
    pages: list[dict[str, Any]] = []
    for node in nodes:
        kinds = types(node)
        if not kinds.isdisjoint(ARTICLES) or not kinds.isdisjoint(POSTS):
            main.append(node)
        elif not kinds.isdisjoint(_PAGES):
            pages.append(node)
        elif not kinds.isdisjoint(WORKS):
            other.append(node)
    return [*main, *other, *pages]
