"""Teasers of paywalled texts and what says so; whole texts and open pages beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import extract
from service.extraction.dom import parse
from service.extraction.facts import read
from service.extraction.noise import prune
from service.extraction.paywall import partial_evidence

SAID: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("paywall.yaml").read_text(encoding="utf-8"))
SENTENCE = "The keeper counts the boats again before the bell rings, and writes the number {} on the door."
TEASER = [SENTENCE.format(number) for number in range(4)]
LONG = [SENTENCE.format(number) for number in range(80)]
FREE = {"@type": "NewsArticle", "isAccessibleForFree": False}


def part(selector: str) -> dict[str, Any]:
    return {"@type": "WebPageElement", "isAccessibleForFree": "False", "cssSelector": selector}


def evidence(body: list[str], behind: str = "", data: dict[str, Any] | None = None, head: str = "") -> tuple[str, ...]:
    others = behind.split("|") if behind else []
    inside = "".join(f"<p>{text}</p>" for text in body)
    html = f"<head>{head}<script type=application/ld+json>{json.dumps(data or {})}</script></head>"
    html += f"<article class=story>{inside}</article>" + "".join(f"<div>{text}</div>" for text in others)
    root = parse(html, max_nodes=10_000, max_depth=500)
    facts = read(root)
    prune(root)
    return partial_evidence(root, facts, [*body, *others], [True] * len(body) + [False] * len(others))


@pytest.mark.parametrize("name", SAID["barrier"])
def test_a_barrier_behind_a_teaser_is_evidence(name: str) -> None:
    found = evidence(TEASER, SAID["barrier"][name])
    assert any(sign.startswith("barrier: ") for sign in found)
    # Chosen as part of the body it is one as well.
    if "split" not in name:
        assert evidence([*TEASER, *SAID["barrier"][name].split("|")])


@pytest.mark.parametrize("name", SAID["open"])
def test_an_offer_behind_a_text_is_none(name: str) -> None:
    assert evidence(TEASER, SAID["open"][name]) == ()


def test_barriers_are_known_in_ten_languages() -> None:
    assert len({name.split("-")[0] for name in SAID["barrier"]}) >= 10


@pytest.mark.parametrize("false", [False, "False", "false", "http://schema.org/False"])
def test_a_short_text_declared_not_free_is_a_teaser(false: Any) -> None:
    found = evidence(TEASER, data={"@type": "Article", "isAccessibleForFree": false})
    assert found[0] == "isAccessibleForFree: false"
    assert evidence(TEASER, data={"@type": "Article", "isAccessibleForFree": True}) == ()
    assert evidence(TEASER) == ()


def test_an_absent_or_empty_part_is_evidence() -> None:
    middling = LONG[:30]
    assert evidence(middling, data=FREE) == ()
    assert ".rest: nothing there" in evidence(middling, data={**FREE, "hasPart": part(".rest")})
    assert ".rest: nothing there" in evidence(middling, data={"@type": "Article", "hasPart": [part(".rest")]})
    assert evidence(middling, data={**FREE, "hasPart": part(".story")}) == ()
    for wrong in ("..", "p:nth-child(", "x" * 300, "", None, 7, {"a": 1}):
        assert evidence(middling, data={**FREE, "hasPart": {**part(""), "cssSelector": wrong}}) == ()


@pytest.mark.parametrize("tier", ["locked", "paid", "Premium"])
def test_a_tier_is_a_declaration(tier: str) -> None:
    head = f"<meta property=article:content_tier content={tier}>"
    assert evidence(TEASER, head=head)[0] == f"article:content_tier: {tier.lower()}"
    for other in ("free", "metered"):
        assert evidence(TEASER, head=head.replace(tier, other)) == ()


def test_a_text_that_is_all_there_is_no_teaser() -> None:
    assert evidence(LONG, data=FREE) == ()
    assert evidence(LONG, data={**FREE, "hasPart": part(".elsewhere")}) == ()
    whole = LONG[:16]
    assert evidence(whole, data={**FREE, "articleBody": " ".join(whole)}) == ()
    assert evidence(whole, data={**FREE, "articleBody": " ".join(LONG)})
    assert evidence(LONG[:30], data={**FREE, "wordCount": 2_000})[-1].endswith("of the declared text")
    assert evidence(LONG[:30], data={**FREE, "wordCount": 500}) == ()


def test_a_counter_of_readers_behind_a_long_text_is_none() -> None:
    assert evidence(LONG, SAID["barrier"]["en-meter"]) == ()
    assert evidence([*LONG, "And then the bell rang, and the keeper…"], SAID["barrier"]["en"])


def test_an_ellipsis_alone_is_none() -> None:
    assert evidence([*TEASER, "And then the bell rang…"]) == ()
    assert "ends in an ellipsis" in evidence([*TEASER, "And then the bell rang…"], SAID["barrier"]["de"])


def test_prose_about_barriers_and_far_ones_are_none() -> None:
    prose = (
        "In March the paper hid its archive. " * 8
        + "Readers were told to subscribe to continue reading, and few did so."
    )
    assert (
        evidence([*TEASER, prose + " The archive was opened again in May, when the money for the wall ran out." * 3])
        == ()
    )
    far = "|".join(["Most read"] * 8 + [SAID["barrier"]["en"]])
    assert evidence(TEASER, far) == ()
    assert evidence([]) == ()


def test_an_answer_says_that_it_is_a_teaser() -> None:
    texts = [
        f"Keeper {number} of the northern harbour counts {number * 7} boats, then writes of weather and tide."
        for number in range(6)
    ]
    body = "".join(f"<p>{text}</p>" for text in texts)
    barrier = "<div class=offer><p>Subscribe to continue reading.</p><a href=/buy>Subscribe</a></div>"
    data = json.dumps(FREE)
    page = f"<title>Boats</title><script type=application/ld+json>{data}</script><article>{body}</article>"
    teaser = extract(page + barrier).metadata
    assert teaser.partial
    assert any("Accessible" in sign or "free" in sign for sign in teaser.partial_evidence)
    pitch = "<h2>This article is for subscribers only</h2><p>Start your free trial today</p>"
    ended = extract(f"<title>Boats</title><article>{body}{pitch}</article>")
    assert ended.metadata.partial
    assert ended.text.split() == " ".join(texts).split()
    open_page = extract(f"<title>Boats</title><article>{body}</article>").metadata
    assert (open_page.partial, open_page.partial_evidence) == (False, ())
