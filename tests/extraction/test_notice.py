"""Bodies that are none: script notices, consent text, the page's own title; and the honest pages beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from service import extract
from service.extraction import NoBody
from service.failures import BlockedBySite

SAID: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("notices.yaml").read_text(encoding="utf-8"))
SCRIPT = SAID["script"]


def page(lines: str, title: str = "Quayboard", head: str = "") -> str:
    body = "".join(f"<p>{line}</p>" for line in lines.split("|"))
    return f"<title>{title}</title>{head}<body><main>{body}</main><script src=/app.js></script>"


def reason(html: str) -> str:
    with pytest.raises(NoBody) as caught:
        extract(html, "https://quayboard.example/b/1")
    return caught.value.reason or ""


@pytest.mark.parametrize(
    ("kind", "key"), [(kind, key) for kind in ("script", "consent", "loading") for key in SAID[kind]]
)
def test_a_notice_is_no_body_and_prose_beside_it_is(kind: str, key: str) -> None:
    lines = SAID[kind][key] + ("|Loading…" * 12 if kind == "loading" else "")
    assert reason(page(lines)).startswith(f"{kind} notice: ")
    prose = SAID["prose"].get(key[:2], SAID["prose"]["any"])
    kept = extract(page(f"{lines}|{prose}"), "https://quayboard.example/b/1")
    assert kept.source == "body"
    assert prose in kept.text


def test_the_reason_names_the_words() -> None:
    assert reason(page(SCRIPT["en"])) == "script notice: need to enable javascript"
    assert reason(page(SAID["consent"]["en"])) == "consent notice: we use cookies"
    assert reason(page("Loading the board…")) == "loading notice: loading the board"


def test_title_and_site_are_no_prose_beside_a_notice() -> None:
    head = "<meta property=og:site_name content='The Eastmere and Harrowmouth Weekly Gazette and Tide Table'>"
    title = "What the harbour board decided about the old ropewalk, and why"
    lines = f"The Eastmere and Harrowmouth Weekly Gazette and Tide Table|{title}|Loading…|{title}"
    assert reason(page(lines, title, head)) == "loading notice: loading"
    assert reason(page(lines.replace("|Loading…", ""), title, head)) == "title only"


@pytest.mark.parametrize(("title", "lines"), SAID["about"].items())
def test_a_page_about_it_passes(title: str, lines: str) -> None:
    assert lines.split("|")[0] in extract(page(lines, title), "https://quayboard.example/b/1").text


def test_a_quoted_notice_is_prose() -> None:
    line = "The sign at the lock says “Please enable JavaScript”, and nobody on the quay knows whom it means by that."
    assert line in extract(page(line, "Signs"), "https://signs.example/").text


def test_a_title_that_is_a_notice_or_names_another_thing_is_no_subject() -> None:
    assert reason(page(SCRIPT["en"], "Quayboard, a browser game")).startswith("script notice")
    assert reason(page(SCRIPT["en"], "JavaScript is required")).startswith("script notice")


def test_a_payload_or_description_that_is_a_notice_is_none_too() -> None:
    data = json.dumps({"@type": "Article", "articleBody": SCRIPT["en"]})
    head = f"<meta name=description content='{SCRIPT['de']}'><script type=application/ld+json>{data}</script>"
    assert reason(page(SCRIPT["en"], head=head)).startswith("script notice")
    honest = page(
        SCRIPT["en"], head="<meta name=description content='Tides, prices and quarrels from both banks of the river.'>"
    )
    assert extract(honest).source == "description"


def test_a_selector_is_obeyed() -> None:
    assert "JavaScript" in extract(page(SCRIPT["en"]), selector="main").text


def test_a_consent_wall_stays_one() -> None:
    with pytest.raises(BlockedBySite) as caught:
        extract(page("Before you continue to Findly|We use cookies and data to deliver and maintain our services."))
    assert (caught.value.reason or "").startswith("consent: ")
