"""Inputs made from seeds: pieces put in, cut out, repeated, swapped, and of other seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

PIECES = [
    *(b"<div>", b"</p>", b"<table><tr><td>", b"<svg>", b"<script>", b"<!--", b"]]>", b"<![CDATA[", b"&#1;"),
    *(b"{", b"}", b"[", b'"', b"\\u", b"\\", b"null", b"1e999", b":", b",", b"\x00", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"\r\n", b"\r\n\r\n", b": ", b"HTTP/1.1", b"CONNECT ", b"chunked", b"0\r\n\r\n", b"%00", b"%2e", b"//", b"@"),
    *(b"[::ffff:7f00:1]", b"0x7f.1", b"127.1", b"2130706433", b"\xef\xbc\x91", b"\xe3\x80\x82", b"xn--", b"..", b"-1"),
    *(b"9" * 40, b"A" * 300, b" ", b"\t", b"\n", b"*", b"_", b"`", b"|", b"#", b"> ", b"1. ", b"$$", b"\xe2\x80\x8b"),
]  # fmt: skip
MOST_BYTES = 20_000
"""Longest input: what is slow by size is measured elsewhere."""


def mutants(seeds: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Inputs without an end, the same for the same number."""
    chance = random.Random(seed)
    while True:
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((0, 1, 1, 2, 4, 12))):
            _mutate(data, chance, seeds)
        yield bytes(data[:MOST_BYTES])


def _mutate(data: bytearray, chance: random.Random, seeds: Sequence[bytes]) -> None:
    place = chance.randrange(len(data) + 1)
    kind = chance.randrange(6)
    if kind == 0:
        data[place:place] = chance.choice(PIECES) * chance.choice((1, 1, 1, 3, 50))
    elif kind == 1:
        del data[place : place + chance.choice((1, 4, 60, 2_000))]
    elif kind == 2:
        data[place : place + 1] = bytes((chance.randrange(256),))
    elif kind == 3:
        length = chance.choice((1, 10, 200))
        data[place:place] = data[place : place + length] * chance.choice((1, 2, 20))
    elif kind == 4:
        other = chance.choice(seeds)
        start = chance.randrange(len(other) + 1)
        data[place:place] = other[start : start + chance.choice((4, 100, 2_000))]
    else:
        data[place : place + 4] = chance.randbytes(chance.randrange(1, 9))
