"""Walls and dead pages by kind, language and vendor, each beside honest pages that use the same words or scripts."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import extract
from service.extraction.phrases import table
from service.failures import ALL, BlockedBySite, Failure, PageNotFound, UpstreamError

Case = dict[str, Any]
CASES: dict[str, dict[str, Case]] = yaml.safe_load(Path(__file__).with_name("walls.yaml").read_text(encoding="utf-8"))
PHRASES = table()
LONG = "<p>The keeper counts the boats again before the bell rings, and writes the number on the door.</p>" * 60

CODES: dict[str, type[Failure]] = {
    **dict.fromkeys(("bot", "vendor", "login", "consent", "region"), BlockedBySite),
    **dict.fromkeys(("rate", "maintenance"), UpstreamError),
    "dead": PageNotFound,
}


def read(case: Case) -> str:
    body = LONG if case["html"] == "LONG" else case["html"]
    html = f"<!doctype html><head><title>{case['title']}</title>{case.get('head', '')}</head>{body}"
    return extract(html, "https://stalls.example/x/1", status=case.get("status", 200)).text


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in CODES for name in CASES[kind]])
def test_a_wall_has_its_name_and_evidence(kind: str, name: str) -> None:
    with pytest.raises(Failure) as caught:
        read(CASES[kind][name])
    failure = caught.value
    assert isinstance(failure, CODES[kind]), failure.reason
    assert type(failure) in ALL
    reason = failure.reason or ""
    if kind == "vendor":
        assert reason == f"challenge: {name}"
    elif kind != "dead":
        assert reason.startswith(CASES[kind][name].get("reason", f"{kind}: ")), reason


@pytest.mark.parametrize("name", CASES["passes"])
def test_its_twin_passes(name: str) -> None:
    case = CASES["passes"][name]
    shown = (
        re.sub(r"<[^>]+>", "", re.findall(r"<(?:p|dd)>(.*?)</(?:p|dd)>", case["html"], re.S)[0])
        if "text" not in case
        else case["text"]
    )
    assert shown[:60] in read(case)


def test_every_kind_has_twins() -> None:
    names = {name.split("-")[0] for name in CASES["passes"]}
    assert {kind for kind in CODES if kind != "vendor"} <= names
    assert {"loads", "code"} <= names


@pytest.mark.parametrize("kind", [kind for kind in CODES if kind != "vendor"])
def test_every_kind_is_known_in_ten_languages(kind: str) -> None:
    assert len({name.split("-")[0] for name in PHRASES[kind]["phrases"]} - {"any"}) >= 10
    assert len({name.split("-")[0] for name in CASES[kind]}) >= 10


def test_phrases_are_text() -> None:
    """A comma or a colon in a phrase needs quotation marks in YAML, a number too."""
    for kind in CODES:
        for section in ("titles", "phrases") if kind != "vendor" else ():
            for group in PHRASES[kind].get(section, {}).values():
                assert all(isinstance(phrase, str) and len(phrase.strip()) > 1 for phrase in group)
                assert len(group) == len(set(group))


def test_an_article_precedes_a_vendor() -> None:
    for name, article in (("Imperva", "an"), ("Akamai", "an"), ("AWS WAF", "an"), ("Kasada", "a"), ("F5", "an")):
        with pytest.raises(BlockedBySite, match=f"with {article} {name} challenge"):
            read(CASES["vendor"][name])


@pytest.mark.parametrize(
    ("status", "kind"), [(200, BlockedBySite), (403, BlockedBySite), (503, BlockedBySite), (500, UpstreamError)]
)
def test_a_status_beside_a_wall(status: int, kind: type[Failure]) -> None:
    """A challenge comes with any status but a failing server's own; a missing page is missing whatever it says."""
    with pytest.raises(kind):
        read({**CASES["bot"]["en"], "status": status})
    with pytest.raises(PageNotFound):
        read({**CASES["bot"]["en"], "status": 404})


def test_time_is_bounded() -> None:
    """Thousands of phrases, digits without end, open quotation marks: linear."""
    phrase = "1 2 3 “ page not found " * 120
    for text in (phrase + "7 " * 1_000_000, "“" * 500_000 + phrase, "? " * 500_000, "<a href=/>1</a>" * 10_000):
        started = time.process_time()
        with contextlib.suppress(Failure):
            extract(f"<title>{text[:50_000]}</title><p>{text}</p>", "https://stalls.example/")
        assert time.process_time() - started < 8
