"""Decoders by themselves, fed in pieces of every size: ends, junk, floods of empty parts, windows, bounds."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from service.failures import UpstreamError
from service.fetch.coding import MAX_PARTS, decoder_for

TEXT = "등대지기는 배를 다시 센다. The keeper counts the boats. ".encode() * 900
ROOM = 1 << 20

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def decoded(coding: str, data: bytes, step: int = 65_536, room: int = ROOM) -> bytes:
    decoder = decoder_for(coding)
    out = bytearray()
    for start in range(0, len(data), step):
        out += decoder.feed(data[start : start + step], room - len(out))
        if len(out) >= room:
            return bytes(out)
    decoder.finish()
    return bytes(out)


@pytest.mark.parametrize("step", [1, 7, 65_536])
@pytest.mark.parametrize("coding", PACK)
def test_pieces_of_any_size(coding: str, step: int) -> None:
    assert decoded(coding, PACK[coding](TEXT), step) == TEXT


@pytest.mark.parametrize("step", [1, 65_536])
@pytest.mark.parametrize("coding", PACK)
def test_no_more_than_asked(coding: str, step: int) -> None:
    assert decoded(coding, PACK[coding](TEXT), step, room=1000) == TEXT[:1000]


@pytest.mark.parametrize("coding", PACK)
def test_an_empty_body(coding: str) -> None:
    assert decoded(coding, b"") == b""
    assert decoded(coding, PACK[coding](b"")) == b""


@pytest.mark.parametrize("cut", [1, 4, 9])
@pytest.mark.parametrize("coding", PACK)
def test_a_truncated_body(coding: str, cut: int) -> None:
    with pytest.raises(UpstreamError) as caught:
        decoded(coding, PACK[coding](TEXT)[:-cut])
    assert caught.value.reason == "encoding"


@pytest.mark.parametrize("coding", PACK)
def test_a_body_in_another_form(coding: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        decoded(coding, TEXT)
    assert caught.value.reason == "encoding"


@pytest.mark.parametrize("step", [1, 65_536])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_junk_after_the_end(coding: str, step: int) -> None:
    assert decoded(coding, PACK[coding](TEXT) + b"\x00junk", step) == TEXT


@pytest.mark.parametrize("step", [1, 65_536])
@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_several_parts(coding: str, step: int) -> None:
    assert decoded(coding, PACK[coding](TEXT[:5000]) + PACK[coding](TEXT[5000:]), step) == TEXT


@pytest.mark.parametrize(
    ("coding", "part"),
    [("gzip", gzip.compress(b"")), ("zstd", zstandard.compress(b"")), ("zstd", b"\x50\x2a\x4d\x18\0\0\0\0")],
    ids=["gzip members", "zstd frames", "zstd skippable frames"],
)
def test_a_flood_of_empty_parts(coding: str, part: bytes) -> None:
    """Nothing comes out, so no bound on output ends it."""
    started = time.process_time()
    with pytest.raises(UpstreamError) as caught:
        decoded(coding, part * (4 << 20 >> 3))
    assert caught.value.reason == "encoding"
    assert time.process_time() - started < 1
    assert decoded(coding, part * (MAX_PARTS - 1) + PACK[coding](TEXT)) == TEXT


@pytest.mark.parametrize(("log", "accepted"), [(20, True), (23, True), (24, False), (31, False)])
def test_zstd_windows(log: int, accepted: bool) -> None:
    frame = zstandard.FRAME_HEADER + bytes([0, (log - 10) << 3]) + b"\x01\x00\x00"
    if accepted:
        assert decoded("zstd", frame) == b""
        return
    with pytest.raises(UpstreamError) as caught:
        decoded("zstd", frame)
    assert caught.value.reason == "encoding"


@pytest.mark.parametrize("name", [None, "", "identity", "none", " Identity ", "identity, identity"])
def test_no_coding(name: str | None) -> None:
    assert decoder_for(name).feed(TEXT, ROOM) == TEXT


@pytest.mark.parametrize("name", ["GZIP", "x-gzip", "gzip,", "identity, gzip"])
def test_spellings_of_one_coding(name: str) -> None:
    assert decoded(name, gzip.compress(TEXT)) == TEXT


@pytest.mark.parametrize("name", ["gzip, gzip", "br,gzip", "gzip, rot13", "compress", "dcb"])
def test_stacked_or_unknown_codings(name: str) -> None:
    with pytest.raises(UpstreamError) as caught:
        decoder_for(name)
    assert caught.value.reason == "encoding"
