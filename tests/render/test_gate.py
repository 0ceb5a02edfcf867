"""The gate: who gets a browser, and what is answered when it does no better."""

from __future__ import annotations

import pytest

from service import Failure, Reader
from tests.origin import Origin
from tests.render.hostile import BODY, TEXT, app

DESCRIBED = f"<title>A page</title><meta property='og:description' content='{TEXT * 2}'>"
ARC = f'<script>Fusion.globalContent={{"content_elements":[{{"type":"text","content":"{TEXT * 3}"}}]}};</script>'
CHALLENGE = "<title>Just a moment...</title><p>Checking your browser before you go on.</p>"
PASSED = f"<script>document.title = 'A page'; document.body.innerHTML = {BODY!r}</script>"

NOTICE = "<noscript>You need to enable JavaScript to run this app. Please turn it on and come back.</noscript>"
TITLE = "A page of a certain length, which says what it is about and goes on about it at length"
TITLED = app("document.querySelector('h1').remove()").replace("<div", f"<h1>{TITLE}</h1><div", 1)
TITLED = TITLED.replace("A page</title>", f"{TITLE}</title>")

RENDERED: dict[str, str] = {
    "an empty app": app(""),
    "a script notice": NOTICE + app(""),
    "a description only": DESCRIBED + app(""),
    "a challenge that needs script": CHALLENGE + PASSED,
    "its own title": TITLED,
    "a short social post": "<meta property='og:type' content='profile'><p>Hello.</p>" + app(""),
}  # fmt: skip
STATIC: dict[str, str] = {
    "a body": BODY,
    "a typed payload": "<title>A page</title>" + ARC + app(""),
}


@pytest.mark.parametrize("name", RENDERED)
async def test_what_goes_on_to_the_browser(name: str, reader: Reader, origin: Origin) -> None:
    url = origin.route("/gate", RENDERED[name])
    page = await reader.read(url, render=True)
    assert (page.tier, page.source) == ("rendered", "body")
    assert TEXT.strip() in page.markdown
    assert "fetch" in page.timings
    assert "render" in page.timings


@pytest.mark.parametrize("name", STATIC)
async def test_what_does_not(name: str, reader: Reader, origin: Origin) -> None:
    before = len(origin.requests)
    page = await reader.read(origin.route("/gate", STATIC[name]), render=True)
    assert page.tier == "static"
    assert len(origin.requests) == before + 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"status": 404, "body": app("")}, "PAGE_NOT_FOUND"),
        ({"status": 500, "body": app("")}, "UPSTREAM_ERROR"),
        ({"body": b"%PDF-1.7"}, "UNSUPPORTED_CONTENT"),
        ({"status": 302, "headers": {"Location": "http://169.254.169.254/"}}, "ADDRESS_FORBIDDEN"),
        ({"body": "<p>You must be logged in to view this page.</p><script></script>"}, "BLOCKED_BY_SITE"),
    ],
)  # fmt: skip
async def test_failures_that_no_browser_cures(
    reader: Reader, origin: Origin, answer: dict[str, object], code: str
) -> None:
    url = origin.route("/gate", **answer)  # type: ignore[arg-type]
    before = len(origin.requests)
    with pytest.raises(Failure) as caught:
        await reader.read(url, render=True)
    assert caught.value.code == code
    assert len(origin.requests) == before + 1


async def test_a_description_is_kept_when_the_browser_finds_no_more(reader: Reader, origin: Origin) -> None:
    page = await reader.read(
        origin.route("/gate", DESCRIBED + "<div id=root></div><script></script>"), render=True, timeout=4
    )
    assert page.source == "description"
    assert TEXT.strip() in page.markdown


async def test_what_stays_a_wall_is_one(reader: Reader, origin: Origin) -> None:
    with pytest.raises(Failure) as caught:
        await reader.read(origin.route("/gate", CHALLENGE + "<script></script>"), render=True, timeout=4)
    assert caught.value.code == "BLOCKED_BY_SITE"
