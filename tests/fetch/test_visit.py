"""A visit from end to end: which address is dialled, what goes back, what is dropped, what a hop may do."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import trustme

from service.failures import AddressForbidden, Failure, UpstreamError, UpstreamTimeout
from service.fetch import Guard, Response, StaticTier
from service.settings import Settings
from tests.conftest import loopback
from tests.hostile import HEAD, PAGE, repeats, sends
from tests.origin import Origin

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

    async def test_a_name_is_asked_for_once_a_connection(self, make: Make, origin: Origin) -> None:
        asked: list[str] = []
        client = make(loopback(origin.port), lambda name: asked.append(name) or ["127.0.0.1"])  # type: ignore[func-returns-value]
        origin.route("/a", PAGE)
        for _ in range(5):
            await client.get(origin.url("/a", host="once.test"))
        assert asked == ["once.test"]


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
    """Statuses that send nobody anywhere."""

    async def test_a_redirect_without_location_is_a_page(self, client: Client, origin: Origin) -> None:
        answer = await client.get(origin.route("/a", PAGE, status=302))
        assert (answer.status, answer.body) == (302, PAGE)


class TestCookies:
    """Schemes are kept apart, junk is borne."""

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

    async def test_the_last_content_type_and_the_first_location(self, client: Client, origin: Origin) -> None:
        two = b"Content-Type: text/html\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"
        origin.raw("/b", sends(b"HTTP/1.1 200 OK\r\n" + two))
        origin.raw("/a", sends(b"HTTP/1.1 302 F\r\nLocation: /b\r\nLocation: /c\r\n" + two))
        answer = await client.get(origin.url("/a"))
        assert (answer.content_type, answer.headers["content-type"]) == ("text/plain", "text/plain")
        assert origin.paths() == ["/a", "/b"]


class TestConnections:
    """What is dropped, and whom it holds up: nobody."""

    async def test_a_spent_deadline_fetches_nothing(self, client: Client, origin: Origin) -> None:
        failure = await client.failure(origin.route("/a", PAGE), seconds=-1)
        assert (type(failure), failure.reason) == (UpstreamTimeout, "deadline")
        assert origin.paths() == []

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
