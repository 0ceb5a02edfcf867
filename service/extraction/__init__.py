"""Bytes of one page to its main content: the pipeline, a line a stage.

Nothing here touches the network or imports from `fetch`, `render` or `api`; the same input gives the
same answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError
from lxml.etree import _Element as HtmlElement

from service.extraction import documents, feeds, metadata, payload, post, posts
from service.extraction.assembly import leave_only
from service.extraction.choice import ENOUGH_CHARS, choose
from service.extraction.clean import Clean, clean, prepare
from service.extraction.decode import decode
from service.extraction.dom import parse, printable
from service.extraction.explain import candidates, judged
from service.extraction.faces import to_html, to_text
from service.extraction.facts import Facts
from service.extraction.facts import read as read_facts
from service.extraction.footnotes import with_notes
from service.extraction.kind import declared_kind
from service.extraction.markdown import to_markdown
from service.extraction.noise import prune
from service.extraction.notice import names_of, notice_of
from service.extraction.paywall import partial_evidence, without_barrier
from service.extraction.refresh import find_refresh
from service.extraction.segment import cut
from service.extraction.sniff import sniff
from service.extraction.status import failure_of_status
from service.extraction.streamed import put_in_place
from service.extraction.urls import base_of
from service.extraction.walls import failure_of_page
from service.failures import ExtractFailed, Failure, InvalidRequest
from service.page import Block, Candidate, Kind, Page, Tables
from service.paging import outline
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
    explain: bool = False,
    settings: Settings | None = None,
) -> Page:
    """The main content of a page, from its bytes or text.

    `url` resolves addresses, `content_type` is the HTTP header, `status` the origin's answer; a CSS
    `selector` overrides the choice of the body; `explain` also tells how every block was judged.
    Raises `ExtractFailed`, `BlockedBySite`, `PageNotFound`, `UnsupportedContent`, `UpstreamError` (a 5xx
    `status`) or `InvalidRequest` (a wrong `selector`). The input is never changed.
    """
    settings = settings or _SETTINGS
    try:
        return _extract(html, url, content_type, status, selector, tables, explain, settings)
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
    explain: bool,
    settings: Settings,
) -> Page:
    started = time.perf_counter()
    body = html.encode("utf-8", "replace") if isinstance(html, str) else bytes(html)
    form = sniff(body, content_type)
    if form != "html":
        return _document(form, body, html if isinstance(html, str) else None, url, content_type, status, tables)

    source = html if isinstance(html, str) else decode(body, content_type, url).text
    root = parse(source, max_nodes=settings.limits.max_nodes, max_depth=settings.limits.max_depth)
    base = base_of(root, url)
    facts = read_facts(root)
    refresh = find_refresh(root, base)
    data = payload.gather(root, url)
    put_in_place(root)
    prepare(root)
    prune(root)
    failure = failure_of_page(root, facts, source, status, settings.extraction)
    if failure is not None:
        raise failure

    blocks = cut(root)
    declared = declared_kind(blocks, facts, url)
    choice = choose(blocks, facts, url, declared, settings.extraction)
    details = metadata.details_of(facts, url, base, blocks)
    cut_off = () if selector else partial_evidence(root, facts, blocks.texts, choice.kept.tolist())
    explained = candidates(choice), judged(choice, settings.extraction.weights) if explain else ()
    # A short post is normal, an empty one is none; a post may be what its page's title repeats.
    social = declared == "social"
    names = frozenset[str]() if social else names_of(facts, url)
    is_shell = social and notice_of(root, facts.title, names_of(facts, url), 1) is not None
    kept = with_notes(blocks, without_barrier(blocks.texts, choice.kept) if cut_off else choice.kept, base)
    parts = _selected(root, selector) if selector else leave_only(blocks, kept)
    chosen = clean(parts, base)
    where = "body"
    kind: Kind = choice.kind or "page"

    least = 1 if social else settings.extraction.min_body_chars
    notice = None if selector else notice_of(chosen.root, facts.title, names, least)
    if not selector and (notice or _chars(chosen) < least):
        # What a page full of text describes, and is of no kind, is its site.
        enough = math.inf if not (declared or notice) and blocks.chars.sum() >= ENOUGH_CHARS else least // 2
        other = _elsewhere(data, facts, base, max(0 if notice else _chars(chosen), enough))
        found = (item for item in other if not notice_of(item[1].root, facts.title, names, least))
        if (first := next(found, None)) is not None:
            where, chosen = first[:2]
            kind = first[2] or kind
            if first[3] is not facts:  # data that names its own author and time
                facts = first[3]
                details = metadata.details_of(facts, url, base, blocks)
        elif not (social and notice and notice.startswith("loading") and not is_shell):
            # "Loading…" is what a post says, on a page that says more; an app's shell says nothing else.
            reason = notice or f"{blocks.chars.sum()} visible characters"
            raise NoBody("No body was found in the page.", reason=reason, refresh=refresh)
    if where == "body" and not selector and (whole := payload.continued(data, facts, chosen.root)) is not None:
        where, chosen = f"payload:{whole.name}", clean([whole.body], base)
    page = _page(chosen, facts, kind, where, url, base, tables, explained, started, details)
    if not cut_off or where != "body":
        return page
    return replace(page, metadata=replace(page.metadata, partial=True, partial_evidence=cut_off))


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
    kind: Kind,
    source: str,
    url: str | None,
    base: str | None,
    tables: Tables,
    explained: tuple[tuple[Candidate, ...], tuple[Block, ...]],
    started: float,
    details: metadata.Details,
) -> Page:
    extracted = time.perf_counter()
    title = details.title
    if title and _chars(chosen) > 2 * len(title):  # a body that hardly says more would be gone with it
        chosen.drop_title(title)
    html, text = to_html(chosen.root), to_text(chosen.root)
    images = metadata.told(chosen.images_with_captions(), details.images)
    links = chosen.links()
    page = Page(
        url=url,
        title=title,
        site=details.site,
        kind=kind,
        markdown="",
        text=text,
        html=html,
        hero_image_url=metadata.hero_of(facts, base, images),
        source=source,
        metadata=metadata.counted(details.metadata, text),
        links=links,
        images=images,
        media=chosen.media,
        explain=explained[0],
        blocks=explained[1],
    )
    markdown = to_markdown(html, chosen.root, tables)
    timings = {"extract": 1e3 * (extracted - started), "convert": 1e3 * (time.perf_counter() - extracted)}
    return replace(page, markdown=markdown, outline=outline(markdown), timings=timings)


def _document(
    form: str, body: bytes, text: str | None, url: str | None, content_type: str | None, status: int, tables: Tables
) -> Page:
    """A feed, a post, or a plain-text, Markdown or JSON document."""
    started = time.perf_counter()
    failure = failure_of_status(status)
    if failure is not None:
        raise failure
    facts = Facts()
    kind: Kind = "page"
    if form == "feed":
        feed = feeds.read(body, content_type, url)
        named = {"og:site_name": feed.title, "description": feed.description}
        facts, kind = Facts(title=feed.title, meta={key: value for key, value in named.items() if value}), "feed"
        chosen = clean([feeds.to_element(feed)], feed.link or url)
    elif form == "post":
        said = posts.from_document(body)
        facts, kind = post.facts_of(said), "article" if said.is_article else "social"
        chosen = clean([post.to_element(said)], said.url or url)
    else:
        text = text if text is not None else decode(body, content_type, url).text
        if not text.strip():
            raise ExtractFailed("The document is empty.", reason="empty")
        chosen = clean([documents.from_json(text) if form == "json" else documents.from_text(text)], url)
        if form == "markdown":
            facts.title = documents.markdown_title(text) or ""
    page = _page(chosen, facts, kind, "body", url, url, tables, ((), ()), started, metadata.details_of(facts, url, url))
    if form != "markdown" or not text:
        return page
    markdown = printable(text).strip()
    return replace(page, markdown=markdown, outline=outline(markdown))


def _selected(root: HtmlElement, selector: str) -> list[HtmlElement]:
    try:
        found: list[HtmlElement] = CSSSelector(selector, translator="html")(root)
    except (SelectorError, etree.XPathError, ValueError) as error:
        raise InvalidRequest(f"`selector` is no CSS selector: {error}", reason="selector") from None
    if not found:
        raise NoBody(f"Nothing in the page matches the selector {selector!r}.", reason="selector")
    inside = {descendant for element in found for descendant in element.iterdescendants()}
    return [element for element in found if element not in inside]


def _elsewhere(
    data: payload.Data, facts: Facts, base: str | None, enough: float
) -> Iterator[tuple[str, Clean, Kind | None, Facts]]:
    """Bodies that are not in the mark-up: the payload, a description longer than `enough`. Each with its source's name,
    its kind, and the facts that go with it."""
    found = payload.read(data, facts)
    if found is not None:
        told = replace(facts, nodes=[*facts.nodes, *found.facts.nodes]) if found.facts else facts
        yield f"payload:{found.name}", clean([found.body], base), found.kind, told
    description = metadata.description_of(facts) or ""
    if len(description) > enough:
        yield "description", clean([documents.from_text(description)], base), None, facts


def _chars(chosen: Clean) -> int:
    return sum(len("".join(text.split())) for text in chosen.root.itertext())


__all__ = ["NoBody", "extract"]
