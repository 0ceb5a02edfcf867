"""What is fuzzed: a function of bytes that raises `AssertionError`, or what nobody named, where something is wrong."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import islice
from pathlib import Path

import brotli
import zstandard
from lxml import etree

from service import Failure, extract
from service.api.schema import ReadRequest, parse_json
from service.extraction import feeds
from service.extraction.decode import decode
from service.extraction.dom import parse
from service.extraction.payload.literals import assigned
from service.extraction.sniff import sniff
from service.failures import AddressForbidden, ExtractFailed, InvalidRequest, UpstreamError, UpstreamTimeout
from service.fetch.address import is_public
from service.fetch.coding import decoder_for
from service.fetch.guard import Guard
from service.fetch.url import hop, normalize
from service.paging import piece
from service.settings import Settings
from tests.fuzz.sockets import answer_of_proxy, answer_of_service

CAPTURES = Path(__file__).parents[2] / "captures"
PORTS = (80, 443)
TYPES = (
    "text/html",
    "",
    "application/json",
    "application/rss+xml",
    "text/plain; charset=euc-kr",
    "text/markdown",
    "a;=b",
)
"""Declared types; an input's first byte chooses."""


@dataclass(frozen=True)
class Target:
    """One thing that is fuzzed, the inputs to begin with, and how many of `RUNS` shares it gets of a long run."""

    run: Callable[[bytes], None]
    seeds: list[bytes]
    share: int


def address(data: bytes) -> None:
    """What the standard library knows to be special is never public; a mapped address is judged as what it maps."""
    if len(data) not in (4, 16):
        data = data.ljust(16, b"\x00")[:16] if len(data) > 4 else data.ljust(4, b"\x00")
    found = ip_address(data)
    if is_public(found):
        special = ("is_private", "is_loopback", "is_link_local", "is_unspecified", "is_multicast", "is_reserved")
        assert not [name for name in special if getattr(found, name)], found
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
            assert found in _GLOBAL, found
            assert found.teredo is None, found
            assert found.sixtofour is None, found
    if isinstance(found, IPv4Address):
        assert is_public(found) == is_public(IPv6Address(b"\x00" * 10 + b"\xff\xff" + data)), found


def url(data: bytes) -> None:
    """One form: normalizing again changes nothing; no user, fragment, other port or odd host comes through."""
    text = data.decode("utf-8", "surrogateescape")
    with suppress(InvalidRequest, AddressForbidden):
        target = normalize(text, PORTS)
        assert normalize(target.href, PORTS) == target
        assert (target.port in PORTS, target.scheme in ("http", "https"), "#" in target.href) == (True, True, False)
        assert target.host.isascii(), target
        assert not set(target.host) & set("/\\@ ?#\t\r\n"), target
    with suppress(UpstreamError, AddressForbidden):
        hop("https://a.example/b/c?d", text, PORTS)


def guard(data: bytes) -> None:
    """Whatever a name leads to, what is given to connect to is public."""
    name, *answers = data.decode("utf-8", "surrogateescape").split("\n")

    async def resolver(host: str, port: int) -> list[str]:
        return answers

    async def ask() -> tuple[str, ...]:
        guard = Guard(_SETTINGS.egress, _SETTINGS.fetch, resolver)
        try:
            return await guard.resolve(name, 443)
        finally:
            guard.close()

    with suppress(AddressForbidden, UpstreamError, UpstreamTimeout):
        for found in _LOOP.run_until_complete(ask()):
            assert is_public(ip_address(found)), found


def coding(data: bytes) -> None:
    """A decoder gives what it was asked for and no more, or says that the input is broken."""
    kind, room = data[:1].hex()[:1] or "0", 1 + int.from_bytes(data[1:3], "big")
    name = ("gzip", "deflate", "br", "zstd", "", "gzip, br", "x", "identity")[int(kind, 16) % 8]
    with suppress(UpstreamError):
        decoder = decoder_for(name)
        left = room
        for start in range(3, len(data), 97):
            out = decoder.feed(data[start : start + 97], left)
            assert len(out) <= left, (name, len(out), left)
            left -= len(out)
            if not left:
                return
        decoder.finish()


def bytes_to_text(data: bytes) -> None:
    """Every body is of a form or refused by name, and every text can be written again."""
    declared = TYPES[data[0] % len(TYPES)] if data else ""
    decode(data, declared, "https://a.example/").text.encode("utf-8")
    with suppress(Failure):
        sniff(data, declared)


def tree(data: bytes) -> None:
    """Every text is a tree, as deep and as large as it may be, which can be written."""
    with suppress(ExtractFailed):
        root = parse(data.decode("utf-8", "replace"), max_nodes=5_000, max_depth=50)
        depth, deepest, count = 0, 0, 0
        for event, _ in etree.iterwalk(root, events=("start", "end")):
            depth += 1 if event == "start" else -1
            deepest = max(deepest, depth)
            count += event == "start"
        assert (deepest <= 2_048, count <= 5_005) == (True, True), (deepest, count)
        etree.tostring(root, encoding="utf-8")


def data_of_scripts(data: bytes) -> None:
    """A script's literals are read or passed over."""
    for _ in islice(assigned(data.decode("utf-8", "replace")), 1_000):
        continue


def feed(data: bytes) -> None:
    """A feed has entries or is refused by name, and its elements can be written."""
    with suppress(ExtractFailed):
        etree.tostring(feeds.to_element(feeds.read(data, "application/xml", "https://a.example/feed")))


def page(data: bytes) -> None:
    """A page or a named failure, the same again, without controls; its pieces are the whole."""
    declared = TYPES[data[0] % len(TYPES)] if data else ""
    found = _outcome(data, declared, None)
    if data and not data[-1] % 8:
        assert found == _outcome(data, declared, None)
    if found is not None:
        _check_text(found)


def conversion(data: bytes) -> None:
    """All of a page as Markdown, whatever it is."""
    found = _outcome(b"<!doctype html><body>" + data, "text/html; charset=utf-8", "body")
    if found is not None:
        _check_text(found)


def request(data: bytes) -> None:
    """A request's JSON is a request or refused with a sentence."""
    with suppress(InvalidRequest):
        parse_json(ReadRequest, data)


def _outcome(data: bytes, declared: str, selector: str | None) -> str | None:
    try:
        found = extract(data, "https://a.example/b/c", declared, selector=selector)
    except Failure:
        return None
    found.text.encode("utf-8"), (found.title or "").encode("utf-8"), repr(found.metadata).encode("utf-8")
    return found.markdown


def _check_text(markdown: str) -> None:
    assert not set(markdown) & _CONTROLS, set(markdown) & _CONTROLS
    whole, offset = [], 0
    while True:
        part = piece(markdown, offset, 500)
        whole.append(part.markdown)
        if part.next_offset is None:
            break
        assert part.next_offset > offset
        offset = part.next_offset
    assert "".join("".join(whole).split()) == "".join(markdown.split())


_GLOBAL = ip_network("2000::/3")
_SETTINGS = Settings()
_LOOP = asyncio.new_event_loop()
_CONTROLS = {chr(code) for code in (*range(9), 11, *range(14, 32), 127)}

PAGES = [path.read_bytes() for path in sorted(CAPTURES.glob("*/page.html")) if path.stat().st_size < 12_000]
FEEDS = [path.read_bytes() for path in sorted(CAPTURES.glob("feed-*/page.*"))]
SCRIPTS = [path.read_bytes() for path in sorted(CAPTURES.glob("payload-*/page.*"))]
ADDRESSES = [
    *(
        b"https://a.example/b?c=d#e",
        b"http://127.0.0.1/",
        b"HTTPS://[::1]:443/%41/..",
        b"//b.example",
        b"?q",
        b"../x y",
    ),
    *("https://예.example/한".encode(), b"http://0x7f.1/", b"http://a.example:80\\@b/", b"data:,x"),
]
PLAIN = b"<html><p>" + b"lamp and rope " * 40
CODED = [
    bytes((16 * number, 40, 0)) + body
    for number, body in enumerate(
        (gzip.compress(PLAIN), zlib.compress(PLAIN), brotli.compress(PLAIN), zstandard.compress(PLAIN), PLAIN)
    )
]
REQUESTS = [
    b'{"url":"https://a.example/","include":["text","links"],"tables":"HTML","offset":3,"limit":9,"timeout":2.5}'
]
WIRE = [
    b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"
    b'{"url":"http://a.test/"}',
    b"POST /v1/extract HTTP/1.1\r\nHost: a\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"4\r\n<p>a\r\n0\r\n\r\n",
    b"GET /read/https://a.test/%ED%95%9C?b HTTP/1.1\r\nHost: a\r\nAccept: application/json;q=0.1\r\n\r\n",
]
PROXY = [
    b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
    b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Connection: keep-alive\r\n\r\n",
    b"POST http://[::1]:80/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
]

TARGETS: dict[str, Target] = {
    "address": Target(
        address, [ip_address(a).packed for a in ("8.8.8.8", "127.0.0.1", "::1", "2606::1", "2002::1")], 400
    ),
    "url": Target(url, ADDRESSES, 400),
    "guard": Target(
        guard, [b"a.example\n8.8.8.8\n::1", b"127.0.0.1", b"a.test\n10.0.0.1", b"[::1]\n2606:4700::1%1"], 200
    ),
    "coding": Target(coding, CODED, 200),
    "bytes-to-text": Target(bytes_to_text, [*PAGES[::4], *FEEDS], 200),
    "tree": Target(tree, PAGES, 100),
    "data-of-scripts": Target(data_of_scripts, SCRIPTS, 200),
    "feed": Target(feed, FEEDS, 80),
    "request": Target(request, REQUESTS, 150),
    "page": Target(page, [*PAGES, *SCRIPTS, *FEEDS], 20),
    "conversion": Target(conversion, PAGES, 20),
    "proxy": Target(answer_of_proxy, PROXY, 15),
    "service": Target(answer_of_service, WIRE, 15),
}
"""By name. The shares add up to 2,000: with 1,000 executions each, a long run is of 2 million."""
