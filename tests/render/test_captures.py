"""Captures of the render tier: pages without a body in their markup, read in a real Chromium from loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path, PurePosixPath

import pytest
import pytest_asyncio

from service import Reader
from service.extraction.dom import parse, visible_chars
from service.extraction.noise import prune
from service.failures import Failure
from service.page import Page
from tests.captures import ROOT, Capture, compare, compare_failure, folders, load
from tests.conftest import loopback
from tests.origin import Handler, Origin, Request

pytestmark = pytest.mark.asyncio(loop_scope="module")

ELSEWHERE = "http://elsewhere.example"
"""What the files of a capture call another site; it becomes the address of a second origin."""

SECONDS = 10.0
"""Budget of a page; one that is to fail is waited for until its end."""

FAILURE_SECONDS = 4.0
"""Budget of a page that is to fail: nothing comes later than that."""

ENDLESS = ("render-scroll-endless",)
"""Captures that are never still, and so may be cut."""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}

Origins = tuple[Origin, Origin]


@pytest.fixture(scope="module")
def origins() -> Iterator[Origins]:
    """The origin of every page, and the one that their cross-origin parts come from."""
    with Origin() as origin, Origin() as elsewhere:
        yield origin, elsewhere


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(origins: Origins) -> AsyncIterator[Reader]:
    async with Reader(loopback(*(origin.port for origin in origins))) as running:
        yield running


def serve(capture: Capture, origin: Origin, elsewhere: Origin) -> str:
    """Serve a rendered capture's files below `/NAME/`, on both origins; the address that is read."""
    for name, data in capture.files.items():
        path = f"/{capture.name}/{name}"
        body = data.replace(ELSEWHERE.encode(), elsewhere.url("").encode())
        content_type = TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
        for server in (origin, elsewhere):
            server.route(path, body, content_type=content_type)
            if seconds := capture.delay.get(name):
                server.raw(path, _late(seconds, body, content_type))
    return origin.url(f"/{capture.name}/{capture.url or 'page.html'}")


def _late(seconds: float, body: bytes, content_type: str) -> Handler:
    head = f"HTTP/1.1 200 X\r\nContent-Length: {len(body)}\r\nContent-Type: {content_type}\r\n\r\n"

    async def answer(_: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(head.encode() + body)
        await writer.drain()

    return answer


async def _answer(reader: Reader, url: str, capture: Capture) -> Page | Failure:
    seconds = FAILURE_SECONDS if capture.expected.failure else SECONDS
    try:
        return await reader.read(url, render=True, wait_for=capture.wait_for, timeout=seconds)
    except Failure as failure:
        return failure


def _wrong(capture: Capture, answer: Page | Failure) -> list[str]:
    if isinstance(answer, Failure):
        return compare_failure(capture, answer)
    wrong = [] if answer.tier == "rendered" else [f"tier: expected rendered, got {answer.tier}"]
    if answer.truncated and capture.name not in ENDLESS:
        wrong.append("truncated: the page was not seen to be still, and took its whole budget")
    return wrong + compare(capture, answer)


@pytest.mark.parametrize("folder", folders("rendered"), ids=lambda folder: folder.name)
async def test_capture(folder: Path, reader: Reader, origins: Origins) -> None:
    """The page gives the expected answer from its rendered document."""
    capture = load(folder)
    wrong = _wrong(capture, await _answer(reader, serve(capture, *origins), capture))
    assert not wrong, f"{capture.name}\n{capture.shape}\n" + "\n".join(wrong)


@pytest.mark.parametrize("folder", folders("rendered"), ids=lambda folder: folder.name)
async def test_without_a_browser_there_is_no_body(folder: Path, reader: Reader, origins: Origins) -> None:
    """The gate's case: the markup is under the characters of a body, and no request for a part of it is made."""
    capture = load(folder)
    url = serve(capture, *origins)
    before = [len(origin.requests) for origin in origins]
    with pytest.raises(Failure) as caught:
        await reader.read(url, render=False)
    assert caught.value.code == capture.static, caught.value.message
    if capture.static == "EXTRACT_FAILED":
        limits = reader.settings.limits
        root = parse(capture.page.decode(), max_nodes=limits.max_nodes, max_depth=limits.max_depth)
        prune(root)
        assert visible_chars(root) < reader.settings.extraction.min_body_chars
    seen = [request.target for origin, n in zip(origins, before, strict=True) for request in origin.requests[n:]]
    assert seen == [url.removeprefix(origins[0].url("")).partition("#")[0]]


@pytest.mark.parametrize("name", ["render-location-replace", "render-meta-refresh-by-script"])
async def test_the_address_is_where_the_script_led(name: str, reader: Reader, origins: Origins) -> None:
    """`url` is the page that has the body, not the one that was asked for."""
    page = await reader.read(serve(load(ROOT / name), *origins), render=True)
    assert (page.url or "").partition("?")[0] == origins[0].url(f"/{name}/story.html")


async def test_pages_at_once(reader: Reader, origins: Origins) -> None:
    """Pages read at the same time keep their bodies apart."""
    names = (
        "react-late-fetch",
        "shadow-nested",
        "frame-nested",
        "location-replace",
        "chunked-growth",
        "document-write",
    )
    captures = [load(ROOT / f"render-{name}") for name in names]
    urls = [serve(capture, *origins) for capture in captures]
    answers = await asyncio.gather(*(_answer(reader, url, c) for url, c in zip(urls, captures, strict=True)))
    wrong = {c.name: _wrong(c, answer) for c, answer in zip(captures, answers, strict=True)}
    assert not {name: found for name, found in wrong.items() if found}


# Pages that are the same with and without a browser. Not among them: pages in <noscript>, which a browser that runs
# scripts shows nobody (noscript-thread, lazy-images); payloads in scripts that a rendered document need not keep
# (payload-*); pages that a script of their own changes; frames and stylesheets of other hosts, which loopback has not.
ALIKE = (
    "article-in-aside",
    "bare-div-app",
    "br-article",
    "bytes-euc-kr-meta-only",
    "comments-longer-than-body",
    "early-end",
    "flat-document",
    "forum-thread",
    "header-footer-inside",
    "hidden-labels",
    "japanese-short-story",
    "markdown-code-lines",
    "markdown-inline-oddities",
    "markdown-lists-nested",
    "markdown-math-dollars",
    "markdown-quotes-and-emphasis",
    "markdown-source-newlines-ko",
    "markdown-table-of-links",
    "markdown-table-spans",
    "portal-chrome-heavy",
    "relative-og-image",
    "svg-sprite-first",
    "twin-quoting-article-ko",
    "widget-articles",
)


@pytest.mark.parametrize("name", ALIKE)
async def test_one_extraction(name: str, reader: Reader, origins: Origins) -> None:
    """The rendered document of a page without scripts says what its markup says, in every field."""
    capture = load(ROOT / name)
    address = f"/alike/{name}/page.html"
    url = origins[0].route(address, capture.page, content_type=capture.content_type or "text/html")
    static = await reader.read(url, render=False)
    rendered = await reader.read(url, render="always")
    assert (static.tier, rendered.tier) == ("static", "rendered")
    for field in ("url", "title", "site", "kind", "hero_image_url", "source", "markdown", "text", "links", "images"):
        assert getattr(rendered, field) == getattr(static, field), field
    assert rendered.metadata == static.metadata
