"""Words that class, id and role names use. A hint lowers the bar for other evidence; it never deletes alone."""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

from service.extraction.dom import tokens

COMMENTS = frozenset(
    ("comment comments responses commentlist commentary reply replies respond disqus discussion livefyre").split()
)
"""Names of reader comments under an article."""

ASIDE = frozenset(
    (
        "related recommend recommended recommendation recommendations popular trending latest promo promoted "
        "promotion sponsor sponsored advert advertisement ads ad banner newsletter subscribe subscription "
        "signup share sharing social sns follow sidebar widget breadcrumb breadcrumbs crumb crumbs tags "
        "taglist pagination pager paging toc menu nav navbar navigation footer masthead toolbar byline author "
        "bio authorbox cookie cookies consent gdpr popup modal overlay login outbrain taboola teaser teasers "
        "more readmore copyright disclaimer utility print skip metadata postmeta signature profile "
        "postprofile userinfo jumpbox"
    ).split()
)
"""Names of what stands beside a body: links elsewhere, sharing, sign-up, bylines, page chrome."""

CHROME_ROLES = frozenset(
    ("navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog").split()
)
"""ARIA landmark and widget roles that are not the main content (WAI-ARIA 1.2, 5.3.4)."""

CHROME_TAGS = frozenset(("nav", "footer", "aside", "menu", "dialog"))
"""Sectioning elements that the HTML standard gives to what is beside the main content."""


def has_hint(element: HtmlElement, names: frozenset[str]) -> bool:
    """Whether a word of the element's class or id is one of `names`."""
    attributes = element.attrib
    if "class" not in attributes and "id" not in attributes:
        return False
    return not names.isdisjoint(tokens(element))
