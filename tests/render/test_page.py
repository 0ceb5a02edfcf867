"""One page in the browser: when it is ready, what is fetched for it, what is written out of it, and what it is not."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_asyncio

from service import Failure, Page, Reader
from service.failures import Overloaded, UpstreamTimeout
from tests.conftest import loopback
from tests.hostile import repeats, sends
from tests.origin import Origin
from tests.render.hostile import BODY, TEXT, app

RSS = (
    "<rss version='2.0'><channel><title>F</title><item><title>I</title>"
    f"<description>{TEXT * 3}</description></item></channel></rss>"
)
STATUSES = {
    404: "PAGE_NOT_FOUND",
    410: "PAGE_NOT_FOUND",
    500: "UPSTREAM_ERROR",
    503: "UPSTREAM_ERROR",
    403: "BLOCKED_BY_SITE",
}
QUIET = 1.3


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def patient(origin: Origin) -> AsyncIterator[Reader]:
    """A reader that asks for a long quiet, so that what does not wait for it shows."""
    async with Reader(loopback(origin.port, render={"quiet_seconds": QUIET, "settle_seconds": 3})) as running:
        await running.read(origin.url("/normal"), render="always")
        yield running


async def seconds(reader: Reader, url: str, **options: object) -> tuple[float, Page]:
    started = time.monotonic()
    page = await reader.read(url, render="always", **options)  # type: ignore[arg-type]
    return time.monotonic() - started, page


async def failed(reader: Reader, url: str, **options: object) -> Failure:
    with pytest.raises(Failure) as caught:
        await reader.read(url, render="always", **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    "script", ["", "setTimeout(() => 0, 50)", "requestAnimationFrame(() => 0)", "fetch('/normal')"]
)
async def test_a_page_that_cannot_change_is_read_at_once(patient: Reader, origin: Origin, script: str) -> None:
    took, page = await seconds(patient, origin.route("/done", app(script)))
    assert took < QUIET
    assert page.markdown.count(TEXT.strip()) == 12
    assert not page.truncated


@pytest.mark.parametrize(
    "script",
    [
        "setInterval(() => 0, 400)",
        "setTimeout(() => 0, 60000)",
        "setTimeout('0', 60000)",
        "const f = () => requestAnimationFrame(f); f()",
        "new Worker(URL.createObjectURL(new Blob([''])))",
        "new IntersectionObserver(() => 0)",
        "document.body.animate([{opacity: 1}, {opacity: 1}], 60000)",
        "document.body.append(document.createElement('iframe'))",
    ],
)
async def test_a_page_that_may_change_is_watched(patient: Reader, origin: Origin, script: str) -> None:
    took, page = await seconds(patient, origin.route("/open", app(script)))
    assert QUIET <= took < QUIET + 2
    assert not page.truncated


@pytest.mark.parametrize(
    "late",
    [
        "setTimeout(() => root.append('The end of it.'), 900)",
        "setTimeout(() => fetch('/normal').then(() => root.append('The end of it.')), 600)",
        "setTimeout(() => requestIdleCallback(() => root.append('The end of it.')), 600)",
        "setTimeout(() => new Promise((go) => setTimeout(go, 500)).then(() => root.append('The end of it.')), 500)",
        "const c = new MessageChannel(); c.port2.onmessage = () => root.append('The end of it.');"
        "setTimeout(() => c.port1.postMessage(0), 900)",
        "new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(0), 900)']))).onmessage ="
        "() => root.append('The end of it.')",
        "clearTimeout(setTimeout(() => 0, 9)); setTimeout((text) => root.append(text), 900, 'The end of it.')",
    ],
)
async def test_what_comes_late_is_waited_for(patient: Reader, origin: Origin, late: str) -> None:
    _, page = await seconds(patient, origin.route("/late", app(late)), selector="body")
    assert "The end of it." in page.markdown


async def test_a_page_still_growing_at_the_end_is_truncated(reader: Reader, origin: Origin) -> None:
    growing = app("setInterval(() => root.insertAdjacentHTML('beforeend', '<p>One more line of it.</p>'), 50)")
    took, page = await seconds(reader, origin.route("/growing", growing), timeout=6)
    assert page.truncated
    assert TEXT.strip() in page.markdown
    assert took < 6


async def test_a_document_that_never_ends_is_read_as_far_as_it_came(reader: Reader, origin: Origin) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>A page</title>" + BODY.encode()
    url = origin.raw("/endless", repeats(head, b"<p>And more and more of it.</p>", pause=0.05))
    _, page = await seconds(reader, url, timeout=4)
    assert page.truncated
    assert TEXT.strip() in page.markdown


async def test_wait_for(reader: Reader, origin: Origin) -> None:
    url = origin.route(
        "/w", app("setTimeout(() => root.insertAdjacentHTML('beforeend', '<p id=there>Now.</p>'), 1500)")
    )
    _, page = await seconds(reader, url, wait_for="#there", selector="body")
    assert "Now." in page.markdown
    took, page = await seconds(reader, url, wait_for=".never", timeout=4)
    assert page.truncated
    assert took < 5
    assert TEXT.strip() in page.markdown, "what there is is the answer"
    took, _ = await seconds(reader, url, wait_for="article")
    assert took < 1.5
    failure = await failed(reader, url, wait_for="p[")
    assert (failure.code, failure.reason) == ("INVALID_REQUEST", "wait_for")
    failure = await failed(reader, url, wait_for=".never", timeout=4, selector="#none")
    assert failure.code == "EXTRACT_FAILED"


async def test_nothing_that_is_no_text_is_fetched(reader: Reader, origin: Origin) -> None:
    seen = (
        "<img src=/fetched/a.png><img src=/fetched/b srcset='/fetched/c.jpg 2x'>"
        "<picture><source srcset=/fetched/d.webp><img src=/fetched/e.jpg></picture>"
        "<video src=/fetched/f.mp4 poster=/fetched/g.jpg autoplay muted></video>"
        "<video src=/fetched/h autoplay muted></video><audio src=/fetched/i preload=auto></audio>"
        "<svg><image href=/fetched/j.png /></svg><input type=image src=/fetched/k.png>"
        "<link rel=preload as=image href=/fetched/l><link rel=preload as=font crossorigin href=/fetched/m>"
        "<link rel=icon href=/fetched/n.ico><style>@font-face{font-family:x;src:url(/fetched/o.woff2)}"
        "body{font-family:x;background:url(/fetched/p.png)}</style>"
    )
    url = origin.route("/media", app("new Image().src = '/fetched/q'; setTimeout(() => 0, 700)", BODY + seen))
    before = len(origin.requests)
    _, page = await seconds(reader, url, selector="body")
    assert [path for path in origin.paths()[before:] if "fetched" in path] == []
    assert {image.url.rsplit("/", 1)[1] for image in page.images} >= {"a.png"}, "their addresses stay"


async def test_requests_share_nothing(reader: Reader, origin: Origin) -> None:
    url = origin.route(
        "/state",
        app(
            "const seen = [document.cookie, localStorage.x, sessionStorage.x].join('|');"
            "document.cookie = 'a=1'; localStorage.x = sessionStorage.x = '1'; indexedDB.open('x');"
            "root.insertAdjacentHTML('beforeend', `<p>Found here: ${seen}.</p>`)"
        ),
        headers={"Set-Cookie": "b=2; HttpOnly", "Cache-Control": "max-age=3600"},
    )
    for _ in range(2):
        _, page = await seconds(reader, url, selector="body")
        assert "Found here: ||." in page.markdown
        assert "cookie" not in origin.requests[-1].headers


@pytest.mark.parametrize(
    ("content_type", "body", "headers"),
    [
        ("application/pdf", "%PDF-1.7", {}),
        ("image/png", "\x89PNG", {}),
        ("application/json", '{"title": "x", "text": "' + TEXT * 3 + '"}', {}),
        ("text/plain", TEXT * 3, {}),
        ("application/rss+xml", RSS, {}),
        ("text/html", BODY, {"Content-Disposition": "attachment; filename=a.html"}),
        ("application/octet-stream", "\x00\x01", {}),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" in value and len(value) < 30 else "",
)  # fmt: skip
async def test_what_a_browser_has_no_document_of_is_the_static_tiers(
    reader: Reader, origin: Origin, content_type: str, body: str, headers: dict[str, str]
) -> None:
    url = origin.route("/other", body.encode("latin-1"), content_type=content_type, headers=headers)
    answers: list[object] = []
    for mode in ("always", False):
        try:
            page = await reader.read(url, render=mode)  # type: ignore[arg-type]
            answers.append((page.markdown, page.kind, page.tier))
        except Failure as failure:
            answers.append((failure.code, failure.reason))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("status", "code"), STATUSES.items())
async def test_an_error_status_is_no_article(reader: Reader, origin: Origin, status: int, code: str) -> None:
    """Also when its page is drawn by a script, as long as any wall's."""
    url = origin.route(
        "/status", app("", "<h1>Sorry</h1><p>Something is not as it should be here today.</p>"), status=status
    )
    failure = await failed(reader, url, timeout=4)
    assert (failure.code, failure.upstream_status) == (code, status)


@pytest.mark.parametrize("status", [204, 205])
async def test_an_answer_without_content(reader: Reader, origin: Origin, status: int) -> None:
    failure = await failed(reader, origin.route("/none", status=status), timeout=4)
    with pytest.raises(Failure) as static:
        await reader.read(origin.url("/none"))
    assert failure.code == static.value.code


async def test_what_is_written_out_of_a_document(reader: Reader, origin: Origin) -> None:
    """Odd names, raw text, quotes and entities survive; scripts, handlers, comments and templates do not."""
    odd = (
        "<p title='a \"b\" &amp; <c>'>Less &lt;b&gt; than &amp;amp; more. " + TEXT + "</p><p onclick='x()'>Click. </p>"
        "<template><p>Template text.</p></template><!-- Comment text. --><noscript>Noscript text.</noscript>"
        "<svg><title>Drawn</title><text>Drawn text</text></svg><math><mi>x</mi></math>"
        "<xmp><b>raw & text</b></xmp><pre>\n\n  kept  </pre><textarea>typed</textarea>"
    )
    tag = "<scr' + 'ipt>Script text.</scr' + 'ipt>"
    script = f"root.insertAdjacentHTML('beforeend', '{tag}'); root.append(document.createElement('x:y'))"
    _, page = await seconds(reader, origin.route("/odd", app(script, BODY + odd)), selector="body")
    assert "Less <b> than &amp; more." in page.text
    assert "Click." in page.text
    for gone in ("Template text", "Comment text", "Noscript text", "Script text", "onclick"):
        assert gone not in page.html, gone


async def test_a_tiny_budget_is_kept(reader: Reader, origin: Origin) -> None:
    for budget in (0.01, 0.1, 0.5):
        started = time.monotonic()
        with suppress(UpstreamTimeout, Overloaded):
            await reader.read(origin.url("/normal"), render="always", timeout=budget)
        assert time.monotonic() - started < budget + 1
    assert (await reader.read(origin.url("/normal"), render="always")).tier == "rendered"


HIDDEN = "<div class=gone>" + "<p>Nobody sees this line of it, which is hidden by a style sheet.</p>" * 30 + "</div>"
STYLE = "<style>.gone { display: none } .contents { display: contents }</style>"


async def test_what_no_reader_sees_is_no_body(reader: Reader, origin: Origin) -> None:
    frame = "<iframe class=gone src=/normal></iframe><iframe style='width:1px;height:1px' src=/normal></iframe>"
    shown = f"<div class=contents>{BODY}</div><details><summary>More</summary><p>Folded away.</p></details>"
    _, page = await seconds(reader, origin.route("/hidden", app("", STYLE + HIDDEN + shown + frame)))
    assert "Nobody sees" not in page.markdown
    assert page.markdown.count(TEXT.strip()) == 12


async def test_a_page_that_hides_all_it_has_is_read(reader: Reader, origin: Origin) -> None:
    """As some do until their reader has chosen cookies."""
    url = origin.route("/hidden", app("", STYLE + f"<div class=gone>{BODY}</div>"))
    page = await reader.read(url, render="always", timeout=4)
    assert TEXT.strip() in page.markdown


async def test_a_frame_says_nothing_about_its_page(reader: Reader, origin: Origin) -> None:
    inner = (
        "<base href='http://evil.example/'><meta property='og:title' content='Evil'><title>Evil</title>"
        "<p>In the frame.</p><script>document.body.append(...document.head.children)</script>"
    )
    origin.route("/inner", inner)
    body = BODY + "<p>" + TEXT + "<a href='/next'>The next one</a></p><iframe src=/inner width=300 height=200></iframe>"
    _, page = await seconds(reader, origin.route("/outer", app("", body)), selector="body")
    assert page.title == "A page"
    assert {link.url for link in page.links} == {origin.url("/next")}


async def test_names_and_raw_text_that_would_break_the_document(reader: Reader, origin: Origin) -> None:
    script = (
        "for (const name of ['plaintext', 'xmp', 'é', '_x', 'x:y', '한글']) {"
        "  try { root.prepend(document.createElement(name)); } catch { continue; } }"
        "const s = document.createElement('style'); s.textContent = '</style><p>Out of a style.</p>'; root.append(s);"
        "const j = document.createElement('script'); j.type = 'application/json';"
        "j.textContent = '\"</scr' + 'ipt><p>Out of a script.</p>\"'; root.append(j);"
        "document.title = 'A page ' + 'x'.repeat(5 << 20); root.dataset.x = 'y'.repeat(5 << 20);"
    )
    _, page = await seconds(reader, origin.route("/names", app(script)))
    assert page.markdown.count(TEXT.strip()) == 12
    for broken in ("Out of", "<한글", "<é", "</article>"):
        assert broken not in page.text, broken


@pytest.mark.parametrize("kind", ["classic", "module", "blob"])
async def test_a_worker_may_bring_the_text(reader: Reader, origin: Origin, kind: str) -> None:
    origin.route("/work.js", f"postMessage({BODY!r})", content_type="text/javascript")
    made = {
        "classic": "new Worker('work.js')",
        "module": "new Worker(new URL('/work.js', location), {type: 'module'})",
        "blob": f"new Worker(URL.createObjectURL(new Blob([{f'postMessage({BODY!r})'!r}])))",
    }[kind]
    script = f"{made}.onmessage = (event) => {{ root.innerHTML = event.data; }}"
    _, page = await seconds(reader, origin.route("/worked", app(script, "")))
    assert page.markdown.count(TEXT.strip()) == 12


async def test_a_page_without_a_charset_is_utf_8(reader: Reader, origin: Origin) -> None:
    korean = "등대지기는 저녁마다 지나가는 배를 하나하나 센다. " * 6
    url = origin.route("/bare", f"<title>A page</title><article><p>{korean}</p></article>", content_type="text/html")
    _, page = await seconds(reader, url)
    assert korean.strip() in page.markdown


async def test_a_page_whose_text_was_still_on_its_way_can_be_tried_again(reader: Reader, origin: Origin) -> None:
    origin.raw("/slow.json", sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", then="stall"))
    url = origin.route("/waiting", app("fetch('/slow.json').then(() => { root.innerHTML = 'x'; })", ""))
    failure = await failed(reader, url, timeout=3)
    assert (failure.code, failure.retryable) == ("UPSTREAM_TIMEOUT", True)


async def test_a_selector_waits_for_its_element(reader: Reader, origin: Origin) -> None:
    late = app(f"setTimeout(() => {{ root.innerHTML += '<section id=there>{TEXT}</section>' }}, 900)")
    _, page = await seconds(reader, origin.route("/selected", late), selector="#there")
    assert page.markdown.strip() == TEXT.strip()
    page = await reader.read(origin.route("/empty", app("")), render=True, selector="#root article")
    assert page.tier == "rendered"


async def test_a_limit_of_the_site_says_when_to_come_back(reader: Reader, origin: Origin) -> None:
    url = origin.route("/busy", app("", "<p>Busy.</p>"), status=503, headers={"Retry-After": "7"})
    failure = await failed(reader, url, timeout=3)
    assert (failure.code, failure.retry_after) == ("UPSTREAM_ERROR", 7)


async def test_requests_beyond_the_limit_are_refused_and_the_rest_goes_on(origin: Origin) -> None:
    origin.route("/part", "x")
    many = "for (let i = 0; i < 60; i++) fetch('/part?' + i).catch(() => 0);"
    late = f"setTimeout(() => {{ root.innerHTML = {BODY!r} }}, 600)"
    async with Reader(loopback(origin.port, render={"max_requests": 30})) as reader:
        _, page = await seconds(reader, origin.route("/many", app(many + late, "")))
    assert page.truncated
    assert page.markdown.count(TEXT.strip()) == 12
    assert len([path for path in origin.paths() if path.startswith("/part")]) <= 30


@pytest.mark.parametrize("status", [200, 401, 403, 429, 503])
async def test_what_cannot_change_is_not_waited_for(reader: Reader, origin: Origin, status: int) -> None:
    started = time.monotonic()
    await failed(reader, origin.route("/refused", "<p>Nope.</p>", status=status), timeout=8)
    assert time.monotonic() - started < 3


async def test_a_page_that_waits_for_its_pictures_gets_on(reader: Reader, origin: Origin) -> None:
    script = (
        "const image = new Image(); image.onload = () => image.decode().then(() => "
        f"{{ root.innerHTML = {BODY!r} }}); image.src = '/picture.png'"
    )
    _, page = await seconds(reader, origin.route("/pictures", app(script, "")))
    assert page.markdown.count(TEXT.strip()) == 12


POLICY = {"Content-Security-Policy": "default-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'"}


async def test_a_page_that_forbids_eval_is_watched_and_muted_all_the_same(patient: Reader, origin: Origin) -> None:
    took, page = await seconds(patient, origin.route("/policy", app(""), headers=POLICY))
    assert took < QUIET, "the script that says whether a page can change has run"
    flood = "setInterval(() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(1000)); })"
    _, page = await seconds(patient, origin.route("/policy", app(flood), headers=POLICY))
    assert page.markdown.count(TEXT.strip()) == 12


async def test_our_script_takes_no_name_from_a_page(reader: Reader, origin: Origin) -> None:
    own = "let mute = 1, replace = 2, waiting = 3, open = 4;"
    _, page = await seconds(reader, origin.route("/names", app("").replace("<div", f"<script>{own}</script><div", 1)))
    assert page.markdown.count(TEXT.strip()) == 12
