"""Every coding, body and size of piece against each other, and every place a body can be cut."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import pytest
import zstandard

from service.failures import UpstreamError
from service.fetch.coding import decoder_for

ROOM = 4 << 20


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


CODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip and junk": ("gzip", lambda data: gzip.compress(data) + b"\x1fjunk"),
    "zlib": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
}

_words = [f"낱말{number} ".encode() for number in range(500)]
_random = random.Random(1)
BODIES = {
    "one byte": b"a",
    "zeros": bytes(1 << 20),
    "just a piece": b"a" * 65_536,
    "text": b"".join(_random.choices(_words, k=100_000)),
    "runs": b"".join(_random.choice(_words) * 2_000 for _ in range(60)),
    "noise": _random.randbytes(200_000),
}


@cache
def encoded(coder: str, body: str) -> bytes:
    return CODERS[coder][1](BODIES[body])


def decode(coding: str, data: bytes, step: int) -> bytes:
    decoder = decoder_for(coding)
    out = b"".join(decoder.feed(data[start : start + step], ROOM) for start in range(0, len(data), step))
    decoder.finish()
    return out


@pytest.mark.parametrize("step", [7, 1_000, 65_536, 1 << 22])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("coder", CODERS)
def test_whole_whatever_the_pieces(coder: str, body: str, step: int) -> None:
    """A decoder may hold output back when all its input is used: an ordinary 150 kB page in brotli does."""
    assert decode(CODERS[coder][0], encoded(coder, body), step) == BODIES[body]


@pytest.mark.parametrize("coder", ["gzip", "zlib", "bare deflate", "br", "zstd"])
def test_cut_anywhere(coder: str) -> None:
    coding, encode = CODERS[coder]
    data = encode(BODIES["text"][:3_000])
    for end in range(1, len(data)):
        with pytest.raises(UpstreamError) as caught:
            decode(coding, data[:end], 500)
        assert caught.value.reason == "encoding"
