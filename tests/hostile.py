"""What hostile and broken servers do, as handlers for `Origin.raw`. Each is bounded: it ends when its client goes."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from functools import cache

import brotli
import zstandard

from tests.origin import Handler, Request

GIB = 1 << 30
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def sends(data: bytes, *, then: str = "close") -> Handler:
    """Send these bytes, then `close`, `reset` or `stall`."""

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if then == "stall":
            await asyncio.sleep(60)
        elif then == "reset":
            writer.transport.abort()
        writer.close()

    return handler


def repeats(head: bytes, piece: bytes, pause: float = 0.0, times: int = 1 << 20) -> Handler:
    """Send a head, then a piece again and again."""

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(times):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        writer.close()

    return handler


@cache
def bomb(coding: str) -> bytes:
    """A body that decodes to 1 GiB of zeros."""
    return b"".join(_compressed(coding))


def _compressed(coding: str) -> Iterator[bytes]:
    piece = bytes(1 << 24)
    if coding == "gzip":
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        for _ in range(GIB // len(piece)):
            yield packer.compress(piece)
        yield packer.flush()
    elif coding == "br":
        squeezer = brotli.Compressor(quality=1)
        for _ in range(GIB // len(piece)):
            yield squeezer.process(piece)
        yield squeezer.finish()
    else:
        crusher = zstandard.ZstdCompressor(level=1).compressobj()
        for _ in range(GIB // len(piece)):
            yield crusher.compress(piece)
        yield crusher.flush()


def coded(coding: str, body: bytes) -> Handler:
    """A whole response in this Content-Encoding."""
    head = HEAD + f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return sends(head + body)


def zstd_with_window(log: int) -> bytes:
    """A zstd frame head that asks for a window of 2^log bytes (RFC 8878, 3.1.1.1.2), and an empty last block."""
    return b"\x28\xb5\x2f\xfd" + bytes([0b0000_0000, (log - 10) << 3]) + b"\x01\x00\x00"


PAGE = (
    b"<html><head><title>A page</title></head><body><article>"
    + b"<p>The keeper counts the boats again.</p>" * 20
    + b"</article>"
)

BROKEN: dict[str, tuple[bytes, str]] = {
    "early close": (HEAD + b"Content-Length: 5000\r\n\r\n<p>half", "fetch"),
    "two lengths": (HEAD + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello", "fetch"),
    "negative length": (HEAD + b"Content-Length: -1\r\n\r\nhello", "fetch"),
    "bad chunking": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n", "fetch"),
    "chunk cut short": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n50\r\nhello", "fetch"),
    "http/0.9": (b"<html>hello", "fetch"),
    "status 999999": (b"HTTP/1.1 999999 X\r\n\r\n", "fetch"),
    "nul in header": (b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n", "fetch"),
    "nothing": (b"", "fetch"),
    "huge header": (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 4_000_000 + b"\r\n\r\n", "headers"),
    "70 kB of headers": (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n", "headers"),
    "truncated gzip": (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE)[:-12], "encoding"),
    "not gzip": (HEAD + b"Content-Encoding: gzip\r\n\r\n" + PAGE, "encoding"),
    "stacked codings": (
        HEAD + b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(gzip.compress(PAGE)),
        "encoding",
    ),
    "unknown coding": (HEAD + b"Content-Encoding: rot13\r\n\r\n" + PAGE, "encoding"),
    "zstd window of 2 GiB": (HEAD + b"Content-Encoding: zstd\r\n\r\n" + zstd_with_window(31), "encoding"),
    "location with a control": (
        b"HTTP/1.1 302 F\r\nLocation: http://a\x7fb/\r\nContent-Length: 0\r\n\r\n",
        "url_bad_char",
    ),
    "location without host": (b"HTTP/1.1 302 F\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n", "url_invalid"),
}
"""Responses that break HTTP or themselves, and the `reason` of the `UpstreamError` each must give."""
