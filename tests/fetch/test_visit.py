"""A visit from end to end: which address is dialled, what goes back, what is dropped, what a hop may do."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import trustme

from service.failures import AddressForbidden, Failure, InvalidRequest, UpstreamError, UpstreamTimeout
from service.fetch import Guard, Response, StaticTier
from service.settings import Settings
from tests.conftest import loopback
from tests.hostile import BROKEN, HEAD, PAGE, bomb, coded, repeats, sends
from tests.origin import Origin, Request

SLACK_SECONDS = 0.5
"""How late an answer may come after its deadline."""

Answers = Callable[[str], list[str]]


class Client:
    """A static tier whose names are resolved by a function, and one-call visits to it."""

    def __init__(self, settings: Settings, answers: Answers, context: ssl.SSLContext | None = None) -> None:
        async def resolver(name: str, port: int) -> list[str]:
            return answers(name)

        self.tier = StaticTier(settings, Guard(settings.egress, settings.fetch, resolver), context)

    async def get(self, url: str, seconds: float = 5) -> Response:
        return await self.tier.visit(asyncio.get_running_loop().time() + seconds).get(url)

    async def failure(self, url: str, seconds: float = 5) -> Failure:
        with pytest.raises(Failure) as caught:
            await self.get(url, seconds)
        return caught.value


Make = Callable[..., Client]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    made: list[Client] = []

    def client(
        settings: Settings, answers: Answers = lambda name: ["127.0.0.1"], context: ssl.SSLContext | None = None
    ) -> Client:
        made.append(Client(settings, answers, context))
        return made[-1]

    yield client
    for client_ in made:
        await client_.tier.aclose()


@pytest.fixture
def client(make: Make, settings: Settings) -> Client:
    return make(settings)


async def gone(origin: Origin) -> bool:
    """Whether every connection to the origin ends within two seconds."""
    for _ in range(200):
        if origin.closed == origin.connections:
            return True
        await asyncio.sleep(0.01)
    return False


class TestDialling:
    """Only judged addresses are dialled, each look-up is judged, the next address stands in for a dead one."""

    @pytest.fixture
    async def canary(self, origin: Origin) -> AsyncIterator[list[str]]:
        """Connections made to 127.0.0.2, an address outside the policy, at the origin's port."""
        seen: list[str] = []

        def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(str(writer.get_extra_info("sockname")))
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.2", origin.port)
        yield seen
        server.close()

    async def test_a_name_that_turns_private(self, make: Make, origin: Origin, canary: list[str]) -> None:
        answers = iter([["127.0.0.1"], ["127.0.0.2"]])
        client = make(loopback(origin.port), lambda name: next(answers))
        url = origin.url("/a", host="turns.test")
        length = f"Content-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n".encode()
        origin.raw("/a", sends(HEAD + length + PAGE))
        assert (await client.get(url)).body == PAGE
        failure = await client.failure(url)
        assert (type(failure), failure.reason) == (AddressForbidden, "address")
        assert canary == []

    async def test_one_private_address_among_public_ones(self, make: Make, origin: Origin, canary: list[str]) -> None:
        client = make(loopback(origin.port), lambda name: ["127.0.0.1", "127.0.0.2"])
        assert (await client.failure(origin.url("/a", host="mixed.test"))).reason == "address"
        assert (origin.connections, canary) == (0, [])

    async def test_the_next_address_stands_in(self, make: Make, origin: Origin) -> None:
        settings = Settings.model_validate({"egress": {"allow": ["127.0.0.0/8"], "ports": [origin.port]}})
        client = make(settings, lambda name: ["127.0.0.3", "127.0.0.4", "127.0.0.1"])
        origin.route("/a", PAGE)
        assert (await client.get(origin.url("/a", host="many.test"))).body == PAGE

    async def test_a_silent_address_leaves_time_for_the_next(self, make: Make, origin: Origin) -> None:
        with silent_port() as (address, port):
            origin.route("/a", PAGE)
            settings = Settings.model_validate(
                {"egress": {"allow": ["127.0.0.0/8"], "ports": [port]}, "fetch": {"connect_seconds": 0.6}}
            )
            server = await asyncio.start_server(_hello, "127.0.0.1", port)
            client = make(settings, lambda name: [address, "127.0.0.1"])
            started = time.perf_counter()
            assert (await client.get(f"http://slow.test:{port}/")).body == b"hello"
            assert time.perf_counter() - started < 0.3 + SLACK_SECONDS
            server.close()

    @pytest.mark.parametrize(
        "spelling",
        "127.0.0.2 127.255.255.254 2130706434 0177.0.0.2 017700000002 0x7f.2 0x7f000002 127.2 127.0.2 127.0.0.2. 0 "
        "0.0.0.0 [::] [::1] [::ffff:127.0.0.2] [::ffff:7f00:2] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] "
        "[fe80::1] [::ffff:100.64.0.1] 169.254.169.254 [fd00:ec2::254] 100.100.100.200 168.63.129.16 192.0.0.192 "
        "10.1.2.3 172.16.0.1 192.168.0.1 100.64.0.1 198.18.0.1 224.0.0.1 [ff02::1] 255.255.255.255 240.0.0.1 "
        "①②⑦.⓪.⓪.② %31%32%37.0.0.2".split(),
    )
    async def test_spellings_directly_and_by_redirect(self, client: Client, origin: Origin, spelling: str) -> None:
        url = f"http://{spelling}:{origin.port}/"
        origin.route("/hop", status=302, headers={"Location": url})
        for start in (url, origin.url("/hop")):
            failure = await client.failure(start)
            assert (type(failure), failure.reason) == (AddressForbidden, "address"), start
        assert origin.paths() == ["/hop"]

    async def test_a_name_is_asked_for_once_a_connection(self, make: Make, origin: Origin) -> None:
        asked: list[str] = []
        client = make(loopback(origin.port), lambda name: asked.append(name) or ["127.0.0.1"])  # type: ignore[func-returns-value]
        origin.route("/a", PAGE)
        for _ in range(5):
            await client.get(origin.url("/a", host="once.test"))
        assert asked == ["once.test"]

    async def test_silent_look_ups_hold_up_nothing(self, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
        """The system's resolver, silent for a second in each of its 50 calls."""
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(1) or [])
        tier = StaticTier(loopback(origin.port, fetch={"dns_seconds": 0.4}))
        origin.route("/a", PAGE)
        started = time.perf_counter()
        visits = [
            tier.visit(asyncio.get_running_loop().time() + 5).get(origin.url("/", host=f"silent{number}.test"))
            for number in range(50)
        ]
        waiting = asyncio.gather(*visits, return_exceptions=True)
        await asyncio.sleep(0.05)
        await asyncio.get_running_loop().run_in_executor(None, int)
        answer = await tier.visit(asyncio.get_running_loop().time() + 5).get(origin.url("/a"))
        assert time.perf_counter() - started < 0.4
        assert answer.body == PAGE
        failures = await waiting
        assert time.perf_counter() - started < 0.4 + SLACK_SECONDS
        assert {(type(failure), failure.reason) for failure in failures} == {(UpstreamTimeout, "dns_timeout")}
        await tier.aclose()


class silent_port:
    """A listening address whose backlog is full: the kernel answers no further connection."""

    def __enter__(self) -> tuple[str, int]:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.5", 0))
        self.listener.listen(0)
        self.waiting = [socket.socket() for _ in range(4)]
        for client in self.waiting:
            client.setblocking(False)
            client.connect_ex(self.listener.getsockname())
        address, port = self.listener.getsockname()
        return address, port

    def __exit__(self, *_: object) -> None:
        for client in (*self.waiting, self.listener):
            client.close()


async def _hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    await writer.drain()
    writer.close()


class TestHops:
    """`follow`, and whose fault an unusable address is."""

    async def test_follow_is_relative_to_the_last_page_and_counts(self, client: Client, origin: Origin) -> None:
        origin.route("/a", status=302, headers={"Location": "/deep/b"})
        origin.route("/deep/b", PAGE)
        origin.route("/deep/c", "next")
        visit = client.tier.visit(asyncio.get_running_loop().time() + 5)
        await visit.get(origin.url("/a"))
        for _ in range(2):
            assert (await visit.follow("c")).body == b"next"
        with pytest.raises(UpstreamTimeout) as caught:
            await visit.follow("c")
        assert (caught.value.reason, caught.value.url) == ("redirects", origin.url("/deep/c"))
        assert origin.paths() == ["/a", "/deep/b", "/deep/c", "/deep/c"]

    @pytest.mark.parametrize(
        ("reference", "kind", "reason"),
        [
            ("http://[::1]:{port}/", AddressForbidden, "address"),
            ("file:///etc/passwd", AddressForbidden, "scheme"),
            ("javascript:alert(1)", AddressForbidden, "scheme"),
            ("http://a.test\\@b.test/", UpstreamError, "url_bad_char"),
            ("http://[", UpstreamError, "url_invalid"),
        ],
    )
    async def test_follow_is_judged(
        self, client: Client, origin: Origin, reference: str, kind: type[Failure], reason: str
    ) -> None:
        visit = client.tier.visit(asyncio.get_running_loop().time() + 5)
        await visit.get(origin.route("/a", PAGE))
        with pytest.raises(Failure) as caught:
            await visit.follow(reference.format(port=origin.port))
        assert (type(caught.value), caught.value.reason) == (kind, reason)

    async def test_the_callers_own_address(self, client: Client) -> None:
        failure = await client.failure("example.com/x")
        assert (type(failure), failure.reason) == (InvalidRequest, "url_invalid")
        assert "http://" in failure.message

    async def test_a_location_in_raw_utf8(self, client: Client, origin: Origin) -> None:
        origin.raw("/a", sends("HTTP/1.1 302 F\r\nLocation: /뉴스 1\r\nContent-Length: 0\r\n\r\n".encode()))
        origin.route("/%EB%89%B4%EC%8A%A4%201", PAGE)
        assert (await client.get(origin.url("/a"))).body == PAGE

    async def test_a_redirect_without_location_is_a_page(self, client: Client, origin: Origin) -> None:
        answer = await client.get(origin.route("/a", PAGE, status=302))
        assert (answer.status, answer.body) == (302, PAGE)


class TestCookies:
    """A jar a visit; any bytes come back as they were set; hosts and schemes are kept apart."""

    async def test_raw_utf8_goes_back_unchanged(self, client: Client, origin: Origin) -> None:
        origin.raw(
            "/set",
            sends(
                "HTTP/1.1 302 F\r\nLocation: /end\r\nSet-Cookie: n=한글; Path=/\r\nContent-Length: 0\r\n\r\n".encode()
            ),
        )
        origin.route("/end", PAGE)
        await client.get(origin.url("/set"))
        assert origin.requests[-1].headers["cookie"].encode("latin-1").decode() == "n=한글"

    async def test_no_other_host_gets_them(self, client: Client, origin: Origin) -> None:
        other, back = origin.url("/other", host="b.test"), origin.url("/back", host="a.test")
        origin.route("/set", status=302, headers={"Location": other, "Set-Cookie": "k=v"})
        origin.route("/other", status=302, headers={"Location": back, "Set-Cookie": "k=x; Domain=a.test"})
        origin.route("/back", PAGE)
        await client.get(origin.url("/set", host="a.test"))
        assert [request.headers.get("cookie") for request in origin.requests] == [None, None, "k=v"]

    async def test_secure_ones_stay_off_plain_http(self, client: Client, origin: Origin) -> None:
        origin.route("/set", status=302, headers={"Location": "/end", "Set-Cookie": "k=v; Secure"})
        origin.route("/end", PAGE)
        await client.get(origin.url("/set"))
        assert "cookie" not in origin.requests[-1].headers

    async def test_junk_is_harmless(self, client: Client, origin: Origin) -> None:
        junk = "=; ;;=\xff" + "; a=b" * 5_000
        origin.route("/set", status=302, headers={"Location": "/end", "Set-Cookie": junk})
        origin.route("/end", PAGE)
        started = time.perf_counter()
        assert (await client.get(origin.url("/set"))).body == PAGE
        assert time.perf_counter() - started < 1


class TestFields:
    """Repeated header fields."""

    async def test_two_codings_in_two_fields_are_stacked(self, client: Client, origin: Origin) -> None:
        origin.raw("/a", sends(HEAD + b"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n" + PAGE))
        assert (await client.failure(origin.url("/a"))).reason == "encoding"

    async def test_the_last_content_type_and_the_first_location(self, client: Client, origin: Origin) -> None:
        two = b"Content-Type: text/html\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"
        origin.raw("/b", sends(b"HTTP/1.1 200 OK\r\n" + two))
        origin.raw("/a", sends(b"HTTP/1.1 302 F\r\nLocation: /b\r\nLocation: /c\r\n" + two))
        answer = await client.get(origin.url("/a"))
        assert (answer.content_type, answer.headers["content-type"]) == ("text/plain", "text/plain")
        assert origin.paths() == ["/a", "/b"]


class TestConnections:
    """What is asked again and what is not; what is dropped."""

    @pytest.mark.parametrize("name", [name for name, (_, reason) in BROKEN.items() if reason == "fetch"])
    async def test_a_fresh_connections_fault_is_not_asked_for_twice(
        self, client: Client, origin: Origin, name: str
    ) -> None:
        await client.failure(origin.raw("/a", sends(BROKEN[name][0])))
        assert origin.paths() == ["/a"]
        assert await gone(origin)

    async def test_a_kept_connection_closed_while_asked_is_asked_anew(self, client: Client, origin: Origin) -> None:
        """The race no look at the socket can see: the origin closes at the very request."""
        served: set[int] = set()
        message = HEAD + f"Content-Length: {len(PAGE)}\r\n\r\n".encode() + PAGE

        async def once_a_connection(_: Request, writer: asyncio.StreamWriter) -> None:
            peer = writer.get_extra_info("peername")[1]
            if peer in served:
                writer.close()
                return
            served.add(peer)
            writer.write(message)
            await writer.drain()

        url = origin.raw("/a", once_a_connection)
        for _ in range(3):
            assert (await client.get(url)).body == PAGE
        assert origin.connections == 3

    async def test_a_spent_deadline_fetches_nothing(self, client: Client, origin: Origin) -> None:
        failure = await client.failure(origin.route("/a", PAGE), seconds=-1)
        assert (type(failure), failure.reason) == (UpstreamTimeout, "deadline")
        assert origin.paths() == []

    async def test_one_deadline_for_the_whole_chain(self, client: Client, origin: Origin) -> None:
        for hop in range(3):
            origin.raw(f"/{hop}", _later(0.3, f"/{hop + 1}"))
        started = time.perf_counter()
        assert (await client.failure(origin.url("/0"), seconds=0.7)).reason == "deadline"
        assert time.perf_counter() - started < 0.7 + SLACK_SECONDS

    async def test_nothing_is_left_after_a_deadline(self, client: Client, origin: Origin) -> None:
        failure = await client.failure(origin.raw("/a", repeats(HEAD + b"\r\n", b"x", 0.02)), seconds=0.3)
        assert failure.reason == "deadline"
        assert client.tier.pool.connections == []
        assert await gone(origin)

    async def test_nothing_is_left_after_a_cut_body(self, client: Client, origin: Origin) -> None:
        assert (await client.get(origin.raw("/a", repeats(HEAD + b"\r\n", b"x" * 9_000)))).truncated
        assert client.tier.pool.connections == []
        assert await gone(origin)

    async def test_cancelling_is_no_failure(self, client: Client, origin: Origin) -> None:
        task = asyncio.create_task(client.get(origin.raw("/a", repeats(HEAD + b"\r\n", b"x", 0.02))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await gone(origin)

    async def test_slow_origins_hold_up_no_other(self, client: Client, origin: Origin) -> None:
        slow = origin.raw("/slow", repeats(HEAD + b"\r\n", b"x", 0.02))
        waiting = asyncio.gather(*(client.failure(slow, seconds=0.8) for _ in range(30)))
        await asyncio.sleep(0.1)
        started = time.perf_counter()
        assert (await client.get(origin.route("/a", PAGE))).body == PAGE
        assert time.perf_counter() - started < SLACK_SECONDS
        assert {failure.reason for failure in await waiting} == {"deadline"}

    async def test_a_body_of_just_the_cap_is_whole(self, make: Make, origin: Origin) -> None:
        client = make(loopback(origin.port, limits={"max_body_bytes": 1_000}))
        for size, truncated in ((1_000, False), (1_001, True)):
            answer = await client.get(origin.route(f"/{size}", b"a" * size))
            assert (len(answer.body), answer.truncated) == (1_000, truncated)

    async def test_a_head_over_the_parsers_own_limit(self, make: Make, origin: Origin) -> None:
        client = make(loopback(origin.port, limits={"max_header_bytes": 1_000_000}))
        origin.raw("/a", repeats(b"HTTP/1.1 200 OK\r\nX: ", b"a" * 4_096))
        assert (await client.failure(origin.url("/a"))).reason == "headers"


def _later(seconds: float, location: str) -> Callable[[Request, asyncio.StreamWriter], object]:
    async def handler(_: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(f"HTTP/1.1 302 F\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()

    return handler


class TestTLS:
    """Over TLS as in the clear."""

    @pytest.fixture
    def secure(self) -> Iterator[tuple[Origin, ssl.SSLContext]]:
        authority = trustme.CA()
        served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("right.test", "127.0.0.1").configure_cert(served)
        trusted = ssl.create_default_context()
        authority.configure_trust(trusted)
        with Origin(served) as origin:
            yield origin, trusted

    @pytest.mark.parametrize("host", ["right.test", "right.test.", "127.0.0.1"])
    async def test_names_the_certificate_holds(
        self, make: Make, secure: tuple[Origin, ssl.SSLContext], host: str
    ) -> None:
        origin, trusted = secure
        origin.route("/a", PAGE)
        client = make(loopback(origin.port), context=trusted)
        assert (await client.get(origin.url("/a", host=host))).body == PAGE

    async def test_an_unknown_authority(self, make: Make, secure: tuple[Origin, ssl.SSLContext]) -> None:
        origin, _ = secure
        failure = await make(loopback(origin.port)).failure(origin.url("/a"))
        assert (type(failure), failure.reason) == (UpstreamError, "tls")
        assert "self-signed" in failure.message or "certificate" in failure.message

    async def test_no_tls_where_tls_should_be(self, make: Make) -> None:
        async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()

        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        failure = await make(loopback(port)).failure(f"https://127.0.0.1:{port}/")
        assert (type(failure), failure.reason) == (UpstreamError, "tls")
        server.close()

    async def test_a_drip_is_cut_and_dropped(self, make: Make, secure: tuple[Origin, ssl.SSLContext]) -> None:
        origin, trusted = secure
        client = make(loopback(origin.port), context=trusted)
        origin.raw("/a", repeats(HEAD + b"\r\n", b"x", 0.02))
        assert (await client.failure(origin.url("/a"), seconds=0.4)).reason == "deadline"
        assert await gone(origin)


FOOTPRINT = """
import asyncio, resource, sys
from service.fetch import StaticTier
from service.settings import Settings

async def main(port, path):
    tier = StaticTier(Settings.model_validate({"egress": {"allow": ["127.0.0.1/32"], "ports": [int(port)]}}))
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    get = lambda path: tier.visit(asyncio.get_running_loop().time() + 10).get(f"http://127.0.0.1:{port}{path}")
    await get("/warm")
    before = peak()
    answer = await get(path)
    print(len(answer.body), answer.truncated, (peak() - before) // (1 << 20 if sys.platform == "darwin" else 1 << 10))
    await tier.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "100 MB"])
def test_memory_of_bombs_and_big_bodies(origin: Origin, name: str) -> None:
    """In a process of its own: this one's high-water mark already holds what made the bomb."""
    origin.route("/warm", PAGE)
    if name == "100 MB":
        origin.raw("/big", repeats(HEAD + b"Content-Length: 100000000\r\n\r\n", b"a" * 100_000, times=1_000))
    else:
        origin.raw("/big", coded(name, bomb(name)))
    command = [sys.executable, "-c", FOOTPRINT, str(origin.port), "/big"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=True)
    size, truncated, grown = done.stdout.split()
    assert (int(size), truncated) == (4 << 20, "True")
    assert int(grown) < 64, f"{grown} MiB"
