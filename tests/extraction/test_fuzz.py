"""Captures mutated at random: a page or a named failure, the same each time, and never anything that runs."""

from __future__ import annotations

import random
from pathlib import Path

import lxml.html
import pytest

from service import Failure, Page, extract

CAPTURES = [
    path.read_bytes()
    for path in sorted((Path(__file__).parents[2] / "captures").glob("*/page.*"))
    if path.stat().st_size < 60_000
]
ROUNDS = 150

SHARDS = [
    b"<svg>",
    b"<math><mi>",
    b"<template>",
    b"<table><tr><td>",
    b"<select>",
    b"</p>",
    b"<ruby>a<rt>b",
    b"<details><summary>",
    b"<pre>",
    b'<a href="javascript:x">',
    b'<img srcset="a b c, ,1x">',
    b'<base href="http://[">',
    b"<ul>",
    b"<li>",
    b"<dl><dt>",
    b"<td rowspan=99>",
    b"<ol start=999999999>",
    b"\x00",
    b"\x0c",
    b"\xff\xfe",
    b"&#xD800;",
    b"&#0;",
    b"&#1;",
    b"<br>",
    b"</body></html>",
    b"<noscript>",
    b"<!--",
    b"<plaintext>",
    b"<frameset>",
    b"<q>",
    b"<code>`",
    b"<caption>",
    b'<meta http-equiv=refresh content="0;url=">',
    b'<iframe src="//x" onload=x()>',
    b"<p onclick=x() style=x>",
    b"<h1>",
    b'<script type=application/ld+json>{"@type":["x",1],"headline":[[]],"image":{"url":{}}}</script>',
]


def mutated(chance: random.Random) -> bytes:
    page = bytearray(chance.choice(CAPTURES))
    for _ in range(chance.randint(1, 12)):
        place = chance.randrange(len(page) + 1)
        kind = chance.random()
        if kind < 0.6:
            page[place:place] = chance.choice(SHARDS) * chance.choice([1, 1, 2, 30])
        elif kind < 0.75:
            del page[place : place + chance.randint(1, 200)]
        elif kind < 0.9:
            page[place:place] = chance.randbytes(chance.randint(1, 8))
        else:
            other = chance.randrange(len(page) + 1)
            page[place:place] = page[other : other + chance.randint(1, 400)]
    return bytes(page)


def outcome(page: bytes) -> Page | str:
    try:
        found = extract(page, "http://a.test/")
    except Failure as failure:
        return f"{failure.code} {failure.reason}"
    return found


@pytest.mark.parametrize("seed", range(8))
def test_mutated_pages(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        page = mutated(chance)
        found = outcome(page)
        if isinstance(found, str):
            assert outcome(page) == found
            continue
        again = outcome(page)
        assert isinstance(again, Page)
        assert (again.markdown, again.html, again.title) == (found.markdown, found.html, found.title)
        found.markdown.encode()
        assert_safe(found.html)


def assert_safe(html: str) -> None:
    if not html.strip():
        return
    for element in lxml.html.fragment_fromstring(html, create_parent=True).iter():
        assert element.tag not in ("script", "style", "iframe", "object", "form")
        assert not any(name.startswith("on") or name == "style" for name in element.attrib)
        for name in ("href", "src"):
            assert (element.get(name) or "http:").partition(":")[0] in ("http", "https", "mailto", "tel")
