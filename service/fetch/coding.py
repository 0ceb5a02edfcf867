"""Content codings undone while streaming, never further than the cap: a compression bomb costs nothing.

Clients that decode for themselves grew by 1 GiB on an 809-byte brotli bomb; these decoders are asked
for a bounded piece at a time. Codings are those of RFC 9110 section 8.4.1, brotli (RFC 7932) and zstd
(RFC 8878).
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import brotli
import zstandard

from service.failures import UpstreamError

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""What is asked for: the codings that are undone here, no other."""

PIECE_BYTES = 65_536
"""Output asked of a decoder at a time."""

ZSTD_INPUT_BYTES = 128
"""Input given to zstd at a time: its bindings bound no output, and 4 bytes can ask for a 128 KiB block (RFC 8878)."""

ZSTD_WINDOW_BYTES = 1 << 23
"""Largest window accepted, the one RFC 8878 section 3.1.1.1.2 and RFC 9659 require of a decoder."""

MAX_PARTS = 4_096
"""Most gzip members or zstd frames of one body: the million empty zstd frames of 8 MiB took 10 s to skip."""

GZIP_MAGIC = b"\x1f\x8b"
"""How each member of a gzip body begins (RFC 1952, section 2.3.1)."""

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
"""How each frame of a zstd body begins (RFC 8878, section 3.1.1)."""


class Decoder(Protocol):
    """Undoes one coding."""

    def feed(self, data: bytes, room: int) -> bytes:
        """At most `room` bytes of output for some more input; raises `UpstreamError` (`encoding`).

        When `room` is filled, the rest of the input is lost: the caller has all it wants.
        """

    def finish(self) -> None:
        """Raises `UpstreamError` (`encoding`) when the input ended early."""


def decoder_for(coding: str | None) -> Decoder:
    """The decoder of a Content-Encoding value; raises `UpstreamError` (`encoding`) for unknown or stacked codings."""
    names = [name.strip().lower() for name in (coding or "").split(",")]
    name = ", ".join(name for name in names if name not in ("", "identity", "none"))
    if not name:
        return _Identity()
    if name in ("gzip", "x-gzip"):
        return _Gzip()
    if name == "deflate":
        return _Deflate()
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise _broken(f"The content coding {name[:60]!r} is not read")


def _broken(what: str) -> UpstreamError:
    return UpstreamError(f"{what}.", reason="encoding")


def _mismatch(error: Exception) -> UpstreamError:
    return _broken(f"The body is not what its content coding says ({error})")


def _early_end() -> UpstreamError:
    return _broken("The compressed body ends early")


class _Identity:
    def feed(self, data: bytes, room: int) -> bytes:
        return data[:room]

    def finish(self) -> None:
        return None


def _inflate(inner: zlib._Decompress, data: bytes, room: int) -> bytes:
    """Decompress until the input is used up, the stream has ended or there are `room` bytes."""
    out = bytearray()
    while not inner.eof and len(out) < room:
        limit = min(PIECE_BYTES, room - len(out))
        try:
            piece = inner.decompress(data, limit)
        except zlib.error as error:
            raise _mismatch(error) from None
        out += piece
        data = inner.unconsumed_tail
        # A full piece may leave output behind although all input is used up.
        if not data and len(piece) < limit:
            break
    return bytes(out)


class _Parts(ABC):
    """A body of one or more parts, gzip's members or zstd's frames; what follows them and is none is ignored."""

    magic_bytes: ClassVar[int]

    def __init__(self) -> None:
        self._inner: Any = None
        self._head = b""
        self._over = False
        self._parts = 0

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        while data and not self._over and len(out) < room:
            if self._inner is None or self._inner.eof:
                # Between parts: the first bytes tell another part from junk, and may come apart.
                self._head += data
                if len(self._head) < self.magic_bytes:
                    break
                if self._inner is not None and not self._begins(self._head):
                    self._over = True
                    break
                data, self._head = self._head, b""
                if self._parts >= MAX_PARTS:
                    raise _broken(f"The compressed body has over {MAX_PARTS:,} parts")
                self._parts += 1
                self._inner = self._open()
            piece, data = self._decode(data, room - len(out))
            out += piece
        return bytes(out[:room])

    def finish(self) -> None:
        if (self._inner is None and self._head) or (self._inner is not None and not self._inner.eof):
            raise _early_end()

    @abstractmethod
    def _open(self) -> Any:
        """A decompressor for one part."""

    @abstractmethod
    def _begins(self, head: bytes) -> bool:
        """Whether another part begins here."""

    @abstractmethod
    def _decode(self, data: bytes, room: int) -> tuple[bytes, bytes]:
        """Some output, about `room` bytes at most, and the input that is left."""


class _Gzip(_Parts):
    magic_bytes = len(GZIP_MAGIC)

    def _open(self) -> Any:
        return zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _begins(self, head: bytes) -> bool:
        return head.startswith(GZIP_MAGIC)

    def _decode(self, data: bytes, room: int) -> tuple[bytes, bytes]:
        out = _inflate(self._inner, data, room)
        return out, self._inner.unused_data


class _Deflate:
    """zlib's form, as RFC 9110 says, or the bare stream, as many servers send."""

    def __init__(self) -> None:
        self._inner: zlib._Decompress | None = None

    def feed(self, data: bytes, room: int) -> bytes:
        if not data:
            return b""
        if self._inner is None:
            # RFC 1950: the low half of zlib's first byte is the method, 8. A bare stream begins so only
            # where a stored block has set a bit that no encoder sets.
            self._inner = zlib.decompressobj(zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS)
        return _inflate(self._inner, data, room)

    def finish(self) -> None:
        if self._inner is not None and not self._inner.eof:
            raise _early_end()


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self._started = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        while len(out) < room and not self._inner.is_finished():
            self._started = self._started or bool(data)
            try:
                piece = self._inner.process(data, output_buffer_limit=min(PIECE_BYTES, room - len(out)))
            except brotli.error as error:
                raise _mismatch(error) from None
            out += piece
            data = b""
            # `can_accept_more_data` looks at kept input only: output may be left without any.
            if not piece and self._inner.can_accept_more_data():
                break
        return bytes(out[:room])

    def finish(self) -> None:
        if self._started and not self._inner.is_finished():
            raise _early_end()


class _Zstd(_Parts):
    magic_bytes = len(ZSTD_MAGIC)

    def _open(self) -> Any:
        return zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES).decompressobj()

    def _begins(self, head: bytes) -> bool:
        # With content or skippable (RFC 8878, section 3.1.2).
        return head.startswith(ZSTD_MAGIC) or (head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18")

    def _decode(self, data: bytes, room: int) -> tuple[bytes, bytes]:
        piece, rest = data[:ZSTD_INPUT_BYTES], data[ZSTD_INPUT_BYTES:]
        try:
            out = self._inner.decompress(piece)
        except (zstandard.ZstdError, MemoryError) as error:
            raise _mismatch(error) from None
        return out, self._inner.unused_data + rest
