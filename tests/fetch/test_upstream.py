"""The operator's own proxy: both tiers dial through it, to the addresses the guard checked."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator

import pytest

from service.failures import AddressForbidden, Failure, UpstreamError
from service.fetch import StaticTier
from service.settings import Settings, SettingsError, load
from tests.conftest import loopback
from tests.hostile import PAGE
from tests.origin import Origin


class Proxy:
    """A CONNECT proxy that writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.answer = b"HTTP/1.1 200 OK\r\n\r\n"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(head)
        writer.write(self.answer)
        if b" 200 " not in self.answer:
            writer.close()
            return
        host, port = head.split()[1].rsplit(b":", 1)
        upper, lower = await asyncio.open_connection(host.decode(), int(port))

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while piece := await source.read(65536):
                sink.write(piece)
            sink.close()

        await asyncio.gather(pump(reader, lower), pump(upper, writer), return_exceptions=True)


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[Proxy, int]]:
    running = Proxy()
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    yield running, server.sockets[0].getsockname()[1]
    server.close()


def through(origin: Origin, port: int, login: str = "") -> Settings:
    return loopback(
        origin.port,
        **{"egress": {"allow": ["127.0.0.1/32"], "ports": [origin.port], "proxy": f"http://{login}127.0.0.1:{port}"}},
    )


async def test_the_static_tier_goes_through_it(origin: Origin, proxy: tuple[Proxy, int]) -> None:
    running, port = proxy
    tier = StaticTier(through(origin, port, "me:s%40cret@"))
    answer = await tier.visit(asyncio.get_running_loop().time() + 5).get(origin.route("/a", PAGE))
    assert answer.body == PAGE
    assert running.asked[0].startswith(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic " + b64encode(b"me:s@cret") in running.asked[0]
    assert origin.requests[0].target == "/a"
    assert "proxy-authorization" not in origin.requests[0].headers
    await tier.aclose()


async def test_the_guard_still_decides(origin: Origin, proxy: tuple[Proxy, int]) -> None:
    running, port = proxy
    tier = StaticTier(through(origin, port))
    with pytest.raises(AddressForbidden):
        await tier.visit(asyncio.get_running_loop().time() + 5).get(f"http://127.0.0.2:{origin.port}/")
    assert running.asked == []
    await tier.aclose()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 No\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nearly",
        b"junk\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 40_000,
    ],
)
async def test_a_proxy_that_refuses_or_breaks(origin: Origin, proxy: tuple[Proxy, int], answer: bytes) -> None:
    running, port = proxy
    running.answer = answer
    tier = StaticTier(through(origin, port))
    with pytest.raises(Failure) as caught:
        await tier.visit(asyncio.get_running_loop().time() + 5).get(origin.url("/a"))
    assert isinstance(caught.value, UpstreamError)
    assert caught.value.reason == "proxy"
    await tier.aclose()


@pytest.mark.parametrize(
    "value", ["proxy.example:3128", "https://proxy.example", "http://", "http://p/x", "http://p:99999"]
)
def test_a_wrong_setting_is_named(value: str) -> None:
    with pytest.raises(SettingsError, match=r"egress\.proxy"):
        load("/dev/null", {"BONMUN_EGRESS__PROXY": value})
