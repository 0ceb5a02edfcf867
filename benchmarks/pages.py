"""Pages to measure on: an article of a given size among what a site puts around it, the same for the same number."""

from __future__ import annotations

import random

_WORDS = (
    "harbour lamp keeper tide morning board repair bridge stone winter council money letter town engine rope signal "
    "water gate school island ferry record measure promise crate shed market road clay roof storm bell river mill line"
).split()
AROUND = 120
"""Links and teasers around an article; on real pages they are two thirds of the mark-up."""


def article(size: int, number: int) -> bytes:
    """A page of about `size` bytes, half of them its article's paragraphs, as on the boards' pages."""
    chance = random.Random(number)
    title = _sentence(chance, 6).rstrip(".")
    around = "".join(_teaser(chance) for _ in range(min(AROUND, size // 400)))
    head = (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{title} - The Quay</title>"
        f'<meta property=og:title content="{title}"><meta property=og:site_name content="The Quay">'
        '<meta property=article:published_time content="2026-03-02T07:00:00+09:00">'
        "<script>window.state={menu:[1,2,3]};</script><style>.card{display:flex}</style></head><body>"
        f"<header><nav>{_links(chance, 12)}</nav></header><main><article><h1>{title}</h1>"
        "<p class=byline>By Ruth Hale, 2 March 2026</p>"
    )
    tail = f"</article></main><aside>{around}</aside><footer>{_links(chance, 20)}</footer></body></html>"
    parts = []
    left = size - len(head) - len(tail)
    while left > 0:
        part = f"<p>{' '.join(_sentence(chance, chance.randint(8, 20)) for _ in range(4))}</p>\n"
        if chance.random() < 0.1:
            part = f"<h2>{_sentence(chance, 4)}</h2>\n{part}"
        parts.append(part)
        left -= len(part)
    return f"{head}{''.join(parts)}{tail}".encode()


def app(number: int) -> bytes:
    """A page whose article is written by a script, for the render tier."""
    paragraphs = article(8_000, number).partition(b"<article>")[2].partition(b"</article>")[0].decode()
    return (
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>The Quay</title></head><body><div id=app></div>"
        f"<script>document.getElementById('app').innerHTML = `<article>{paragraphs}</article>`;</script></body></html>"
    ).encode()


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words)).capitalize() + "."


def _links(chance: random.Random, count: int) -> str:
    return "".join(f"<a href=/{chance.randrange(10**6)}>{chance.choice(_WORDS)}</a> " for _ in range(count))


def _teaser(chance: random.Random) -> str:
    number = chance.randrange(10**6)
    return (
        f'<div class="card"><a href=/n/{number}><img src=/i/{number}.jpg alt=""><h3>{_sentence(chance, 6)}</h3></a>'
        f"<p class=teaser>{_sentence(chance, 8)}</p></div>"
    )
