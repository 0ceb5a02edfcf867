"""The browser's proxy, spoken to as a browser does: what it forwards, refuses, counts and cuts."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable

import pytest

from service.fetch.egress import Egress, Lane
from service.fetch.guard import Guard
from service.fetch.network import PinnedBackend
from service.settings import Settings
from tests.conftest import loopback
from tests.hostile import HEAD, repeats, sends
from tests.origin import Origin, Request

Open = Callable[..., "asyncio.Future[Lane]"]


@pytest.fixture
async def lane(origin: Origin) -> AsyncIterator[Open]:
    """Opens lanes; `answers` are the addresses each look-up gives, one list after another."""
    opened: list[tuple[Lane, Guard]] = []

    async def open_lane(*answers: list[str], **render: object) -> Lane:
        settings = loopback(origin.port, render=render)
        queue = list(answers)

        async def resolver(name: str, port: int) -> list[str]:
            return queue.pop(0) if len(queue) > 1 else queue[0]

        guard = Guard(settings.egress, settings.fetch, resolver if answers else None)
        running = await Egress(settings, PinnedBackend(guard)).open(listener())
        opened.append((running, guard))
        return running

    yield open_lane
    for running, guard in opened:
        await running.aclose()
        guard.close()


def listener() -> socket.socket:
    bound = socket.create_server(("127.0.0.1", 0))
    bound.setblocking(False)
    return bound


async def speak(lane: Lane, data: bytes, seconds: float = 5) -> bytes:
    """What comes back for these bytes, until the proxy closes or falls silent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", lane.port)
    writer.write(data)
    answer = b""
    try:
        async with asyncio.timeout(seconds):
            while piece := await reader.read(65536):
                answer += piece
    except (TimeoutError, ConnectionError):
        answer += b""
    finally:
        writer.close()
    return answer


def get(url: str, *fields: str, method: str = "GET") -> bytes:
    authority = url.split("/")[2]
    return "\r\n".join([f"{method} {url} HTTP/1.1", f"Host: {authority}", *fields, "", ""]).encode()


async def test_plain_http_goes_through_without_what_is_for_the_proxy(lane: Open, origin: Origin) -> None:
    url = origin.route("/a?b=c", "hello", headers={"X-Own": "1", "Connection": "keep-alive", "Keep-Alive": "timeout=5"})
    origin.route("/a", "hello", headers={"X-Own": "1", "Keep-Alive": "timeout=5"})
    answer = await speak(
        await lane(), get(url, "Proxy-Connection: keep-alive", "X-Mine: 2", "Connection: close, X-Hop", "X-Hop: 3")
    )
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"x-own: 1" in answer.lower()
    assert b"timeout=5" not in answer
    assert answer.endswith(b"hello")
    request = origin.requests[0]
    assert request.target == "/a?b=c"
    assert request.headers["x-mine"] == "2"
    assert request.headers["host"] == f"127.0.0.1:{origin.port}"
    assert not {"proxy-connection", "x-hop"} & set(request.headers)


async def test_one_connection_serves_request_after_request(lane: Open, origin: Origin) -> None:
    paths = ("/one", "/two", "/three")
    for path in paths:
        origin.route(path, path)
    running = await lane()
    answer = await speak(running, b"".join(get(origin.url(path)) for path in paths), 1)
    assert [answer.count(path.encode()) for path in paths] == [1, 1, 1]
    assert origin.paths() == list(paths)
    assert running.costs.requests == 3


async def test_a_body_is_forwarded(lane: Open, origin: Origin) -> None:
    bodies: list[bytes] = []

    async def take(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 No\r\n\r\n")
        await writer.drain()
        bodies.append(request.headers["content-length"].encode())

    origin.raw("/post", take)
    answer = await speak(await lane(), get(origin.url("/post"), "Content-Length: 5", method="POST") + b"hello", 1)
    assert answer.startswith(b"HTTP/1.1 204")
    assert bodies == [b"5"]


async def test_a_tunnel(lane: Open, origin: Origin) -> None:
    origin.route("/a", "through")
    connect = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    running = await lane()
    answer = await speak(running, connect + b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 1)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"through")
    assert running.costs.bytes >= len("through")


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.2", "address"),
        ("169.254.169.254", "address"),
        ("[::1]", "address"),
        ("[::ffff:127.0.0.2]", "address"),
        ("[64:ff9b::7f00:2]", "address"),
        ("10.0.0.1", "address"),
        ("192.0.0.192", "address"),
        ("224.0.0.1", "address"),
        ("intranet", "hostname"),
        ("metadata.internal", "hostname"),
    ],
)
async def test_what_the_guard_forbids_is_dialled_by_neither_way(
    lane: Open, origin: Origin, host: str, reason: str
) -> None:
    running = await lane()
    assert await speak(running, get(f"http://{host}:{origin.port}/"), 1) == b""
    assert [failure.reason for failure in running.failures.values()] == [reason]
    running.failures.clear()
    answer = await speak(running, f"CONNECT {host}:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 1)
    assert answer.startswith(b"HTTP/1.1 403")
    assert [failure.reason for failure in running.failures.values()] == [reason]
    assert origin.connections == 0


async def test_spellings_of_loopback_in_absolute_form(lane: Open, origin: Origin) -> None:
    running = await lane()
    for host in ("2130706434", "0x7f.2", "0177.0.0.2", "127.2", "%31%32%37.0.0.2"):
        assert await speak(running, get(f"http://{host}:{origin.port}/"), 1) == b""
    assert {failure.reason for failure in running.failures.values()} == {"address"}


@pytest.mark.parametrize("port", [22, 6379, 0, 65536])
async def test_ports(lane: Open, port: int) -> None:
    running = await lane()
    await speak(running, f"CONNECT 8.8.8.8:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 1)
    await speak(running, get(f"http://8.8.8.8:{port}/"), 1)
    assert {failure.reason for failure in running.failures.values()} <= {"port", "url_invalid"}


async def test_a_name_that_turns_private_is_dialled_at_the_checked_address_only(lane: Open, origin: Origin) -> None:
    """Public first, private later: each connection is judged by its own look-up, and goes where that pointed."""
    origin.route("/a", "hello")
    running = await lane(["127.0.0.1"], ["10.0.0.1"])
    url = f"http://a.test:{origin.port}/a"
    assert (await speak(running, get(url), 1)).endswith(b"hello")
    assert await speak(running, get(url), 1) == b""
    assert running.failures[("a.test", origin.port)].reason == "address"


async def test_one_private_address_among_public_ones(lane: Open, origin: Origin) -> None:
    running = await lane(["127.0.0.1", "10.0.0.1"])
    assert await speak(running, get(f"http://a.test:{origin.port}/a"), 1) == b""
    assert origin.connections == 0


async def test_bytes_are_bounded(lane: Open, origin: Origin) -> None:
    origin.raw("/endless", repeats(HEAD + b"\r\n", b"x" * 65536))
    running = await lane(max_bytes=1_000_000)
    answer = await speak(running, get(origin.url("/endless")))
    assert 500_000 < len(answer) <= 1_100_000
    assert running.costs.spent == "bytes"
    assert await speak(running, get(origin.url("/endless")), 1) == b"", "nothing more goes out"


async def test_bytes_of_a_tunnel_are_bounded(lane: Open, origin: Origin) -> None:
    origin.raw("/endless", repeats(HEAD + b"\r\n", b"x" * 65536))
    running = await lane(max_bytes=1_000_000)
    connect = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert len(await speak(running, connect + b"GET /endless HTTP/1.1\r\n\r\n")) <= 1_100_000
    assert running.costs.spent == "bytes"


async def test_requests_and_hosts_are_bounded(lane: Open, origin: Origin) -> None:
    origin.route("/a", "hello")
    running = await lane(["127.0.0.1"], max_requests=3, max_hosts=2)
    for name in ("a.test", "b.test", "c.test", "a.test"):
        await speak(running, get(f"http://{name}:{origin.port}/a"), 0.5)
    assert running.failures[("c.test", origin.port)].reason == "hosts"
    assert running.costs.spent is None, "what is under way goes on"
    assert len(origin.paths()) == 2


async def test_connections_are_bounded(lane: Open, origin: Origin) -> None:
    origin.raw("/stall", sends(HEAD + b"\r\n<p>half", then="stall"))
    running = await lane(max_connections=2)
    first, second, third = (asyncio.ensure_future(speak(running, get(origin.url("/stall")), 1)) for _ in range(3))
    assert await third == b""
    assert (await first)[:12] == (await second)[:12] == b"HTTP/1.1 200"
    assert origin.connections == 2


async def test_closing_cuts_everything_at_once(lane: Open, origin: Origin) -> None:
    origin.raw("/stall", sends(HEAD + b"\r\n<p>half", then="stall"))
    running = await lane()
    waiting = asyncio.ensure_future(speak(running, get(origin.url("/stall"))))
    await asyncio.sleep(0.2)
    started = time.monotonic()
    await running.aclose()
    await waiting
    assert time.monotonic() - started < 0.5
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", running.port)


@pytest.mark.parametrize(
    "junk",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://a.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://user:pass@127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET " + b"x" * 100_000,
        b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz",
        b"",
    ],
)
async def test_what_is_no_request_ends_the_connection(lane: Open, origin: Origin, junk: bytes) -> None:
    running = await lane()
    assert b" 200 " not in await speak(running, junk, 0.5)
    origin.route("/a", "hello")
    assert (await speak(running, get(origin.url("/a")), 0.5)).endswith(b"hello"), "and the next is served"


@pytest.mark.parametrize(
    "broken",
    [
        HEAD + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        b"SSH-2.0-x\r\n",
        b"",
        HEAD + b"Content-Length: 50\r\n\r\nhalf",
    ],
)
async def test_a_broken_origin_ends_the_connection(lane: Open, origin: Origin, broken: bytes) -> None:
    origin.raw("/broken", sends(broken))
    started = time.monotonic()
    await speak(await lane(), get(origin.url("/broken")))
    assert time.monotonic() - started < 2


async def test_a_refused_and_a_silent_origin_are_named(lane: Open, origin: Origin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    settings: Settings = loopback(port)
    guard = Guard(settings.egress, settings.fetch)
    running = await Egress(settings, PinnedBackend(guard)).open(listener())
    await speak(running, get(f"http://127.0.0.1:{port}/"), 1)
    assert running.failures[("127.0.0.1", port)].reason == "connect"
    await running.aclose()
    guard.close()
