"""The static tier against a real origin: redirects, cookies, reuse, deadlines, broken and hostile answers."""

from __future__ import annotations

import asyncio
import gzip
import resource
import ssl
import time
from collections.abc import AsyncIterator, Callable

import brotli
import pytest
import trustme
import zstandard

from service.failures import AddressForbidden, Failure, UpstreamError, UpstreamTimeout
from service.fetch import Guard, Response, StaticTier, retry_after
from tests.conftest import loopback
from tests.hostile import BROKEN, HEAD, PAGE, bomb, coded, repeats, sends
from tests.origin import Origin

Get = Callable[..., "asyncio.Future[Response]"]


class Client:
    """A static tier whose visits are one call."""

    def __init__(self, tier: StaticTier) -> None:
        self.tier = tier

    async def get(self, url: str, seconds: float = 5) -> Response:
        return await self.tier.visit(asyncio.get_running_loop().time() + seconds).get(url)

    async def failure(self, url: str, seconds: float = 5) -> Failure:
        with pytest.raises(Failure) as caught:
            await self.get(url, seconds)
        assert caught.value.url
        return caught.value


@pytest.fixture
async def client(origin: Origin) -> AsyncIterator[Client]:
    tier = StaticTier(loopback(origin.port, limits={"max_body_bytes": 1 << 20, "max_wire_bytes": 2 << 20}))
    yield Client(tier)
    await tier.aclose()


async def test_a_page(client: Client, origin: Origin) -> None:
    answer = await client.get(origin.route("/a", PAGE) + "#part")
    assert (answer.status, answer.body, answer.truncated) == (200, PAGE, False)
    assert answer.url == origin.url("/a")
    assert origin.requests[0].headers["host"] == f"127.0.0.1:{origin.port}"
    assert "Bonmun" in origin.requests[0].headers["user-agent"]
    assert "text/markdown" in origin.requests[0].headers["accept"]


async def test_an_error_status_is_returned_with_its_body(client: Client, origin: Origin) -> None:
    answer = await client.get(origin.route("/a", "gone", status=410))
    assert (answer.status, answer.body) == (410, b"gone")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects(client: Client, origin: Origin, status: int) -> None:
    origin.route("/end", PAGE)
    for hop in range(4):
        origin.route(f"/{hop}", status=status, headers={"Location": f"/{hop - 1}" if hop else "/end"})
    assert (await client.get(origin.url("/2"))).url == origin.url("/end")
    failure = await client.failure(origin.url("/3"))
    assert isinstance(failure, UpstreamTimeout)
    assert failure.reason == "redirects"


async def test_a_redirect_loop_and_an_unread_redirect_body(client: Client, origin: Origin) -> None:
    origin.route("/loop", status=302, headers={"Location": "/loop"})
    assert (await client.failure(origin.url("/loop"))).reason == "redirects"
    origin.route("/end", PAGE)
    origin.raw(
        "/endless",
        repeats(b"HTTP/1.1 302 F\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n"),
    )
    assert (await client.get(origin.url("/endless"))).body == PAGE


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest", "port"),
        ("http://169.254.169.254:{port}/latest", "address"),
        ("http://2130706434:{port}/", "address"),
        ("http://0x7f.2:{port}/", "address"),
        ("//127.0.0.2:{port}/", "address"),
        ("http://[::1]:{port}/", "address"),
        ("http://intranet:{port}/", "hostname"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://u:p@127.0.0.1:{port}/", "userinfo"),
    ],
)
async def test_a_redirect_is_judged_like_a_first_address(
    client: Client, origin: Origin, location: str, reason: str
) -> None:
    origin.route("/a", status=302, headers={"Location": location.format(port=origin.port)})
    failure = await client.failure(origin.url("/a"))
    assert isinstance(failure, AddressForbidden)
    assert failure.reason == reason
    assert origin.paths() == ["/a"]


async def test_a_rebinding_name_is_dialled_where_it_was_judged(origin: Origin) -> None:
    """The name is public when judged and private when asked again: it is asked once, and that answer is dialled."""
    origin.route("/a", PAGE)
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def resolver(name: str, port: int) -> list[str]:
        return next(answers)

    settings = loopback(origin.port)
    tier = StaticTier(settings, Guard(settings.egress, settings.fetch, resolver))
    client = Client(tier)
    for _ in range(3):  # the second answer is never asked for: the checked connection is used again
        assert (await client.get(origin.url("/a", host="rebind.test"))).status == 200
    assert origin.connections == 1
    assert origin.requests[0].headers["host"] == f"rebind.test:{origin.port}"
    await tier.aclose()


async def test_connections_are_used_again(client: Client, origin: Origin) -> None:
    url = origin.route("/a", PAGE)
    for _ in range(5):
        await client.get(url)
    assert origin.connections == 1


async def test_a_kept_connection_that_its_origin_closed_is_replaced(client: Client, origin: Origin) -> None:
    length = f"Content-Length: {len(PAGE)}\r\n\r\n".encode()
    url = origin.raw("/a", sends(HEAD + length + PAGE, then="close"))
    for _ in range(3):
        assert (await client.get(url)).body == PAGE


async def test_cookies_live_in_one_chain(client: Client, origin: Origin) -> None:
    origin.route("/set", status=302, headers={"Location": "/end", "Set-Cookie": "k=v; Path=/"})
    origin.route("/end", PAGE)
    await client.get(origin.url("/set"))
    await client.get(origin.url("/end"))
    assert [request.headers.get("cookie") for request in origin.requests] == [None, "k=v", None]


DRIPS = {
    "body": repeats(HEAD + b"\r\n", b"x", 0.05),
    "header": repeats(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.05),
    "interim": repeats(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.05),
    "silence": sends(b"", then="stall"),
    "silence after length": sends(HEAD + b"Content-Length: 1000000\r\n\r\nhello", then="stall"),
}


@pytest.mark.parametrize("drip", DRIPS)
async def test_the_deadline_cuts_and_the_connection_goes(client: Client, origin: Origin, drip: str) -> None:
    origin.raw("/drip", DRIPS[drip])
    started = time.perf_counter()
    failure = await client.failure(origin.url("/drip"), seconds=0.6)
    assert time.perf_counter() - started < 1.1
    assert isinstance(failure, UpstreamTimeout)
    assert failure.reason == "deadline"
    assert (await client.get(origin.route("/a", PAGE))).body == PAGE
    assert origin.connections == 2


async def test_a_silent_origin_is_left_after_the_read_time(origin: Origin) -> None:
    tier = StaticTier(loopback(origin.port, fetch={"read_seconds": 0.3}))
    failure = await Client(tier).failure(origin.raw("/a", sends(b"", then="stall")))
    assert (type(failure), failure.reason) == (UpstreamTimeout, "read_timeout")
    await tier.aclose()


@pytest.mark.parametrize(("flood", "reason"), [("interim", "headers"), ("chunk extensions", "wire_bytes")])
async def test_bytes_are_counted_on_the_socket(client: Client, origin: Origin, flood: str, reason: str) -> None:
    """1xx answers and chunk extensions never reach a body counter; 1xx answers count towards the head's limit."""
    floods = {
        "interim": repeats(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </" + b"a" * 2000 + b">\r\n\r\n"),
        "chunk extensions": repeats(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1;x=" + b"a" * 2000 + b"\r\nx\r\n"),
    }
    failure = await client.failure(origin.raw("/a", floods[flood]), seconds=20)
    assert (type(failure), failure.reason) == (UpstreamError, reason)


@pytest.mark.parametrize("name", BROKEN)
async def test_broken_answers_are_named(client: Client, origin: Origin, name: str) -> None:
    data, reason = BROKEN[name]
    failure = await client.failure(origin.raw("/a", sends(data)))
    assert (type(failure), failure.reason) == (UpstreamError, reason), failure.message
    assert (await client.get(origin.route("/b", PAGE))).body == PAGE


async def test_endless_headers_and_reset(client: Client, origin: Origin) -> None:
    endless = repeats(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"b" * 1000 + b"\r\n")
    assert (await client.failure(origin.raw("/a", endless))).reason == "headers"
    assert (await client.failure(origin.raw("/b", sends(HEAD, then="reset")))).reason == "fetch"


async def test_no_one_listens(client: Client, origin: Origin) -> None:
    tier = StaticTier(loopback(1))
    failure = await Client(tier).failure("http://127.0.0.1:1/")
    assert (type(failure), failure.reason) == (UpstreamError, "connect")
    await tier.aclose()


async def test_an_endless_body_is_cut_at_the_cap(client: Client, origin: Origin) -> None:
    url = origin.raw("/a", repeats(HEAD + b"\r\n", b"word " * 2000))
    answer = await client.get(url, seconds=20)
    assert answer.truncated
    assert len(answer.body) == 1 << 20


CODINGS = {
    "gzip": gzip.compress(PAGE),
    "x-gzip": gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:]) + b"junk",
    "br": brotli.compress(PAGE),
    "zstd": zstandard.compress(PAGE),
    "deflate": __import__("zlib").compress(PAGE),
    "identity": PAGE,
}


@pytest.mark.parametrize("coding", CODINGS)
async def test_codings(client: Client, origin: Origin, coding: str) -> None:
    answer = await client.get(origin.raw("/a", coded(coding, CODINGS[coding])))
    assert answer.body == PAGE
    assert not answer.truncated


async def test_bare_deflate_and_an_empty_coded_body(client: Client, origin: Origin) -> None:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bare = packer.compress(PAGE) + packer.flush()
    assert (await client.get(origin.raw("/a", coded("deflate", bare)))).body == PAGE
    assert (await client.get(origin.raw("/b", coded("gzip", b"")))).body == b""


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
async def test_a_bomb_costs_nothing(client: Client, origin: Origin, coding: str) -> None:
    url = origin.raw("/bomb", coded(coding, bomb(coding)))
    await client.get(origin.route("/a", PAGE))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = await client.get(url, seconds=20)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert answer.truncated
    assert len(answer.body) == 1 << 20
    assert grown < 64, f"{grown:.0f} MiB"


def test_retry_after() -> None:
    from email.utils import formatdate

    assert retry_after({"retry-after": "120"}) == 120
    assert 50 <= (retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)}) or 0) <= 61
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None
    assert retry_after({"retry-after": "99999999999"}) == 86_400


class TestTLS:
    """Certificates are checked for the URL's name, wherever the connection is pinned to."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    async def secure(self, authority: trustme.CA) -> AsyncIterator[tuple[Client, Origin]]:
        served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("right.test").configure_cert(served)
        trusted = ssl.create_default_context()
        authority.configure_trust(trusted)
        with Origin(served) as origin:
            settings = loopback(origin.port)

            async def resolver(name: str, port: int) -> list[str]:
                return ["127.0.0.1"]

            tier = StaticTier(settings, Guard(settings.egress, settings.fetch, resolver), trusted)
            yield Client(tier), origin
            await tier.aclose()

    async def test_right_name(self, secure: tuple[Client, Origin]) -> None:
        client, origin = secure
        origin.route("/a", PAGE)
        assert (await client.get(origin.url("/a", host="right.test"))).body == PAGE
        assert origin.requests[0].headers["host"] == f"right.test:{origin.port}"

    async def test_wrong_name(self, secure: tuple[Client, Origin]) -> None:
        client, origin = secure
        failure = await client.failure(origin.url("/a", host="wrong.test"))
        assert (type(failure), failure.reason) == (UpstreamError, "tls")
        assert origin.requests == []

    async def test_a_handshake_never_answered(self) -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        tier = StaticTier(loopback(port))
        started = time.perf_counter()
        failure = await Client(tier).failure(f"https://127.0.0.1:{port}/", seconds=0.5)
        assert (type(failure), failure.reason) == (UpstreamTimeout, "deadline")
        assert time.perf_counter() - started < 1
        await tier.aclose()
        server.close()
