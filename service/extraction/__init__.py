"""Bytes of one page to its main content: the pipeline, a line a stage.

Nothing here touches the network or imports from `fetch`, `render` or `api`; the same input gives the
same answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError
from lxml.etree import _Element as HtmlElement

from service.extraction import documents, metadata, payload
from service.extraction.blocks import assemble
from service.extraction.clean import Clean, clean
from service.extraction.comments import remove_comments
from service.extraction.decode import decode
from service.extraction.density import Counts, Measures, measure, rank
from service.extraction.dom import parse, visible_chars
from service.extraction.explain import candidates
from service.extraction.facts import Facts
from service.extraction.facts import read as read_facts
from service.extraction.kind import declared_kind, kind_of
from service.extraction.markdown import to_html, to_markdown, to_text
from service.extraction.noise import prune
from service.extraction.notice import names_of, notice_of
from service.extraction.refresh import find_refresh
from service.extraction.sniff import sniff
from service.extraction.status import failure_of_status
from service.extraction.urls import base_of
from service.extraction.walls import failure_of_page
from service.failures import ExtractFailed, Failure, InvalidRequest
from service.page import Candidate, Kind, Page, Tables
from service.settings import Settings

_SETTINGS = Settings()


def extract(
    html: bytes | str,
    url: str | None = None,
    content_type: str | None = None,
    *,
    status: int = 200,
    selector: str | None = None,
    tables: Tables = "markdown",
    settings: Settings | None = None,
) -> Page:
    """The main content of a page, from its bytes or text.

    `url` resolves addresses, `content_type` is the HTTP header, `status` the origin's answer; a CSS
    `selector` overrides the choice of the body. Raises `ExtractFailed`, `BlockedBySite`,
    `PageNotFound`, `UnsupportedContent`, `UpstreamError` (a 5xx `status`) or `InvalidRequest`
    (a wrong `selector`). The input is never changed.
    """
    settings = settings or _SETTINGS
    try:
        return _extract(html, url, content_type, status, selector, tables, settings)
    except Failure as failure:
        failure.url = failure.url or url
        raise


def _extract(
    html: bytes | str,
    url: str | None,
    content_type: str | None,
    status: int,
    selector: str | None,
    tables: Tables,
    settings: Settings,
) -> Page:
    started = time.perf_counter()
    body = html.encode("utf-8", "replace") if isinstance(html, str) else bytes(html)
    form = sniff(body, content_type)
    if form != "html":
        return _document(form, body, html if isinstance(html, str) else None, url, content_type, status, tables)

    source = html if isinstance(html, str) else decode(body, content_type).text
    root = parse(source, max_nodes=settings.limits.max_nodes, max_depth=settings.limits.max_depth)
    base = base_of(root, url)
    facts = read_facts(root)
    refresh = find_refresh(root, base)
    data = payload.scripts(root)
    declared = declared_kind(root, facts, url)
    prune(root)
    failure = failure_of_page(root, facts.title, source, status, settings.extraction)
    if failure is not None:
        raise failure

    if declared != "forum":
        remove_comments(root)
    measures = measure(root)
    ranked = rank(root, measures, settings.extraction)
    explained = candidates(ranked, measures)
    parts = _selected(root, selector) if selector else []
    if not parts and ranked:
        parts = assemble(ranked[0][1], measures, settings.extraction)
    chosen = clean(parts, base)
    counts = _counts(parts, measures)
    where = "body"

    # A short post is normal, an empty one is none; a post may be what its page's title repeats.
    social = declared == "social"
    least = 1 if social else settings.extraction.min_body_chars
    names = frozenset[str]() if social else names_of(facts, url)
    notice = None if selector else notice_of(chosen.root, facts.title, names, least)
    if not selector and (notice or _chars(chosen) < least):
        other = _elsewhere(data, facts, base, max(0 if notice else _chars(chosen), least // 2))
        found = ((w, b) for w, b in other if not notice_of(b.root, facts.title, names, least))
        if (first := next(found, None)) is not None:
            where, chosen = first
            counts = Counts(_chars(chosen), _chars(chosen))
        elif not (social and _is_post(notice, root, facts, url)):
            reason = notice or f"{visible_chars(root)} visible characters"
            raise NoBody("No body was found in the page.", reason=reason, refresh=refresh)
    return _page(chosen, facts, declared, counts, where, url, base, tables, explained, started)


class NoBody(ExtractFailed):
    """No body, and `refresh` is where the page sends its reader instead, if it does."""

    def __init__(self, message: str, *, refresh: str | None = None, **evidence: object) -> None:
        super().__init__(message, **evidence)  # type: ignore[arg-type]
        self.refresh = refresh

    def _evidence(self) -> dict[str, object]:
        return {**super()._evidence(), "refresh": self.refresh}

    def as_dict(self) -> dict[str, object]:
        """The failure as the `error` object of an HTTP answer; `refresh` stays inside."""
        return {key: value for key, value in super().as_dict().items() if key != "refresh"}


def _page(
    chosen: Clean,
    facts: Facts,
    declared: Kind | None,
    counts: Counts,
    source: str,
    url: str | None,
    base: str | None,
    tables: Tables,
    explained: tuple[Candidate, ...],
    started: float,
) -> Page:
    extracted = time.perf_counter()
    site = metadata.site_of(facts, url)
    title = metadata.title_of(facts, site, url)
    if title:
        chosen.drop_title(title)
    html, text = to_html(chosen.root), to_text(chosen.root)
    images = chosen.images_with_captions()
    links = chosen.links()
    items = sum(1 for link in links if len(link.text) > 15)
    page = Page(
        url=url,
        title=title,
        site=site,
        kind=kind_of(declared, counts, items),
        markdown="",
        text=text,
        html=html,
        hero_image_url=metadata.hero_of(facts, base, images),
        source=source,
        metadata=metadata.metadata_of(facts, base),
        links=links,
        images=images,
        media=chosen.media,
        explain=explained,
    )
    markdown = to_markdown(html, chosen.root, tables)
    timings = {"extract": 1e3 * (extracted - started), "convert": 1e3 * (time.perf_counter() - extracted)}
    return replace(page, markdown=markdown, timings=timings)


def _document(
    form: str, body: bytes, text: str | None, url: str | None, content_type: str | None, status: int, tables: Tables
) -> Page:
    """A feed, or a plain-text, Markdown or JSON document."""
    started = time.perf_counter()
    failure = failure_of_status(status)
    if failure is not None:
        raise failure
    facts, kind = Facts(), "page"
    if form == "feed":
        element, title, link = documents.from_feed(body, content_type)
        facts, kind = Facts(title=title or "", meta={"og:site_name": title} if title else {}), "feed"
        chosen = clean([element], link or url)
    else:
        text = text if text is not None else decode(body, content_type).text
        if not text.strip():
            raise ExtractFailed("The document is empty.", reason="empty")
        chosen = clean([documents.from_json(text) if form == "json" else documents.from_text(text)], url)
        if form == "markdown":
            facts.title = documents.markdown_title(text) or ""
    page = _page(chosen, facts, kind, Counts(), "body", url, url, tables, (), started)  # type: ignore[arg-type]
    return replace(page, markdown=text.strip()) if form == "markdown" and text else page


def _selected(root: HtmlElement, selector: str) -> list[HtmlElement]:
    try:
        found: list[HtmlElement] = CSSSelector(selector, translator="html")(root)
    except (SelectorError, etree.XPathError, ValueError) as error:
        raise InvalidRequest(f"`selector` is no CSS selector: {error}", reason="selector") from None
    if not found:
        raise NoBody(f"Nothing in the page matches the selector {selector!r}.", reason="selector")
    inside = {descendant for element in found for descendant in element.iterdescendants()}
    return [element for element in found if element not in inside]


def _elsewhere(data: list[HtmlElement], facts: Facts, base: str | None, enough: int) -> Iterator[tuple[str, Clean]]:
    """Bodies that are not in the mark-up, and where they come from: the payload, a description longer than `enough`."""
    found = payload.read(data, facts)
    if found is not None:
        yield f"payload:{found[0]}", clean([found[1]], base)
    description = metadata.metadata_of(facts, base).description or ""
    if len(description) > enough:
        yield "description", clean([documents.from_text(description)], base)


def _is_post(notice: str | None, root: HtmlElement, facts: Facts, url: str | None) -> bool:
    """Whether a notice is what a post says: "Loading…", on a page that says more; an app's shell says nothing else."""
    told = bool(notice and notice.startswith("loading"))
    return told and notice_of(root, facts.title, names_of(facts, url), 1) is None


def _counts(parts: list[HtmlElement], measures: Measures) -> Counts:
    known = [measures[part] for part in parts if part in measures]
    return Counts(*(sum(getattr(c, name) for c in known) for name in ("chars", "p_chars", "link_chars", "links")))


def _chars(chosen: Clean) -> int:
    return sum(len("".join(text.split())) for text in chosen.root.itertext())


__all__ = ["NoBody", "extract"]
