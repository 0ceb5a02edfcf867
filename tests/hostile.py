"""What a hostile or broken origin does, as routes of `tests.origin.Origin`.

`install(origin)` adds them all. Paths, by what is wrong:

- never ending: `/drip/head`, `/drip/body`, `/silent`, `/stall`, `/endless/head`, `/endless/field`,
  `/endless/body`, `/endless/hints` (103s), `/endless/extensions` (of chunks), `/endless/redirect-body`
- broken HTTP: every path of `BROKEN`, and `/broken/reset`
- content codings: good ones in `CODED`, bad ones in `MISCODED`, bombs of 1 GiB in `BOMBS`
- redirects: `/hop/N` needs N hops to reach `/hop/0`; `/loop`
- size: `/big` (100 MB)
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from collections.abc import Callable, Iterator

import brotli
import zstandard

from tests.origin import Origin, Raw, Request

PAGE = "<!doctype html><title>본문</title><p>다람쥐 헌 쳇바퀴에 타고파.</p>".encode() * 200
"""What good coded routes hold."""

TICK_SECONDS = 0.05
"""Pause between the bytes of a drip: far under a read timeout, so that only a deadline ends it."""

BIG_BYTES = 100_000_000
BOMB_BYTES = 1 << 30
_MEBIBYTE = bytes(1 << 20)

_HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = _HTML + b"Transfer-Encoding: chunked\r\n\r\n"

BROKEN: dict[str, bytes] = {
    "/broken/chunk-size": _CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n",
    "/broken/chunk-end": _CHUNKED + b"5\r\nhelloXX0\r\n\r\n",
    "/broken/chunks-cut": _CHUNKED + b"5\r\nhello\r\n",
    "/broken/length-negative": _HTML + b"Content-Length: -1\r\n\r\nhello",
    "/broken/length-words": _HTML + b"Content-Length: five\r\n\r\nhello",
    "/broken/two-lengths": _HTML + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
    "/broken/early-close": _HTML + b"Content-Length: 500\r\n\r\nhello",
    "/broken/http09": b"<html>hello",
    "/broken/status": b"HTTP/1.1 999999 Odd\r\nContent-Length: 0\r\n\r\n",
    "/broken/status-words": b"HTTP/1.1 fine OK\r\nContent-Length: 0\r\n\r\n",
    "/broken/nul": _HTML + b"X-Odd: a\x00b\r\nContent-Length: 0\r\n\r\n",
    "/broken/field-name": _HTML + b"X Odd: a\r\nContent-Length: 0\r\n\r\n",
    "/broken/close": b"",
    "/broken/half-head": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "/broken/switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
}
"""Messages that are not HTTP, or end too early."""


def _bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _zstd_asking(window_byte: int) -> bytes:
    """A zstd frame head with this window descriptor (RFC 8878, 3.1.1.1.2) and a last, empty block."""
    return b"\x28\xb5\x2f\xfd\x00" + bytes([window_byte]) + b"\x01\x00\x00"


CODED: dict[str, tuple[str, bytes]] = {
    "/coded/gzip": ("gzip", gzip.compress(PAGE)),
    "/coded/x-gzip": ("X-GZip", gzip.compress(PAGE)),
    "/coded/gzip-junk": ("gzip", gzip.compress(PAGE) + b"junk after the trailer"),
    "/coded/gzip-members": ("gzip", gzip.compress(PAGE[:1000]) + gzip.compress(PAGE[1000:])),
    "/coded/deflate": ("deflate", zlib.compress(PAGE)),
    "/coded/deflate-bare": ("deflate", _bare_deflate(PAGE)),
    "/coded/br": ("br", brotli.compress(PAGE)),
    "/coded/zstd": ("zstd", zstandard.compress(PAGE)),
    "/coded/zstd-frames": ("zstd", zstandard.compress(PAGE[:1000]) + zstandard.compress(PAGE[1000:])),
    "/coded/identity": ("identity", PAGE),
}
"""Path to coding and coded `PAGE`: each must be read."""

MISCODED: dict[str, tuple[str, bytes]] = {
    "/miscoded/stacked": ("gzip, gzip, gzip", gzip.compress(gzip.compress(gzip.compress(PAGE)))),
    "/miscoded/unknown": ("compress", PAGE),
    "/miscoded/not-gzip": ("gzip", PAGE),
    "/miscoded/not-br": ("br", PAGE),
    "/miscoded/not-zstd": ("zstd", PAGE),
    "/miscoded/cut-gzip": ("gzip", gzip.compress(PAGE)[:-20]),
    "/miscoded/cut-gzip-head": ("gzip", gzip.compress(PAGE)[:12]),
    "/miscoded/cut-deflate": ("deflate", zlib.compress(PAGE)[:-6]),
    "/miscoded/cut-br": ("br", brotli.compress(PAGE)[:-3]),
    "/miscoded/cut-zstd": ("zstd", zstandard.compress(PAGE)[:-6]),
    "/miscoded/zstd-window": ("zstd", _zstd_asking(21 << 3)),  # 2 GiB: 2 ** (10 + 21)
}
"""Path to coding and a body that is not what the coding says."""


def _gzip_bomb() -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    yield packer.compress(_MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush nothing refers back, so the same bytes can come again.
    block = packer.compress(_MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(BOMB_BYTES // len(_MEBIBYTE) - 1):
        yield block


def _brotli_bomb() -> Iterator[bytes]:
    packer = brotli.Compressor(quality=9)
    for _ in range(BOMB_BYTES // len(_MEBIBYTE)):
        yield packer.process(_MEBIBYTE)
    yield packer.finish()


def _zstd_bomb() -> Iterator[bytes]:
    # Blocks of one repeated byte (RFC 8878, 3.1.1.2.2): 128 KiB for 4 bytes; a window of 8 MiB.
    size = 1 << 17
    yield b"\x28\xb5\x2f\xfd\x00" + bytes([13 << 3])
    block = (1 << 1 | size << 3).to_bytes(3, "little") + b"a"
    for _ in range(BOMB_BYTES // size // 1024):
        yield block * 1024


BOMBS = {"/bomb/gzip": ("gzip", _gzip_bomb), "/bomb/br": ("br", _brotli_bomb), "/bomb/zstd": ("zstd", _zstd_bomb)}
"""Path to coding and the pieces of 1 GiB of one byte."""


def install(origin: Origin) -> None:
    """Add every route of this module."""
    for path, message in BROKEN.items():
        origin.send(path, message)
    for path, (coding, body) in {**CODED, **MISCODED}.items():
        origin.route(path, body, headers=[("Content-Encoding", coding)])
    origin.route("/coded/gzip-empty", b"", headers=[("Content-Encoding", "gzip")])
    for path, (coding, pieces) in BOMBS.items():
        origin.raw(path, _stream(_HTML + f"Content-Encoding: {coding}\r\n\r\n".encode(), pieces))
    origin.raw("/drip/head", _drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"))
    origin.raw("/drip/body", _drip(_HTML + b"\r\n", b"a"))
    origin.raw("/silent", _drip(b"", b""))
    origin.raw("/stall", _drip(_HTML + b"Content-Length: 1000000000\r\n\r\n<p>", b""))
    origin.raw("/endless/head", _repeat(_HTML, b"X-More: and more\r\n" * 100))
    origin.raw("/endless/field", _repeat(_HTML + b"X-Long: ", b"a" * 4096))
    origin.raw("/endless/body", _repeat(_HTML + b"\r\n", b"<p>and more</p>" * 1000))
    origin.raw("/endless/hints", _repeat(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100))
    origin.raw("/endless/extensions", _repeat(_CHUNKED, (b"1;" + b"e" * 2048 + b"\r\na\r\n") * 10))
    origin.raw("/endless/redirect-body", _repeat(b"HTTP/1.1 302 Found\r\nLocation: /hop/0\r\n\r\n", b"x" * 4096))
    origin.raw("/broken/reset", _reset)
    origin.raw("/big", _stream(_HTML + b"Content-Length: %d\r\n\r\n" % BIG_BYTES, _big))
    origin.redirect("/loop", "/loop")
    origin.route("/hop/0", PAGE)
    for hops in range(1, 6):
        origin.redirect(f"/hop/{hops}", f"/hop/{hops - 1}")


def _drip(head: bytes, drop: bytes) -> Raw:
    """A head, then a drop a tick; with an empty drop, silence."""

    async def handler(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: Request) -> None:
        writer.write(head)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(TICK_SECONDS)

    return handler


def _repeat(head: bytes, piece: bytes) -> Raw:
    """A head, then the same piece for ever."""

    async def handler(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: Request) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()

    return handler


def _stream(head: bytes, pieces: Callable[[], Iterator[bytes]]) -> Raw:
    """A head, then pieces made while they are sent."""

    async def handler(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: Request) -> None:
        writer.write(head)
        for piece in pieces():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return handler


def _big() -> Iterator[bytes]:
    piece = b"<p>" + b"a" * 99_997
    for _ in range(BIG_BYTES // len(piece)):
        yield piece


async def _reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: Request) -> None:
    """Answer half a page and reset the connection (SO_LINGER of 0 seconds makes close send RST)."""
    writer.write(_HTML + b"Content-Length: 500\r\n\r\nhello")
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
