"""What a page can reach: nothing that the guard forbids, by whatever way, in a network of its own or by flags alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from service import Failure, Reader
from service.fetch import Guard, StaticTier
from service.settings import Settings
from tests.conftest import loopback
from tests.origin import Origin
from tests.render import vectors
from tests.render.hostile import TEXT, app

MODES = {"namespace": {"network_namespace": "required"}, "flags": {"network_namespace": "never"}}


class Canary:
    """Counts whoever comes to forbidden loopback addresses, by TCP and by UDP."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        self._ends: list[socket.socket] = []
        self.port = 0

    def open(self) -> None:
        """Listen on 127.0.0.2 and ::1, at one port that is free on both."""
        for family, host in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1")):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                end = socket.socket(family, kind)
                end.bind((host, self.port))
                self.port = end.getsockname()[1]
                end.setblocking(False)
                if kind == socket.SOCK_STREAM:
                    end.listen()
                self._ends.append(end)

    def look(self) -> list[str]:
        """Whoever has come."""
        for end in self._ends:
            try:
                who = end.accept() if end.type == socket.SOCK_STREAM else end.recvfrom(100)
            except BlockingIOError:
                continue
            self.hits.append(f"{end.getsockname()}: {who}")
        return self.hits

    def close(self) -> None:
        for end in self._ends:
            end.close()


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    running = Canary()
    running.open()
    with socket.create_connection(("127.0.0.2", running.port)):
        assert running.look(), "a canary that nobody can reach proves nothing"
    running.hits.clear()
    yield running
    running.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def reader(request: pytest.FixtureRequest, origin: Origin, canary: Canary) -> AsyncIterator[Reader]:
    async with Reader(settings(origin, canary, **MODES[request.param])) as running:
        yield running


def settings(origin: Origin, canary: Canary, **render: Any) -> Settings:
    """The guard allows 127.0.0.1 alone; the canary's port is allowed, so that its address is what forbids it."""
    return loopback(origin.port, canary.port, render=render)


async def failed(reader: Reader, url: str) -> Failure:
    with pytest.raises(Failure) as caught:
        await reader.read(url, render="always", timeout=6)
    return caught.value


async def test_the_mode_in_force_is_reported(reader: Reader, origin: Origin) -> None:
    await reader.read(origin.url("/normal"), render="always")
    mode = reader.settings.render.network_namespace
    assert str(reader.render_state.details["network_namespace"]).startswith("on" if mode == "required" else "off")


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "127.2", "0x7f000002", "2130706434", "canary.localhost"])
async def test_every_way_out_of_a_page_is_closed(reader: Reader, origin: Origin, canary: Canary, host: str) -> None:
    url = origin.route("/vectors", vectors.page(f"http://{host}:{canary.port}/x"))
    page = await reader.read(url, render="always", timeout=6)
    await asyncio.sleep(0.3)
    assert canary.look() == []
    assert TEXT.strip() in page.markdown


async def test_the_ways_out_are_ways(reader: Reader, origin: Origin) -> None:
    """Towards an address that is allowed they arrive, so that their silence towards others says something."""
    before = len(origin.requests)
    await reader.read(origin.route("/vectors", vectors.page(origin.url("/allowed"))), render="always", timeout=6)
    arrived = [
        request.headers.get("sec-fetch-dest") for request in origin.requests[before:] if request.target == "/allowed"
    ]
    assert len(arrived) > 10
    assert {"empty", "iframe", "script", "style"} <= set(arrived)
    assert not {"image", "font", "video", "audio"} & set(arrived), "what is no text is not fetched"


async def test_a_page_that_goes_there_is_refused_by_name(reader: Reader, origin: Origin, canary: Canary) -> None:
    target = f"http://127.0.0.2:{canary.port}/x"
    short = app(f"setTimeout(() => location.href = '{target}', 100)", "<p>Moving.</p>")
    for url in (target, origin.route("/302", status=302, headers={"Location": target}), origin.route("/short", short)):
        failure = await failed(reader, url)
        assert (failure.code, failure.reason) == ("ADDRESS_FORBIDDEN", "address")
    refresh = f"<meta http-equiv=refresh content='0;url={target}'><script></script>"
    assert (await failed(reader, origin.route("/refresh", refresh))).reason == "address"
    assert canary.look() == []


@pytest.mark.parametrize(
    ("location", "code", "reason"),
    [
        ("file:///etc/passwd", "ADDRESS_FORBIDDEN", "scheme"),
        ("data:text/html,<p>x", "ADDRESS_FORBIDDEN", "scheme"),
        ("chrome://version", "ADDRESS_FORBIDDEN", "scheme"),
        ("ftp://a.test/", "ADDRESS_FORBIDDEN", "scheme"),
        ("gopher://a.test/", "ADDRESS_FORBIDDEN", "scheme"),
        ("view-source:http://a.test/", "ADDRESS_FORBIDDEN", "scheme"),
        ("javascript:alert(1)", "ADDRESS_FORBIDDEN", "scheme"),
        ("mailto:a@a.test", "ADDRESS_FORBIDDEN", "scheme"),
        ("http://169.254.169.254:{port}/latest", "ADDRESS_FORBIDDEN", "address"),
        ("http://2852039166:{port}/latest", "ADDRESS_FORBIDDEN", "address"),
        ("http://[fd00:ec2::254]:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://[::ffff:127.0.0.2]:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://10.0.0.1:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://192.168.0.1:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://172.16.0.5:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://100.64.0.1:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://168.63.129.16:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://0.0.0.0:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://127.2:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://0177.0.0.2:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("//127.0.0.2:{port}/", "ADDRESS_FORBIDDEN", "address"),
        ("http://intranet:{port}/", "ADDRESS_FORBIDDEN", "hostname"),
        ("http://127.0.0.1:22/", "ADDRESS_FORBIDDEN", "port"),
        ("http://127.0.0.1:6380/", "ADDRESS_FORBIDDEN", "port"),
        ("http://user:pass@127.0.0.1:{port}/", "ADDRESS_FORBIDDEN", "userinfo"),
    ],
)
async def test_an_address_has_one_name_in_both_tiers(
    reader: Reader, origin: Origin, location: str, code: str, reason: str
) -> None:
    """Asked for, and as the target of a redirect: the browser's failure is the static tier's."""
    if reader.settings.render.network_namespace == "never":
        pytest.skip("what an address is called does not depend on the browser's network")
    target = location.format(port=origin.port)
    hop = origin.route("/hop", status=302, headers={"Location": target})
    for url in (hop, target) if "://" in target and not target.startswith("//") else (hop,):
        failure = await failed(reader, url)
        assert (failure.code, failure.reason) == (code, reason), url
        with pytest.raises(Failure) as caught:
            await reader.read(url)
        assert (caught.value.code, caught.value.reason) == (code, reason), url


async def test_a_redirect_to_no_address(reader: Reader, origin: Origin) -> None:
    failure = await failed(reader, origin.route("/hop", status=302, headers={"Location": "http://"}))
    assert (failure.code, failure.reason) == ("UPSTREAM_ERROR", "url_invalid")


async def test_a_name_that_turns_private_is_never_dialled(origin: Origin, canary: Canary) -> None:
    """The page loads by a public name, which leads to a private address from the second look-up on."""
    chosen = settings(origin, canary)
    asked: list[str] = []

    async def resolver(name: str, port: int) -> list[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    tier = StaticTier(chosen, Guard(chosen.egress, chosen.fetch, resolver))
    admin = f"http://a.test:{canary.port}/admin"
    url = origin.route("/rebind", app(f"setInterval(() => fetch('{admin}', {{mode: 'no-cors'}}), 50)"))
    async with Reader(chosen, tier) as reader:
        page = await reader.read(url.replace("127.0.0.1", "a.test"), render="always", timeout=6)
    assert TEXT.strip() in page.markdown
    assert len(asked) > 1
    assert canary.look() == []


async def test_redirects_are_counted_as_in_the_static_tier(reader: Reader, origin: Origin) -> None:
    origin.route("/end", app(""))
    for hop in range(5):
        origin.route(f"/hop/{hop}", status=302, headers={"Location": f"/hop/{hop - 1}" if hop else "/end"})
    assert (await reader.read(origin.url("/hop/2"), render="always")).url == origin.url("/end")
    for url in (origin.url("/hop/3"), origin.route("/self", status=302, headers={"Location": "/self"})):
        failure = await failed(reader, url)
        assert (failure.code, failure.reason) == ("UPSTREAM_TIMEOUT", "redirects")


async def test_redirect_loops_by_script_end(reader: Reader, origin: Origin) -> None:
    loops = {
        "assign": "location = '/loop?' + Math.random()",
        "reload": "location.reload()",
        "later": "setTimeout(() => location.replace('/loop?' + Math.random()), 20)",
    }
    for script in loops.values():
        failure = await failed(reader, origin.route("/loop", app(script, "<p>Wait.</p>")))
        assert (failure.code, failure.reason) == ("UPSTREAM_TIMEOUT", "redirects")
