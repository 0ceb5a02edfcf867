"""The wire as `bonmun serve` has it: raw targets, bounded heads, broken HTTP, and a stop out of patience."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
import uvicorn

from service.api import create_app
from service.api.server import MAX_HEAD_BYTES, server
from service.settings import Settings
from tests.conftest import loopback
from tests.hostile import HEAD, PAGE, sends
from tests.origin import Origin


@contextmanager
def running(settings: Settings) -> Iterator[tuple[uvicorn.Server, tuple[str, int]]]:
    """The service as the command line serves it, in a thread, and where it listens."""
    served = server(create_app(settings), settings.server)
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    while not served.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.02)
    yield served, served.servers[0].sockets[0].getsockname()
    served.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def wire() -> Iterator[tuple[Origin, tuple[str, int]]]:
    with Origin() as origin:
        origin.route("/%ED%95%9C", PAGE)
        settings = loopback(origin.port, workers={"processes": 1}, server={"port": 0, "max_request_bytes": 300_000})
        with running(settings) as (_, address):
            yield origin, address


def talk(address: tuple[str, int], *pieces: bytes) -> bytes:
    """Send pieces one by one; all that comes back until the end."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.003)
        answer = b""
        while received := connection.recv(65536):
            answer += received
        return answer


def error_of(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"x-request-id: " in head.lower()
    error: dict[str, Any] = json.loads(body)["error"]
    return error


def test_a_target_in_raw_utf_8(wire: tuple[Origin, tuple[str, int]]) -> None:
    """As curl sends it. The request line comes in pieces, one of them in the middle of a character."""
    origin, address = wire
    request = f"GET /read/{origin.url('/한?q=한&r=%20')} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    middle = request.index("한".encode()) + 1
    for pieces in ([request], [request[:middle], request[middle:]]):
        assert b"# A page" in talk(address, *pieces)
        assert origin.paths()[-1] == "/%ED%95%9C?q=%ED%95%9C&r=%20"


def test_a_target_in_raw_utf_8_on_a_connection_in_use(wire: tuple[Origin, tuple[str, int]]) -> None:
    origin, address = wire
    request = f"GET /read/{origin.url('/한')} HTTP/1.1\r\nHost: x\r\n".encode()
    with socket.create_connection(address, timeout=10) as connection:
        for _ in range(3):
            connection.sendall(request + b"\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_a_large_body_in_small_pieces_is_taken(wire: tuple[Origin, tuple[str, int]], coding: str) -> None:
    _, address = wire
    line = b"<p>The keeper wrote the number of the day on the door, as on each day before it.</p>" * 20
    body = [b"<article>", *[line] * 120, b"</article>"]
    assert len(b"".join(body)) > 2 * MAX_HEAD_BYTES
    head = b"POST /v1/extract HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/html\r\n"
    if coding == "chunked":
        head += b"Transfer-Encoding: chunked\r\n\r\n"
        body = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*body, b""]]
    else:
        head += b"Content-Length: %d\r\n\r\n" % len(b"".join(body))
    assert talk(address, head, *body).startswith(b"HTTP/1.1 200 ")


def test_bytes_beyond_ascii_in_a_body_stay(wire: tuple[Origin, tuple[str, int]]) -> None:
    _, address = wire
    text = "국회는 오늘 본회의를 열고 예산안을 처리했다.\n" * 5
    body = f"<article>{''.join(f'<p>{line}</p>' for line in text.splitlines())}</article>".encode("euc-kr")
    head = b"POST /v1/extract HTTP/1.1\r\nHost: x\r\nContent-Type: text/html; charset=euc-kr\r\n"
    request = head + b"Content-Length: %d\r\n\r\n" % len(body)
    last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    for pieces in (
        [request, body[:99], body[99:], last],
        [request + body + last],
        [request + body[:-1], body[-1:], last],
    ):
        answer = talk(address, *pieces)
        assert "본회의를 열고".encode() in answer
        assert answer.endswith(b"ok\n")


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"X-Much: " + b"a" * 10_000 + b"\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ", b"a" * 10_000),
        (b"GET /read/http://a.test/", b"a" * 10_000),
        (b"POST /v1/read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a" * 10_000),
        (
            b"POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            b"X: " + b"a" * 9_990 + b"\r\n",
        ),
    ],
    ids=["many headers", "a long header", "a long target", "a chunk extension", "trailers"],
)
def test_what_never_gets_to_a_body_is_cut_off(wire: tuple[Origin, tuple[str, int]], start: bytes, piece: bytes) -> None:
    _, address = wire
    sent = 0
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(start)
        with pytest.raises(ConnectionError):  # noqa: PT012  (it may break at any of them)
            while sent < 100 * MAX_HEAD_BYTES:
                connection.sendall(piece)
                sent += len(piece)
                time.sleep(0.002)
    assert sent < 4 * MAX_HEAD_BYTES
    assert talk(address, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"ok\n")


def test_a_head_as_large_as_allowed(wire: tuple[Origin, tuple[str, int]]) -> None:
    _, address = wire
    header = b"X-Much: " + b"a" * 1_000 + b"\r\n"
    pieces = [header] * (MAX_HEAD_BYTES // len(header) - 2)
    start = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    assert talk(address, start, *pieces, b"Connection: close\r\n\r\n").endswith(b"ok\n")


@pytest.mark.parametrize(
    "request_", [b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\n"]
)
def test_broken_http_has_the_envelope_too(wire: tuple[Origin, tuple[str, int]], request_: bytes) -> None:
    _, address = wire
    error = error_of(talk(address, request_))
    assert (error["code"], error["reason"], len(error)) == ("INVALID_REQUEST", "http", 7)


def test_an_upgrade_is_not_taken(wire: tuple[Origin, tuple[str, int]]) -> None:
    _, address = wire
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: YQ==\r\nSec-WebSocket-Version: 13\r\n"
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + upgrade + b"\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_a_stop_out_of_patience_says_so() -> None:
    """A read longer than `server.shutdown_seconds` is answered before the service goes: try again."""
    with Origin() as origin:
        url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
        settings = loopback(origin.port, workers={"processes": 1}, server={"port": 0, "shutdown_seconds": 0.1})
        answers: list[httpx2.Response] = []
        with running(settings) as (served, address):
            base = f"http://{address[0]}:{address[1]}"

            def ask() -> None:
                answers.append(httpx2.post(f"{base}/v1/read", json={"url": url}, trust_env=False, timeout=20))

            asking = threading.Thread(target=ask)
            asking.start()
            while not origin.requests:
                time.sleep(0.01)
            served.should_exit = True
            asking.join(10)
    assert [(answer.status_code, answer.headers["retry-after"]) for answer in answers] == [(503, "1")]
    assert answers[0].json()["error"]["reason"] == "shutdown"
    assert "x-request-id" in answers[0].headers
