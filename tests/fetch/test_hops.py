"""Chains of hops: spellings of a Location, refreshes, cookies, repeated requests, one deadline and one budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from service.failures import AddressForbidden, Failure, InvalidRequest, UpstreamError, UpstreamTimeout
from service.fetch import Response, StaticTier, Visit
from tests.conftest import loopback
from tests.hostile import HEAD, PAGE, repeats, sends
from tests.origin import Handler, Origin, Request


@pytest.fixture
async def tier(origin: Origin) -> AsyncIterator[StaticTier]:
    tier = StaticTier(loopback(origin.port))
    yield tier
    await tier.aclose()


def visit(tier: StaticTier, seconds: float = 5) -> Visit:
    return tier.visit(asyncio.get_running_loop().time() + seconds)


async def failure(tier: StaticTier, url: str, seconds: float = 5) -> Failure:
    with pytest.raises(Failure) as caught:
        await visit(tier, seconds).get(url)
    assert caught.value.url, "every failure names its URL"
    return caught.value


def moved(location: bytes) -> Handler:
    return sends(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")


PRIVATE = """
127.0.0.2 127.255.255.254 2130706434 0177.0.0.2 017700000002 0x7f.2 0x7f000002 127.2 127.0.2 127.0.0.2. 0 0.0.0.0
[::] [::1] [::ffff:7f00:2] [::127.0.0.1] [::ffff:100.64.0.1] 169.254.169.254 [fd00:ec2::254] 100.100.100.200
168.63.129.16 192.0.0.192 10.0.0.1 172.16.0.1 192.168.0.1 198.18.0.1 224.0.0.1 [ff02::1] 255.255.255.255 240.0.0.1
%31%32%37.0.0.2 ①②⑦.⓪.⓪.② 127。0。0。2 [64:ff9b::7f00:1] [2002:7f00:1::]
""".split()


@pytest.mark.parametrize("host", PRIVATE)
async def test_private_spellings_are_refused_on_every_way_in(tier: StaticTier, origin: Origin, host: str) -> None:
    """As first address, as Location and as refresh: `address` each time, and nobody is dialled."""
    url = f"http://{host}:{origin.port}/"
    refused = await failure(tier, url)
    assert (type(refused), refused.reason) == (AddressForbidden, "address")
    assert origin.connections == 0
    refused = await failure(tier, origin.raw("/a", moved(url.encode())))
    assert (type(refused), refused.reason) == (AddressForbidden, "address")
    page = visit(tier)
    await page.get(origin.route("/page", PAGE))
    with pytest.raises(AddressForbidden) as caught:
        await page.follow(url)
    assert caught.value.reason == "address"
    assert origin.paths() == ["/a", "/page"]


@pytest.mark.parametrize("url", ["", "no scheme", "http://a b/", "http://[", "ftp://a.test/", "http://a.test:22/"])
async def test_a_refused_first_address_is_named(tier: StaticTier, url: str) -> None:
    with pytest.raises((InvalidRequest, AddressForbidden)) as caught:
        await visit(tier).get(url)
    assert caught.value.url == url


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "shift-jis", "gb18030"])
async def test_a_location_in_raw_bytes_comes_back_as_those_bytes(
    tier: StaticTier, origin: Origin, encoding: str
) -> None:
    """Korean and Japanese sites send the bytes of their own encoding; 0x80 to 0x9F are no controls there."""
    word = {"shift-jis": "灯台守ポスト", "gb18030": "灯塔看守人"}.get(encoding, "등대지기똠방").encode(encoding)
    origin.raw("/a", moved(b"/view?q=" + word.replace(b"\\", b"%5C")))
    origin.route("/view", PAGE)
    answer = await visit(tier).get(origin.url("/a"))
    assert answer.status == 200
    assert origin.paths()[1] == "/view?q=" + quote(word, safe="@[]{}|^`~_")


async def test_a_refresh_counts_as_a_redirect(tier: StaticTier, origin: Origin) -> None:
    origin.route("/dir/page", PAGE)
    origin.route("/a", status=302, headers={"Location": "/dir/page"})
    page = visit(tier)
    await page.get(origin.url("/a"))
    assert (await page.follow("page")).url == origin.url("/dir/page")
    await page.follow("?again")
    with pytest.raises(UpstreamTimeout) as caught:
        await page.follow("page")
    assert (caught.value.reason, caught.value.url) == ("redirects", origin.url("/dir/page?again"))


@pytest.mark.parametrize("reference", ["http://[", "http://a.test:99999/", "http://a\x00b/", "x" * 9000])
async def test_an_unusable_refresh_is_the_sites_fault(tier: StaticTier, origin: Origin, reference: str) -> None:
    page = visit(tier)
    await page.get(origin.route("/page", PAGE))
    with pytest.raises(UpstreamError) as caught:
        await page.follow(reference)
    assert caught.value.url == origin.url("/page")


async def test_follow_comes_after_get(tier: StaticTier) -> None:
    with pytest.raises(ValueError, match="get"):
        await visit(tier).follow("/a")


async def test_an_empty_redirect_keeps_its_connection(tier: StaticTier, origin: Origin) -> None:
    origin.route("/end", PAGE)
    origin.route("/a", status=301, headers={"Location": "/end"})
    assert (await visit(tier).get(origin.url("/a"))).body == PAGE
    assert origin.connections == 1


async def test_a_fresh_connection_is_never_asked_twice(tier: StaticTier, origin: Origin) -> None:
    """Only a kept connection may have gone stale; an origin that breaks a fresh one is asked once."""
    for path, data in {
        "/nothing": b"",
        "/old": b"<html>HTTP/0.9",
        "/half": HEAD + b"Content-Length: 9\r\n\r\nx",
    }.items():
        assert (await failure(tier, origin.raw(path, sends(data)))).reason == "fetch"
    assert origin.paths() == ["/nothing", "/old", "/half"]


async def test_a_kept_connection_closed_under_the_request_is_replaced_once(tier: StaticTier, origin: Origin) -> None:
    await visit(tier).get(origin.route("/a", PAGE))
    seen = 0

    async def first_dies(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        await sends(b"" if seen == 1 else HEAD + b"Content-Length: 2\r\n\r\nok")(request, writer)

    assert (await visit(tier).get(origin.raw("/b", first_dies))).body == b"ok"
    assert origin.connections == 2


async def test_cookies_of_any_bytes(tier: StaticTier, origin: Origin) -> None:
    origin.raw("/a", moved(b"/end\r\nSet-Cookie: k=" + "값".encode() + b"; Path=/\r\nSet-Cookie: other=1; Path=/no"))
    origin.route("/end", PAGE)
    assert (await visit(tier).get(origin.url("/a"))).status == 200
    assert origin.requests[1].headers["cookie"].encode("latin-1") == b"k=" + "값".encode()


async def test_cookies_stay_with_their_host(origin: Origin) -> None:
    settings = loopback(origin.port)
    tier = StaticTier(
        settings.model_copy(update={"egress": settings.egress.model_copy(update={"allow": ("127.0.0.0/8",)})})
    )
    origin.raw("/a", moved(origin.url("/b", host="localhost").encode() + b"\r\nSet-Cookie: k=v; Path=/"))
    origin.route("/b", PAGE)
    assert (await visit(tier).get(origin.url("/a"))).status == 200
    assert [request.headers.get("cookie") for request in origin.requests] == [None, None]
    await tier.aclose()


async def test_codings_stacked_over_two_fields(tier: StaticTier, origin: Origin) -> None:
    url = origin.raw("/a", sends(HEAD + b"Content-Encoding: gzip\r\nContent-Encoding: br\r\n\r\nx"))
    assert (await failure(tier, url)).reason == "encoding"


async def test_one_deadline_for_the_whole_chain(tier: StaticTier, origin: Origin) -> None:
    """Each hop alone is quick enough; together they are not."""
    for step in range(4):
        origin.raw(
            f"/{step}", late(0.4, f"HTTP/1.1 302 F\r\nContent-Length: 0\r\nLocation: /{step + 1}\r\n\r\n".encode())
        )
    started = time.perf_counter()
    late_one = await failure(tier, origin.url("/0"), seconds=1)
    assert 0.95 < time.perf_counter() - started < 1.5
    assert (type(late_one), late_one.reason, late_one.url) == (UpstreamTimeout, "deadline", origin.url("/2"))


def late(seconds: float, data: bytes) -> Handler:
    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(data)
        await writer.drain()

    return handler


async def test_one_byte_budget_for_the_whole_chain(origin: Origin) -> None:
    tier = StaticTier(loopback(origin.port, limits={"max_wire_bytes": 150_000}))
    page = visit(tier)
    url = origin.route("/a", b"x" * 60_000)
    await page.get(url)
    await page.follow("/a")
    with pytest.raises(UpstreamError) as caught:
        await page.follow("/a")
    assert caught.value.reason == "wire_bytes"
    assert len((await visit(tier).get(url)).body) == 60_000  # another visit has a budget of its own
    await tier.aclose()


async def test_a_hundred_megabytes_are_cut_and_left(tier: StaticTier, origin: Origin) -> None:
    head = HEAD + b"Content-Length: 104857600\r\n\r\n"
    answer = await visit(tier).get(origin.raw("/a", repeats(head, b"x" * 65_536, times=1600)))
    assert (answer.truncated, len(answer.body)) == (True, 4_194_304)
    assert not tier.pool.connections


async def test_many_cut_visits_leave_the_pool_whole(origin: Origin) -> None:
    """Deadlines and cancellations, more at once than the pool holds; the next visit is served."""
    tier = StaticTier(loopback(origin.port, fetch={"max_connections": 4}))
    url = origin.raw("/stall", sends(b"", then="stall"))
    outcomes = await asyncio.gather(*(failure(tier, url, seconds=0.4) for _ in range(30)))
    assert {outcome.reason for outcome in outcomes} == {"deadline"}
    tasks = [asyncio.create_task(visit(tier, 5).get(url)) for _ in range(10)]
    await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    ended: list[Response | BaseException] = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    assert (await visit(tier, 1).get(origin.route("/a", PAGE))).body == PAGE
    await tier.aclose()
