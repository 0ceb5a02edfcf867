"""The connect hook: only checked addresses are dialled, in order, within one time; look-ups that never end."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

import httpcore2
import pytest

from service.failures import AddressForbidden, UpstreamTimeout
from service.fetch import Guard, StaticTier
from service.fetch.network import PinnedBackend
from service.settings import Egress, Fetch
from tests.conftest import loopback
from tests.origin import Origin


class Dialer(httpcore2.AsyncNetworkBackend):
    """Records what is dialled; addresses in `dead` refuse, those in `silent` never answer."""

    def __init__(self, dead: Sequence[str] = (), silent: Sequence[str] = ()) -> None:
        self.dialled: list[tuple[str, int]] = []
        self._dead, self._silent = dead, silent

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        if host in self._dead:
            raise httpcore2.ConnectError("refused")
        if host in self._silent:
            assert timeout is not None
            await asyncio.sleep(timeout)
            raise httpcore2.ConnectTimeout("silent")
        return httpcore2.AsyncMockStream([])


def backend(dialer: Dialer, *answers: list[str]) -> PinnedBackend:
    """A pinned backend whose look-ups give these answers one after another."""
    rest = iter(answers)

    async def resolver(name: str, port: int) -> list[str]:
        return next(rest)

    pinned = PinnedBackend(Guard(Egress(), Fetch(), resolver))
    pinned._dialer = dialer  # type: ignore[assignment]
    return pinned


async def test_only_the_judged_address_is_dialled() -> None:
    dialer = Dialer()
    pinned = backend(dialer, ["8.8.8.8"], ["127.0.0.1"])
    await pinned.connect_tcp("rebind.test", 80)
    with pytest.raises(AddressForbidden):
        await pinned.connect_tcp("rebind.test", 80)
    assert dialer.dialled == [("8.8.8.8", 80)]


async def test_one_private_answer_among_public_ones_stops_all() -> None:
    dialer = Dialer()
    with pytest.raises(AddressForbidden) as caught:
        await backend(dialer, ["8.8.8.8", "10.0.0.1"]).connect_tcp("multi.test", 80)
    assert (caught.value.reason, dialer.dialled) == ("address", [])


async def test_the_next_address_has_its_turn() -> None:
    dialer = Dialer(dead=["8.8.8.8"], silent=["9.9.9.9"])
    started = time.perf_counter()
    await backend(dialer, ["8.8.8.8", "9.9.9.9", "1.1.1.1"]).connect_tcp("a.test", 443, timeout=0.4)
    assert [host for host, _ in dialer.dialled] == ["8.8.8.8", "9.9.9.9", "1.1.1.1"]
    assert time.perf_counter() - started < 0.4
    with pytest.raises(httpcore2.ConnectError):
        await backend(Dialer(dead=["8.8.8.8"]), ["8.8.8.8"]).connect_tcp("a.test", 443, timeout=1)


@pytest.mark.parametrize("port", [0, 22, 6379, 65_536])
async def test_the_guard_judges_ports_too(port: int) -> None:
    dialer = Dialer()
    with pytest.raises(AddressForbidden) as caught:
        await backend(dialer, ["8.8.8.8"]).connect_tcp("a.test", port)
    assert (caught.value.reason, dialer.dialled) == ("port", [])


@pytest.mark.parametrize("entry", ["10.0.0.0/33", "fe80::/200", "a b", "http://a.test", "a.test:80", ""])
def test_a_slip_in_a_rule_is_an_error(entry: str) -> None:
    """A denied network with a slip in it must not become a pattern that matches nothing."""
    with pytest.raises(ValueError, match="neither a network"):
        Egress(deny=(entry,))


@pytest.fixture
def silent_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`getaddrinfo` that answers for nothing under `.silent` until the test is over."""
    over = threading.Event()
    real = socket.getaddrinfo

    def look_up(host: str, *args: object, **kwargs: object) -> object:
        if str(host).endswith(".silent"):
            over.wait(20)
            raise socket.gaierror("silent")
        return real(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield
    over.set()


@pytest.mark.usefixtures("silent_dns")
async def test_fifty_silent_look_ups(origin: Origin) -> None:
    """More than there are threads: each ends in time, while literals and other work of the loop go on."""
    tier = StaticTier(loopback(origin.port, fetch={"dns_seconds": 0.5, "dns_threads": 8}))
    loop = asyncio.get_running_loop()
    started = loop.time()
    visits = [
        asyncio.create_task(tier.visit(started + 3).get(f"http://n{number}.silent:{origin.port}/"))
        for number in range(50)
    ]
    await asyncio.sleep(0.1)
    assert (await tier.visit(loop.time() + 0.3).get(origin.route("/a", "here"))).body == b"here"
    await asyncio.wait_for(loop.run_in_executor(None, int), 0.3)
    outcomes = await asyncio.gather(*visits, return_exceptions=True)
    assert loop.time() - started < 1
    assert {(type(one), getattr(one, "reason", None)) for one in outcomes} == {(UpstreamTimeout, "dns_timeout")}
    await tier.aclose()
