"""The rest of the HTTP face: GET /read, raw extraction, negotiation, ids, logs, health, the OpenAPI document."""

from __future__ import annotations

import io
import json
import logging
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jsonschema
import pytest
from openapi_spec_validator import validate

from service.api.logs import JSONFormatter
from service.api.negotiation import prefers_json
from service.failures import ALL
from tests.hostile import HEAD, PAGE, sends
from tests.origin import Origin


def raw_get(base: str, target: str) -> bytes:
    """One GET whose target is sent as it stands."""
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_get_read_keeps_the_target_as_it_is(base: str, origin: Origin) -> None:
    origin.route("/p/a%2Fb", PAGE)
    for target in (origin.url("/p/a%2Fb?x=1&y=%20&z"), origin.url("/p/a%2Fb?x=1&y=%20&z").replace("://", ":/")):
        answer = raw_get(base, f"/read/{target}")
        assert b"# A page\n\nThe keeper counts" in answer
        assert b"content-type: text/markdown; charset=utf-8" in answer.lower()
        assert origin.paths()[-1] == "/p/a%2Fb?x=1&y=%20&z"


def test_get_read_takes_an_encoded_address(client: httpx2.Client, origin: Origin) -> None:
    encoded = origin.url("/a").replace(":", "%3A").replace("/", "%2F")
    assert client.get(f"/read/{encoded}").status_code == 200


def test_get_read_negotiates(client: httpx2.Client, origin: Origin) -> None:
    path = f"/read/{origin.url('/a')}"
    assert client.get(path, headers={"Accept": "application/json"}).json()["title"] == "A page"
    assert client.get(path, headers={"Accept": "text/markdown, application/json;q=0.9"}).text.startswith("# A page")
    assert client.get(path).headers["vary"] == "Accept"
    assert client.head(path).status_code == 200
    missing = client.get(f"/read/{origin.url('/nowhere')}")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "PAGE_NOT_FOUND")
    assert client.get("/read/").status_code == 400


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (None, False),
        ("*/*", False),
        ("application/json", True),
        ("text/*;q=0.5, application/*", True),
        ("text/html, */*;q=0.1", False),
        ("application/json;q=0", False),
        ("application/json;q=x, text/markdown", False),
    ],
)
def test_preference(accept: str | None, wanted: bool) -> None:
    assert prefers_json(accept) is wanted


def test_extract_json_and_raw(client: httpx2.Client) -> None:
    html = (
        "<title>제목 하나</title><article>"
        + "<p>국회는 오늘 본회의를 열고 예산안을 처리했다.</p>" * 5
        + "<p>처리한 예산안은 <a href=/x>잇는 글</a>에 모두 실려 있다.</p></article>"
    )
    answer = client.post(
        "/v1/extract", json={"html": html, "url": "https://news.example/1", "include": ["links"]}
    ).json()
    assert answer["title"] == "제목 하나"
    assert answer["links"] == [{"url": "https://news.example/x", "text": "잇는 글"}]
    assert answer["timeout"] is None
    raw = client.post(
        "/v1/extract?url=https://news.example/1&include=text,html&limit=10",
        content=html.encode("euc-kr"),
        headers={"Content-Type": "text/html; charset=euc-kr"},
    ).json()
    assert 0 < len(raw["markdown"]) <= 10
    assert answer["markdown"].startswith(raw["markdown"])
    assert "본회의를" in raw["text"]
    assert (
        client.post("/v1/extract?limit=x", content=html, headers={"Content-Type": "text/html"}).json()["error"][
            "reason"
        ]
        == "limit"
    )
    assert (
        client.post("/v1/extract?nope=1", content=html, headers={"Content-Type": "text/html"}).json()["error"]["reason"]
        == "nope"
    )
    assert client.post("/v1/extract", json={"url": "x"}).json()["error"]["reason"] == "html"
    assert client.post("/v1/extract", content=b"%PDF-1.4", headers={"Content-Type": "text/html"}).status_code == 415


def test_request_ids_and_headers(client: httpx2.Client) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": "abc-1.2_3"}).headers["x-request-id"] == "abc-1.2_3"
    made = client.get("/healthz", headers={"X-Request-ID": 'a"b'}).headers["x-request-id"]
    assert len(made) == 32
    wrong = client.get("/nothing")
    assert len(wrong.headers["x-request-id"]) == 32
    assert wrong.headers["x-content-type-options"] == "nosniff"


def test_health(client: httpx2.Client) -> None:
    assert client.get("/healthz").text == "ok\n"
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["components"].items() >= {"static": "ok", "workers": "ok"}.items()


def test_one_log_line_a_request_without_secrets(client: httpx2.Client, origin: Origin) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JSONFormatter())
    access = logging.getLogger("bonmun.access")
    access.addHandler(handler)
    access.setLevel(logging.INFO)
    client.post("/v1/read", json={"url": origin.url("/nowhere?token=hush")}, headers={"X-Request-ID": "r1"})
    client.get("/read/http://a\u2028b.test/?token=hush")
    deadline = time.monotonic() + 5  # a line is written after its answer is sent
    while len(stream.getvalue().splitlines()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    access.removeHandler(handler)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    first = json.loads(lines[0])
    assert (first["request_id"], first["route"], first["status"], first["code"]) == (
        "r1",
        "/v1/read",
        404,
        "PAGE_NOT_FOUND",
    )
    assert first["host"] == "127.0.0.1"
    assert "hush" not in stream.getvalue()


def test_control_characters_are_escaped_in_logs() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "a\nb\x1b[31m", (), None)
    line = JSONFormatter().format(record)
    assert "\n" not in line
    assert "\x1b" not in line


def test_docs(client: httpx2.Client) -> None:
    page = client.get("/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert all(failure.code in page.text for failure in ALL)
    assert "src=" not in page.text


class TestOpenAPI:
    """The document is valid, complete, and what the service really answers fits it."""

    @pytest.fixture
    def document(self, client: httpx2.Client) -> dict[str, Any]:
        document: dict[str, Any] = client.get("/openapi.json").json()
        validate(document)
        return document

    def fits(self, document: dict[str, Any], answer: httpx2.Response, path: str, method: str = "post") -> None:
        schema = document["paths"][path][method]["responses"][str(answer.status_code)]["content"]["application/json"][
            "schema"
        ]
        jsonschema.validate(answer.json(), {**schema, "components": document["components"]})

    def test_every_route_and_failure_is_there(self, document: dict[str, Any]) -> None:
        from service.api import create_app

        routes = {getattr(route, "path", "").replace("{url:path}", "{url}") for route in create_app().routes}
        assert set(document["paths"]) == routes
        described = json.dumps(document["paths"]["/v1/read"])
        for failure in ALL:
            assert failure.code in described
            assert str(failure.status) in document["paths"]["/v1/read"]["post"]["responses"]

    def test_answers_fit(self, document: dict[str, Any], client: httpx2.Client, origin: Origin) -> None:
        sections = ["html", "text", "links", "images", "media", "metadata", "explain"]
        bodies = [
            {"url": origin.url("/a"), "include": sections},
            {"url": origin.url("/nowhere")},
            {"url": "file:///x"},
            {"url": origin.route("/e", "")},
            {},
        ]
        bodies += [
            {"url": origin.route("/wall", "<title>Just a moment...</title><p>Checking your browser", status=403)},
            {"url": origin.route("/pdf", b"%PDF-1.7")},
            {"url": origin.route("/down", PAGE, status=500)},
            {"url": origin.url("/a"), "render": "always"},
            {"url": origin.url("/a"), "wait_for": "p"},
            {"url": origin.raw("/stall", sends(HEAD + b"Content-Length: 9\r\n\r\n", then="stall")), "timeout": 0.2},
        ]
        statuses = set()
        for body in bodies:
            answer = client.post("/v1/read", json=body)
            statuses.add(answer.status_code)
            self.fits(document, answer, "/v1/read")
        assert statuses == {200, 400, 403, 404, 415, 422, 502, 504}
        for path in (origin.url("/a"), origin.url("/nowhere"), ""):
            answer = client.get(f"/read/{path}", headers={"Accept": "application/json"})
            self.fits(document, answer, "/read/{url}", "get")
        self.fits(document, client.get("/openapi.json"), "/openapi.json", "get")
        self.fits(document, client.post("/v1/extract", json={"html": PAGE.decode()}), "/v1/extract")
        self.fits(document, client.get("/readyz"), "/readyz", "get")
