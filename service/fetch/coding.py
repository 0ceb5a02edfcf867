"""Content codings undone while streaming, never further than the cap: a compression bomb costs nothing.

Clients that decode for themselves grew by 1 GiB on an 809-byte brotli bomb; these decoders are asked
for a bounded piece at a time.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import brotli
import zstandard

from service.failures import UpstreamError

PIECE_BYTES = 65_536
"""Output asked of a decoder at a time."""

ZSTD_INPUT_BYTES = 128
"""Input given to zstd at a time: its bindings bound no output, and 4 bytes can ask for a 128 KiB block (RFC 8878)."""

ZSTD_WINDOW_BYTES = 1 << 23
"""Largest window accepted, the one RFC 8878 section 3.1.1.1.2 and RFC 9659 require of a decoder."""


class Decoder(Protocol):
    """Undoes one coding."""

    def feed(self, data: bytes, room: int) -> bytes:
        """At most about `room` bytes of output for some more input; raises `UpstreamError` (`encoding`)."""

    def finish(self) -> None:
        """Raises `UpstreamError` (`encoding`) when the input ended early."""


def decoder_for(coding: str | None) -> Decoder:
    """The decoder of a Content-Encoding value; raises `UpstreamError` (`encoding`) for unknown or stacked codings."""
    name = (coding or "identity").strip().lower()
    if name in ("", "identity", "none"):
        return _Identity()
    if name in ("gzip", "x-gzip"):
        return _Zlib(zlib.MAX_WBITS | 16)
    if name == "deflate":
        return _Zlib(0)
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise _broken(f"The content coding {name[:60]!r} is not read")


def _broken(what: str) -> UpstreamError:
    return UpstreamError(f"{what}.", reason="encoding")


class _Identity:
    def feed(self, data: bytes, room: int) -> bytes:
        return data[:room]

    def finish(self) -> None:
        return None


class _Zlib:
    """gzip (several members, junk after the last ignored) and deflate, with or without its zlib head."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inner = zlib.decompressobj(wbits) if wbits else None
        self._started = self._done = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        while data and not self._done and len(out) < room:
            self._started = True
            if self._inner is None:  # deflate: RFC 9110 says zlib's form, many servers send the bare one
                self._wbits = zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS
                self._inner = zlib.decompressobj(self._wbits)
            try:
                out += self._inner.decompress(data, min(PIECE_BYTES, room - len(out)))
            except zlib.error as error:
                raise _broken(f"The body is not what its content coding says ({error})") from None
            data = self._inner.unconsumed_tail
            if self._inner.eof:
                data = self._inner.unused_data
                if self._wbits > 16 and data[:2] == b"\x1f\x8b":
                    self._inner = zlib.decompressobj(self._wbits)
                else:
                    self._done = True
        return bytes(out)

    def finish(self) -> None:
        if self._started and self._inner is not None and not self._inner.eof:
            raise _broken("The compressed body ends early")


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self._started = False

    def feed(self, data: bytes, room: int) -> bytes:
        if self._inner.is_finished() or not data:
            return b""
        self._started = True
        out = bytearray()
        try:
            out += self._inner.process(data, output_buffer_limit=min(PIECE_BYTES, room))
            while len(out) < room and not self._inner.can_accept_more_data():
                out += self._inner.process(b"", output_buffer_limit=min(PIECE_BYTES, room - len(out)))
        except brotli.error as error:
            raise _broken(f"The body is not what its content coding says ({error})") from None
        return bytes(out)

    def finish(self) -> None:
        if self._started and not self._inner.is_finished():
            raise _broken("The compressed body ends early")


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()
        self._started = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        for start in range(0, len(data), ZSTD_INPUT_BYTES):
            if self._inner.eof or len(out) >= room:
                break
            self._started = True
            try:
                out += self._inner.decompress(data[start : start + ZSTD_INPUT_BYTES])
            except (zstandard.ZstdError, MemoryError) as error:
                raise _broken(f"The body is not what its content coding says ({error})") from None
        return bytes(out[:room])

    def finish(self) -> None:
        if self._started and not self._inner.eof:
            raise _broken("The compressed body ends early")
