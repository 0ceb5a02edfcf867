"""Callers that send or take a byte now and then hold nothing for long."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.conftest import loopback
from tests.server import serving


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    settings: Settings = loopback(1, server={"arrival_seconds": 0.6, "unread_seconds": 0.4}, workers={"processes": 1})
    with serving(settings) as base:
        host, _, port = base.removeprefix("http://").partition(":")
        yield host, int(port)


HEAD = b"POST /v1/extract HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n"


@pytest.mark.parametrize("start", [b"", b"GET /healthz", HEAD, HEAD + b"\r\n", HEAD + b'\r\n{"html": "'])
@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"], ids=["first", "second"])
def test_a_request_that_trickles_in_is_refused(address: tuple[str, int], before: bytes, start: bytes) -> None:
    if before and not start:
        pytest.skip("an idle connection is uvicorn's to close")
    with socket.create_connection(address, 5) as caller:
        if before:
            caller.sendall(before)
            assert caller.recv(65_536).endswith(b"ok\n")
        began = time.monotonic()
        caller.sendall(start)
        caller.settimeout(0.1)
        answer = b""
        while time.monotonic() - began < 5:
            try:
                caller.sendall(b" " if b"\r\n\r\n" in start else b"a" if start else b"")
                piece = caller.recv(65_536)
            except TimeoutError:
                continue
            except ConnectionError:
                break
            if not piece:
                break
            answer += piece
        assert 0.4 < time.monotonic() - began < 3
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        error = json.loads(body)["error"]
        assert (error["code"], error["reason"]) == ("INVALID_REQUEST", "slow")


def test_an_answer_that_nobody_takes_is_dropped(address: tuple[str, int]) -> None:
    html = "<p>" + "A sentence of the body, long enough. " * 60_000
    page = json.dumps({"html": html, "include": ["html", "text"]}).encode()  # three times what a socket's buffer holds
    request = HEAD.replace(b"50", str(len(page)).encode()) + b"\r\n" + page
    with socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.settimeout(20)
        caller.connect(address)
        caller.sendall(request)
        time.sleep(4)  # the answer is there, and its time is over
        taken = 0
        try:
            while piece := caller.recv(65_536):
                taken += len(piece)
        except ConnectionResetError:
            taken += 1  # a reset is an end as well
        assert 0 < taken < 2.9 * len(html)
