"""Edges of the HTTP face: bugs, bodies nobody asked for, callers that leave, odd strings, odd addresses."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import pytest
import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from service.api import create_app
from service.api.errors import JSONAnswer
from service.api.negotiation import prefers_json
from service.api.schema import ReadRequest
from tests.api.test_face import raw_get
from tests.conftest import loopback
from tests.hostile import HEAD, PAGE, repeats, sends
from tests.origin import Origin
from tests.server import serving

SECRET = "the-secret-of-the-trace"


async def _broken(request: Request) -> Response:
    raise RuntimeError(SECRET)


async def _half_broken(request: Request) -> Response:
    async def pieces() -> Any:
        yield b"half"
        raise RuntimeError(SECRET)

    return StreamingResponse(pieces())


@pytest.fixture(scope="module")
def buggy() -> Iterator[str]:
    """The service with two routes of ours that have bugs."""
    app: Starlette = create_app(loopback(1, workers={"processes": 1}))
    app.router.routes += [Route("/broken", _broken), Route("/half", _half_broken)]
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


def logged(caplog: pytest.LogCaptureFixture, request_id: str, count: int = 1) -> list[dict[str, Any]]:
    """The access lines of a request; its line comes after its answer, in the server's thread."""
    for _ in range(500):
        fields = [getattr(record, "fields", {}) for record in caplog.records if record.name == "bonmun.access"]
        found = [line for line in fields if line["request_id"] == request_id]
        if len(found) >= count:
            return found
        time.sleep(0.01)
    raise AssertionError(f"no line of {request_id} in {caplog.records}")


def test_a_bug_is_an_answer_with_an_id_and_no_trace(buggy: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        answer = httpx2.get(f"{buggy}/broken", headers={"X-Request-ID": "bug-1"}, trust_env=False)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "INTERNAL_ERROR"
        assert SECRET not in answer.text
        assert answer.headers["x-request-id"] == "bug-1"
        assert answer.headers["x-content-type-options"] == "nosniff"
        line = logged(caplog, "bug-1")[0]
    assert (line["status"], line["code"], line["route"]) == (500, "INTERNAL_ERROR", "/broken")
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert [record.name for record in errors] == ["bonmun.errors"]
    assert SECRET in caplog.text


def test_a_bug_in_the_middle_of_an_answer_ends_it(buggy: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        with pytest.raises(httpx2.RemoteProtocolError):
            httpx2.get(f"{buggy}/half", headers={"X-Request-ID": "bug-2"}, trust_env=False)
        assert logged(caplog, "bug-2")[0]["code"] == "INTERNAL_ERROR"
    assert httpx2.get(f"{buggy}/healthz", trust_env=False).status_code == 200


def test_a_large_body_where_none_is_asked_for(client: httpx2.Client, origin: Origin) -> None:
    url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
    answer = client.request("GET", f"/read/{url}", content=b" " * 400_000)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "body")
    assert answer.headers["connection"] == "close"
    assert client.post("/v1/read", json={"url": origin.url("/a")}).status_code == 200


def test_a_declared_length_over_the_cap_is_refused_unread(base: str) -> None:
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port), timeout=5) as caller:
        caller.sendall(b"POST /v1/read HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        caller.sendall(b"Content-Length: 400000\r\nExpect: 100-continue\r\n\r\n")
        assert caller.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_a_caller_that_goes_in_the_middle_of_its_body(base: str, caplog: pytest.LogCaptureFixture) -> None:
    address = urlsplit(base)
    with caplog.at_level(logging.INFO):
        with socket.create_connection((address.hostname, address.port)) as caller:
            caller.sendall(b"POST /v1/read HTTP/1.1\r\nHost: x\r\nX-Request-ID: gone-1\r\nContent-Length: 50\r\n\r\n{")
            time.sleep(0.1)
        line = logged(caplog, "gone-1")[0]
    assert (line["status"], line["code"]) == (499, "CLIENT_GONE")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_caller_that_goes_closes_the_connection_to_the_origin(
    base: str, origin: Origin, caplog: pytest.LogCaptureFixture
) -> None:
    url = origin.raw("/drip", repeats(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", pause=0.02))
    before, closed, address = len(origin.requests), origin.closed, urlsplit(base)
    with caplog.at_level(logging.INFO):
        with socket.create_connection((address.hostname, address.port)) as caller:
            caller.sendall(f"GET /read/{url} HTTP/1.1\r\nHost: x\r\nX-Request-ID: gone-2\r\n\r\n".encode())
            while len(origin.requests) == before:
                time.sleep(0.01)
        line = logged(caplog, "gone-2")[0]
    assert line["code"] == "CLIENT_GONE"
    assert line["ms"] < 4000  # the budget is 8 s
    for _ in range(200):
        if origin.closed > closed:
            return
        time.sleep(0.01)
    raise AssertionError("the origin still sends")


def test_an_encoded_address_keeps_its_bytes(base: str, origin: Origin) -> None:
    """Encoded once more as a whole: the inner escapes of EUC-KR stay, and so do bytes that were never escaped."""
    origin.route("/k", PAGE)
    inner = origin.url("/k?q=%C7%D1&r=a%2Bb")
    assert b"# A page" in raw_get(base, f"/read/{quote(inner, safe='')}")
    assert origin.paths()[-1] == "/k?q=%C7%D1&r=a%2Bb"
    raw_get(base, f"/read/{quote(origin.url('/k?q='), safe='')}%C7%D1")
    assert origin.paths()[-1] == "/k?q=%C7%D1"


@pytest.mark.parametrize("path", ["/v1/read/", "/healthz/", "/read", "/docs/x"])
def test_a_wrong_path_is_not_redirected(client: httpx2.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("timeout", ["5", True, "NaN", []])
def test_a_timeout_is_a_number(client: httpx2.Client, timeout: Any) -> None:
    answer = client.post("/v1/read", json={"url": "http://a.test/", "timeout": timeout})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "timeout")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" * 5000])
def test_numbers_that_json_has_not(client: httpx2.Client, number: str) -> None:
    content = f'{{"url": "http://a.test/", "limit": {number}}}'.encode()
    answer = client.post("/v1/read", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "content",
    [
        b'{"url": "http://a.test/\\ud800"}',
        b'{"url": "http://a.test/", "\\ud800": 1}',
        b'{"url": "http://a.test/", "tables": "\\ud800"}',
        b'{"url": "\\u0000"}',
        b'{"url": "http://a.test/\\r\\nHost: b"}',
    ],
)
def test_odd_strings_are_refused_politely(client: httpx2.Client, content: bytes) -> None:
    answer = client.post("/v1/read", content=content, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500 or answer.json()["error"]["code"] == "UPSTREAM_ERROR"
    assert answer.json()["error"]["code"] != "INTERNAL_ERROR"


@pytest.mark.parametrize(
    ("rest", "field"),
    [
        (b'"include": [' + b"1," * 100_000 + b"1]", "include"),
        (b'"include": [' + b'"html",' * 30_000 + b'"html"]', "include"),
        (b",".join(b'"%d": 1' % number for number in range(20_000)), "0"),
        (b'"' + b"k" * 200_000 + b'": 1', "k" * 40 + "…"),
        (b'"url": "http://' + b"a" * 200_000 + b'"', "url"),
    ],
    ids=["wrong sections", "sections", "keys", "a long key", "a long address"],
)
def test_a_body_of_many_mistakes_is_cheap(client: httpx2.Client, rest: bytes, field: str) -> None:
    """One mistake is named; listing them all once took gigabytes, and the answer held the whole key."""
    content = b'{"url": "http://a.test/", ' + rest + b"}"
    answer = client.post("/v1/read", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, field)
    assert len(answer.content) < 1000
    assert answer.elapsed.total_seconds() < 1


def test_validation_lists_no_thousand_errors() -> None:
    with pytest.raises(ValidationError) as wrong:
        ReadRequest.model_validate({"url": "http://a.test/", "include": [1] * 1000})
    assert wrong.value.error_count() == 1


@pytest.mark.parametrize("url", ["http://[", "//a.test/", "javascript:1", "a.test", "\ud800", "http://" + "a" * 9000])
def test_the_address_of_a_page_sent_along_is_one(client: httpx2.Client, url: str) -> None:
    content = json.dumps({"html": PAGE.decode(), "url": url})
    answer = client.post("/v1/extract", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "url")


def test_a_page_is_not_sent_twice(client: httpx2.Client) -> None:
    answer = client.post("/v1/extract?html=x", content=PAGE, headers={"Content-Type": "text/html"})
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "html")


def test_a_preference_in_two_lines(client: httpx2.Client, origin: Origin) -> None:
    headers = [("Accept", "text/html"), ("Accept", "application/json")]
    assert client.get(f"/read/{origin.url('/a')}", headers=headers).json()["title"] == "A page"


def test_json_answers_hold_any_string() -> None:
    assert json.loads(bytes(JSONAnswer({"a": "본문 \ud83d."}).body)) == {"a": "본문 ?."}


def test_a_page_sent_without_a_type(client: httpx2.Client) -> None:
    answer = client.post("/v1/extract", content=PAGE)
    assert (answer.status_code, answer.json()["error"]["reason"]) == (400, "Content-Type")


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("application/json, text/plain, */*", True),
        ("application/json, */*", True),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", False),
        ("application/json;q=0.5, text/markdown;q=0.4", True),
        ("APPLICATION/JSON", True),
        ("image/png", False),
        ("", False),
        (";;,,q=", False),
    ],
)
def test_preference_in_full(accept: str, wanted: bool) -> None:
    assert prefers_json(accept) is wanted


def test_a_full_extraction_queue_shows_and_passes() -> None:
    """One worker, no queue, a page of seconds: the next is refused at once, and `/readyz` says why."""
    large = b"<article>" + b"".join(b"<p>The keeper wrote %d on the door.</p>" % number for number in range(15_000))
    with (
        serving(loopback(1, workers={"processes": 1, "queue": 0})) as base,
        httpx2.Client(base_url=base, trust_env=False, timeout=20) as client,
    ):
        html = {"Content-Type": "text/html"}
        outcome: list[int] = []
        thread = threading.Thread(
            target=lambda: outcome.append(client.post("/v1/extract", content=large, headers=html).status_code)
        )
        thread.start()
        while (ready := client.get("/readyz")).status_code == 200 and thread.is_alive():
            time.sleep(0.005)
        refused = client.post("/v1/extract", content=PAGE, headers=html)
        assert (ready.status_code, ready.json()["components"]["workers"]) == (503, "queue full")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "OVERLOADED")
        assert refused.headers["retry-after"] == "1"
        thread.join()
        assert outcome == [200]
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/extract", content=PAGE, headers=html).status_code == 200
