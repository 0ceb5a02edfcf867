"""Reading over HTTP: the answer's fields, every failure's code and status, bad requests, and what comes after them."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.conftest import loopback
from tests.hostile import BROKEN, HEAD, PAGE, sends
from tests.origin import Origin
from tests.server import serving

SEVEN = ["url", "title", "site", "kind", "markdown", "hero_image_url", "truncated"]
ERROR = {"code", "message", "retryable", "retry_after", "upstream_status", "reason", "url"}


def read(client: httpx2.Client, url: str, **fields: Any) -> httpx2.Response:
    return client.post("/v1/read", json={"url": url, **fields})


def failure(answer: httpx2.Response) -> dict[str, Any]:
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == ERROR
    assert error["message"]
    return error


def test_a_page(client: httpx2.Client, origin: Origin) -> None:
    answer = read(client, origin.url("/a"))
    assert answer.status_code == 200
    body = answer.json()
    assert list(body)[:7] == SEVEN
    assert body["title"] == "A page"
    assert body["markdown"].startswith("The keeper counts")
    assert (body["tier"], body["source"], body["truncated"], body["next_offset"]) == ("static", "body", False, None)
    assert body["total_chars"] == len(body["markdown"])
    assert body["timeout"] == 8
    assert {"fetch", "extract", "convert"} == {
        part.partition(";")[0].strip() for part in answer.headers["server-timing"].split(",")
    }


def test_included_sections(client: httpx2.Client, origin: Origin) -> None:
    sections = ["html", "text", "links", "images", "media", "metadata", "explain"]
    body = read(client, origin.url("/a"), include=sections, timeout=100).json()  # clamped
    assert set(sections) <= set(body)
    assert body["timeout"] == 8
    assert body["html"].startswith("<p>")
    assert body["explain"][0]["won"]


def test_paging_gives_the_whole(client: httpx2.Client, origin: Origin) -> None:
    whole = read(client, origin.url("/a")).json()["markdown"]
    pieces, offset = [], 0
    while offset is not None:
        piece = read(client, origin.url("/a"), offset=offset, limit=100).json()
        pieces.append(piece["markdown"])
        offset = piece["next_offset"]
    assert "".join(pieces) == whole
    assert len(pieces) > 5
    assert read(client, origin.url("/a"), offset=10**6).json()["markdown"] == ""


@pytest.mark.parametrize(
    ("status", "body", "code", "answer"),
    [
        (404, PAGE, "PAGE_NOT_FOUND", 404),
        (410, PAGE, "PAGE_NOT_FOUND", 404),
        (
            200,
            b"<title>Not found</title><h1>Page not found</h1><p>The page was not found on this server.",
            "PAGE_NOT_FOUND",
            404,
        ),
        (403, b"<title>Just a moment...</title><p>Checking your browser", "BLOCKED_BY_SITE", 403),
        (503, b"<title>Just a moment...</title><p>Checking your browser before accessing", "BLOCKED_BY_SITE", 403),
        (401, b"no", "BLOCKED_BY_SITE", 403),
        (500, PAGE, "UPSTREAM_ERROR", 502),
        (200, b"%PDF-1.7 ...", "UNSUPPORTED_CONTENT", 415),
        (200, b"\x89PNG\r\n\x1a\n....", "UNSUPPORTED_CONTENT", 415),
        (200, b"", "EXTRACT_FAILED", 422),
        (200, b"<div id=root></div><script>app()</script>", "EXTRACT_FAILED", 422),
        (200, b"<p>" + b"<div>" * 5000 + b"no body", "EXTRACT_FAILED", 422),
    ],
)
def test_failures(client: httpx2.Client, origin: Origin, status: int, body: bytes, code: str, answer: int) -> None:
    response = read(client, origin.route("/f", body, status=status))
    assert (response.status_code, failure(response)["code"]) == (answer, code)
    assert failure(response)["url"] == origin.url("/f")
    assert read(client, origin.url("/a")).status_code == 200


def test_upstream_asks_for_patience(client: httpx2.Client, origin: Origin) -> None:
    response = read(client, origin.route("/f", "slow down", status=429, headers={"Retry-After": "7"}))
    error = failure(response)
    assert (error["code"], error["retryable"], error["retry_after"], error["upstream_status"]) == (
        "UPSTREAM_ERROR",
        True,
        7,
        429,
    )
    assert response.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://127.0.0.2:{port}/",
        "file:///etc/passwd",
        "http://localhost:22/",
        "http://[::1]:{port}/",
    ],
)
def test_forbidden_addresses(client: httpx2.Client, origin: Origin, url: str) -> None:
    response = read(client, url.format(port=origin.port))
    assert (response.status_code, failure(response)["code"]) == (403, "ADDRESS_FORBIDDEN")


@pytest.mark.parametrize("name", BROKEN)
def test_broken_origins(client: httpx2.Client, origin: Origin, name: str) -> None:
    response = read(client, origin.raw("/broken", sends(BROKEN[name][0])))
    assert (response.status_code, failure(response)["code"], failure(response)["reason"]) == (
        502,
        "UPSTREAM_ERROR",
        BROKEN[name][1],
    )
    assert read(client, origin.url("/a")).status_code == 200


def test_the_budget_is_spent(client: httpx2.Client, origin: Origin) -> None:
    url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
    started = time.perf_counter()
    response = read(client, url, timeout=0.5)
    assert time.perf_counter() - started < 1.5
    assert (response.status_code, failure(response)["code"], failure(response)["reason"]) == (
        504,
        "UPSTREAM_TIMEOUT",
        "deadline",
    )


def test_a_large_body_is_cut_and_says_so(client: httpx2.Client, origin: Origin) -> None:
    body = b"<article>" + b"".join(
        b"<p>The keeper wrote the number %d on the door.</p>" % number for number in range(30_000)
    )
    answer = read(client, origin.route("/large", body), limit=100)
    assert answer.status_code == 200, answer.text
    assert answer.json()["truncated"]


def test_a_meta_refresh_is_a_redirect_where_there_is_no_body(client: httpx2.Client, origin: Origin) -> None:
    for number, markup in enumerate(
        [
            "<meta http-equiv=refresh content='0;url=/a'>",
            "<noscript><meta http-equiv='Refresh' content=\"1; URL='/a'\"></noscript><script>x</script>",
            "<meta http-equiv=refresh content=0;/a>",
        ]
    ):
        answer = read(client, origin.route(f"/r{number}", markup))
        assert answer.json().get("url") == origin.url("/a"), answer.text
    kept = read(client, origin.route("/kept", PAGE.decode() + "<meta http-equiv=refresh content='5;url=/nowhere'>"))
    assert kept.json()["url"] == origin.url("/kept")
    loop = read(client, origin.route("/loop", "<meta http-equiv=refresh content='0;url=/loop?again'>"))
    assert failure(loop)["code"] in ("UPSTREAM_TIMEOUT", "EXTRACT_FAILED")
    inside = read(client, origin.route("/inside", "<meta http-equiv=refresh content='0;url=http://169.254.169.254/'>"))
    assert failure(inside)["code"] == "ADDRESS_FORBIDDEN"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 5}, "url"),
        ({"url": ""}, "url"),
        ({"url": "http://a.test/", "rendr": True}, "rendr"),
        ({"url": "http://a.test/", "render": "yes"}, "render"),
        ({"url": "http://a.test/", "include": ["html", "pdf"]}, "include"),
        ({"url": "http://a.test/", "include": "html"}, "include"),
        ({"url": "http://a.test/", "tables": "csv"}, "tables"),
        ({"url": "http://a.test/", "offset": -1}, "offset"),
        ({"url": "http://a.test/", "limit": 0}, "limit"),
        ({"url": "http://a.test/", "limit": "5"}, "limit"),
        ({"url": "http://a.test/", "timeout": 0}, "timeout"),
        ({"url": "http://a.test/", "max_age": -1}, "max_age"),
        ({"url": "http://a.test/", "wait_for": "p"}, "wait_for"),
        ([], "body"),
        ("http://a.test/", "body"),
    ],
)
def test_wrong_fields_are_named(client: httpx2.Client, body: Any, field: str) -> None:
    response = client.post("/v1/read", json=body)
    error = failure(response)
    assert (response.status_code, error["code"], error["reason"]) == (400, "INVALID_REQUEST", field)
    assert field in error["message"]


def test_a_wrong_selector(client: httpx2.Client, origin: Origin) -> None:
    assert failure(read(client, origin.url("/a"), selector="p:::"))["reason"] == "selector"
    assert failure(read(client, origin.url("/a"), selector="table"))["code"] == "EXTRACT_FAILED"
    assert read(client, origin.url("/a"), selector="p", tables="").status_code == 200


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'{"url": "http://a.test/",}', "line 1"),
        (b"", "JSON"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "JSON"),
        (b"nul", "JSON"),
    ],
)
def test_malformed_json(client: httpx2.Client, raw: bytes, says: str) -> None:
    response = client.post("/v1/read", content=raw, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert says in failure(response)["message"]


def test_a_body_over_the_cap_even_when_chunked(client: httpx2.Client) -> None:
    def chunks() -> Any:
        for _ in range(40):
            yield b" " * 10_000

    for content in (b" " * 400_000, chunks()):
        response = client.post("/v1/read", content=content, headers={"Content-Type": "application/json"})
        assert (response.status_code, failure(response)["reason"]) == (400, "body")


def test_a_wrong_content_type(client: httpx2.Client) -> None:
    response = client.post(
        "/v1/read", content=b"url=http://a.test/", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert (response.status_code, failure(response)["reason"]) == (400, "Content-Type")


def test_unknown_routes_and_methods(client: httpx2.Client) -> None:
    assert (client.get("/nothing").status_code, failure(client.get("/nothing"))["code"]) == (404, "NOT_FOUND")
    response = client.get("/v1/read")
    assert (response.status_code, response.headers["allow"], failure(response)["code"]) == (
        405,
        "POST",
        "METHOD_NOT_ALLOWED",
    )


def test_a_caller_that_goes_stops_its_work(base: str, origin: Origin) -> None:
    """The stalled connection to the origin closes soon after the caller's does."""
    url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
    body = json.dumps({"url": url}).encode()
    before = len(origin.requests)
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port)) as caller:
        caller.sendall(b"POST /v1/read HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        caller.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while len(origin.requests) == before:
            time.sleep(0.01)
    started = time.perf_counter()
    with httpx2.Client(base_url=base, trust_env=False, timeout=10) as client:
        # All four slots must be free again well before the budget of 8 seconds is over.
        outcomes: list[int] = []
        threads = [
            threading.Thread(target=lambda: outcomes.append(read(client, origin.url("/a")).status_code))
            for _ in range(4)
        ]
        time.sleep(0.2)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert outcomes == [200] * 4
    assert time.perf_counter() - started < 2


def test_one_read_too_many(base: str, origin: Origin) -> None:
    url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
    before = len(origin.requests)
    with httpx2.Client(base_url=base, trust_env=False, timeout=10) as client:
        threads = [threading.Thread(target=read, args=(client, url), kwargs={"timeout": 1.5}) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(origin.requests) < before + 4:
            time.sleep(0.01)
        response = read(client, origin.url("/a"))
        assert (response.status_code, failure(response)["code"], response.headers["retry-after"]) == (
            503,
            "OVERLOADED",
            "1",
        )
        for thread in threads:
            thread.join()
        assert read(client, origin.url("/a")).status_code == 200


def test_a_page_that_needs_a_browser(client: httpx2.Client, origin: Origin) -> None:
    body = "The keeper of the lighthouse counts every boat that passes in the evening. " * 5
    app = origin.route("/app", f"<div id=root></div><script>root.innerHTML = '<p>{body}</p>'</script>")
    assert failure(read(client, app))["code"] == "EXTRACT_FAILED"
    assert read(client, origin.url("/a"), render=True).json()["tier"] == "static"
    assert client.get("/readyz").json()["components"]["render"] == "not started", "no browser for a static body"
    answer = read(client, app, render=True).json()
    assert answer["tier"] == "rendered"
    assert answer["markdown"].strip() == body.strip()
    ready = client.get("/readyz").json()
    assert ready["components"]["render"] == "ok"
    assert set(ready["render"]) >= {"version", "sandbox", "network_namespace", "pages", "memory_bytes"}
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    values = dict(line.rsplit(" ", 1) for line in metrics.text.splitlines() if not line.startswith("#"))
    assert values['bonmun_component_up{component="render"}'] == "1.0"
    assert float(values["bonmun_render_pages_rendered_total"]) >= 1
    assert float(values["bonmun_render_browsers_started_total"]) == 1


def test_a_service_without_a_browser(origin: Origin) -> None:
    """`render` is refused with a message that says what to install; everything else works."""
    app = origin.route("/app", "<div id=root></div><script>app()</script>")
    origin.route("/a", PAGE)
    with (
        serving(loopback(origin.port, render={"executable": "/nowhere/chromium"})) as base,
        httpx2.Client(base_url=base) as client,
    ):
        error = failure(read(client, app, render=True))
        assert (error["code"], error["reason"], error["retryable"]) == ("OVERLOADED", "browser", True)
        assert "/nowhere/chromium" in error["message"]
        assert failure(read(client, origin.url("/a"), render="always"))["code"] == "OVERLOADED"
        assert read(client, origin.url("/a"), render=True).status_code == 200
        ready = client.get("/readyz")
        assert ready.status_code == 200
        assert "/nowhere/chromium" in ready.json()["components"]["render"]
