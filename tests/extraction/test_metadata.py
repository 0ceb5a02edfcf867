"""What a page says of itself, from every source, and from hostile ones."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import Page, extract
from service.extraction.metadata import dates, people
from service.extraction.metadata.length import length_of
from service.extraction.repair import repaired
from service.page import Metadata

PROSE = "The keeper counts the boats again before the bell rings, and writes the number down in a book. " * 5


def read(head: str = "", top: str = "", *, title: str = "Boats at night", end: str = "", lang: str = "en") -> Page:
    body = f"<header>{top}</header><p>{PROSE}</p><p>{PROSE}</p>{end}"
    source = f"<html lang={lang}><head><title>{title}</title>{head}</head><body><article><h1>{title}</h1>{body}"
    return extract(source, url="https://www.harbour.test/2024/boats")


def said(head: str = "", top: str = "", **more: str) -> Metadata:
    return read(head, top, **more).metadata


def ld(**fields: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle", **fields})}</script>'


def test_every_field() -> None:
    head = ld(
        author=[{"@type": "Person", "name": "Ada Sund"}, "Ben Moor"],
        datePublished="2024-03-05T23:30:00+09:00",
        dateModified="2024-03-06",
        keywords=["tide", "Boats", "boats"],
        articleSection="Harbour",
        license="https://creativecommons.org/licenses/by/4.0/",
    )
    head += "<link rel=canonical href=/boats><meta name=description content='How boats are counted'>"
    found = said(head)
    assert (found.author, found.authors) == ("Ada Sund, Ben Moor", ("Ada Sund", "Ben Moor"))
    assert (found.published, found.modified) == ("2024-03-05T23:30:00+09:00", "2024-03-06")
    assert (found.language, found.direction) == ("en", "ltr")
    assert (found.canonical_url, found.description) == ("https://www.harbour.test/boats", "How boats are counted")
    assert (found.keywords, found.section) == (("tide", "Boats"), "Harbour")
    assert found.licence == "https://creativecommons.org/licenses/by/4.0/"
    assert found.word_count == 2 * len(PROSE.split())
    assert found.reading_minutes == round(found.word_count / 200, 1)
    assert (found.partial, found.partial_evidence) == (False, ())


META = "<meta name=author content='Meta Name'><meta property=article:published_time content=2024-02-02>"
MICRODATA = (
    "<div itemscope itemtype=https://schema.org/Article><span itemprop=author itemscope "
    "itemtype=https://schema.org/Person><b itemprop=name>Micro Name</b></span>"
    "<time itemprop=datePublished datetime=2024-03-03>x</time></div>"
)
VISIBLE = "<p>By Visible Name</p><p>April 4, 2024</p>"


@pytest.mark.parametrize(
    ("head", "top", "expected"),
    [
        (ld(author="Json Name", datePublished="2024-01-01") + META, MICRODATA + VISIBLE, ("Json Name", "2024-01-01")),
        (META, MICRODATA + VISIBLE, ("Meta Name", "2024-02-02")),
        ("", MICRODATA + VISIBLE, ("Micro Name", "2024-03-03")),
        ("", VISIBLE, ("Visible Name", "2024-04-04")),
        ("", "", (None, None)),
    ],
)
def test_sources_have_one_order(head: str, top: str, expected: tuple[str, str]) -> None:
    found = said(head, top)
    assert (found.author, found.published) == expected


@pytest.mark.parametrize(
    "script",
    [
        '{"@type": "Article", "headline": "He said "no" twice", "author": {"name": "Ada Sund"}}',
        '{"@type": "Article", "author": {"name": "Ada Sund"},}',
        '{"@type": "Article", "description": "a\nb", "author": "Ada Sund"}',
        '<!-- {"@type": "Article", "author": "Ada Sund"} -->',
        '{"@type": "Article", "author": "Ada Sund", "description": "cut off',
    ],
)
def test_malformed_json_ld_is_repaired(script: str) -> None:
    assert said(f'<script type="application/ld+json">{script}</script>').author == "Ada Sund"


def test_an_author_by_reference() -> None:
    graph = {
        "@graph": [{"@type": "Article", "author": {"@id": "#a"}}, {"@type": "Person", "@id": "#a", "name": "Ada Sund"}]
    }
    assert said(f'<script type="application/ld+json">{json.dumps(graph)}</script>').author == "Ada Sund"


@pytest.mark.parametrize(
    "name", ["2024-03-05", "March 5, 2024", "https://a.test/ada", "ada@a.test", "@ada", "admin", "12:30"]
)
def test_what_is_no_author(name: str) -> None:
    assert said(ld(author=name)).author is None
    assert said(f"<meta name=author content='{name}'>").author is None


def test_a_person_comes_before_the_site() -> None:
    site = "<meta property=og:site_name content='Harbour News'>"
    firm = ld(author={"@type": "Organization", "name": "Harbour News"})
    assert said(site + firm, "<p>By Ada Sund</p>").author == "Ada Sund"
    assert said(site + firm).author == "Harbour News"
    assert said(site + "<meta name=author content='Harbour News'>", "<p>By Ada Sund</p>").author == "Ada Sund"


@pytest.mark.parametrize(
    ("line", "lang", "author"),
    [
        ("<p>By Ada Sund and Ben Moor</p>", "en", "Ada Sund, Ben Moor"),
        ("<p>By <a href=/x>Ada Sund</a> | Updated May 5, 2024</p>", "en", "Ada Sund"),
        ("<p>Written by</p><p>Ada Sund</p>", "en", "Ada Sund"),
        ("<p>Von Ada Sund</p>", "de", "Ada Sund"),
        ("<p>Par Ada Sund</p>", "fr", "Ada Sund"),
        ("<p>Por Ada Sund</p>", "es", "Ada Sund"),
        ("<p>작성자: 김바다</p>", "ko", "김바다"),
        ("<p>作者：王小明</p>", "zh", "王小明"),
        ("<div class=post-author><span>Ada Sund</span><span>Senior editor</span></div>", "en", "Ada Sund"),
        ("<p><a href=/author/ada>Ada Sund</a></p>", "en", "Ada Sund"),
        ("<p><a rel=author href=/x>Ada Sund</a></p>", "en", "Ada Sund"),
        ("<p>Ada Sund</p><p>5 May 2024</p>", "en", "Ada Sund"),
        ("<p>By continuing you agree to our terms</p>", "en", None),
        ("<p class=author>May 5, 2024</p>", "en", None),
    ],
)
def test_visible_bylines(line: str, lang: str, author: str | None) -> None:
    assert said("", line, lang=lang).author == author


@pytest.mark.parametrize(
    ("line", "lang", "day"),
    [
        ("<time datetime=2024-05-05T10:00:00Z>yesterday</time>", "en", "2024-05-05T10:00:00Z"),
        ("<p>Published May 5th, 2024</p>", "en", "2024-05-05"),
        ("<p>5. Mai 2024</p>", "de", "2024-05-05"),
        ("<p>5 mai 2024</p>", "fr", "2024-05-05"),
        ("<p>5 de mayo de 2024</p>", "es", "2024-05-05"),
        ("<p>2024年5月5日</p>", "ja", "2024-05-05"),
        ("<p>2024.05.05 10:30</p>", "ko", "2024-05-05T10:30:00"),
        ("<p>5 мая 2024</p>", "ru", "2024-05-05"),
        ("<p>Veröffentlicht 03.05.2024, 08:30 Uhr</p>", "de", "2024-05-03T08:30:00"),
        ("<p>Published 03/05/2024</p>", "en-GB", "2024-05-03"),
        ("<p>Published 03/05/2024</p>", "en-US", "2024-03-05"),
        ("<p>Published May 3, 2024 at 10:15 PM</p>", "en", "2024-05-03T22:15:00"),
        ("<p>입력 2024.05.03 오후 3:15</p>", "ko", "2024-05-03T15:15:00"),
        ("<p>Joined: May 5, 2019</p>", "en", None),
        ("<p>Two days ago</p>", "en", None),
    ],
)
def test_visible_dates(line: str, lang: str, day: str | None) -> None:
    assert said("", line, lang=lang).published == day


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-05T10:10+0530", "2024-05-05T10:10:00+05:30"),
        ("2024-05-05T10:10:75Z", "2024-05-05"),
        ("2024-05-05T10:10:00+99:99", "2024-05-05T10:10:00"),
        ("2024-05-05T١٢:٣٠", "2024-05-05"),
        ("2024-13-05", None),
    ],
)
def test_what_is_given_is_iso_8601(text: str, moment: str | None) -> None:
    assert dates.moment(text) == moment


def test_the_last_change_is_no_other_date() -> None:
    found = said("", "<p>Updated May 6, 2024</p><p>Published May 5, 2024</p>")
    assert (found.published, found.modified) == ("2024-05-05", "2024-05-06")
    only = said("", "<p>Last updated: May 6, 2024</p>")
    assert (only.published, only.modified) == ("2024-05-06", "2024-05-06")


@pytest.mark.parametrize("address", ["http://[", "https://", "https://{{url}}/a", "javascript:x()", "http://a b.test/"])
def test_a_malformed_canonical_is_ignored(address: str) -> None:
    assert said(f"<link rel=canonical href='{address}'>").canonical_url is None


@pytest.mark.parametrize(
    ("lang", "language", "direction"),
    [("ar", "ar", "rtl"), ("he-IL", "he-IL", "rtl"), ("en_us", "en-US", "ltr"), ("{{lang}}", None, "ltr")],
)
def test_language_and_direction(lang: str, language: str | None, direction: str) -> None:
    found = said(lang=lang)
    assert (found.language, found.direction) == (language, direction)


@pytest.mark.parametrize(
    ("text", "words", "minutes"),
    [
        ("one two, three-four don't", 4, 0.0),
        ("word " * 400, 400, 2.0),
        ("漢" * 1000, 1000, 2.0),
        ("한글 단어", 2, 0.0),
        ("Boats 漢字", 3, 0.0),
        ("กี่", 1, 0.0),
        ("", 0, 0.0),
    ],
)
def test_lengths(text: str, words: int, minutes: float) -> None:
    assert length_of(text) == (words, minutes)


@pytest.mark.parametrize(
    ("declared", "heading", "title"),
    [
        ("Boats at night | Harbour", "Boats at night", "Boats at night"),
        ("Boats &amp;amp; bells", "Boats & bells", "Boats & bells"),
        ("Count boats: a guide", "How to count boats in the dark", "How to count boats in the dark"),
        ("Boats at night - Harbour", "Harbour", "Boats at night"),
        ("Boats at night", "Welcome{{user}}", "Boats at night"),
    ],
)
def test_titles(declared: str, heading: str, title: str) -> None:
    source = f"<title>{declared}</title><h1>{heading}</h1><p>{PROSE}"
    assert extract(source, url="https://harbour.test/a").title == title


def test_a_chapter_is_no_book() -> None:
    source = (
        f"<title>Counting boats - The Harbour Book</title><h1>The Harbour Book</h1><h2>Counting boats</h2><p>{PROSE}"
    )
    assert extract(source).title == "Counting boats"


@given(st.text(max_size=200), st.sampled_from(["en", "de", "ko", "xx", "{{"]))
def test_no_text_breaks_a_date_or_a_name(text: str, language: str) -> None:
    day = dates.moment(text, language)
    assert day is None or day[:4].isdigit()
    assert all(people.is_name(name.partition(",")[0]) for name in people.split(text))
    assert people.cut(text) is not None


@pytest.mark.parametrize(
    "text", ["{" * 50_000, '{"a":"' + 'x "y" ' * 9_000 + '"}', "[" * 50_000, '{"a":"' * 9_000, "/*" * 30_000]
)
def test_repair_is_bounded(text: str) -> None:
    started = time.process_time()
    repaired(text)
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "piece",
    [
        "<b itemprop=name itemscope>x",
        "<p itemscope><i itemprop=author>x</i></p>",
        "<p class=date>May 5, 2024</p>",
        "<p class=author>By Ada Sund, </p>",
        "<time datetime=x>2024</time>",
        "<h1>a</h1>",
        "<meta name=author content=x>",
        "<script type=application/ld+json>{{</script>",
    ],
)
def test_metadata_is_linear(piece: str) -> None:
    def spent(count: int) -> float:
        page = f"<title>a</title><body><p>{PROSE}</p>" + piece * count
        started = time.process_time()
        extract(page)
        return time.process_time() - started

    assert any(spent(4_000) < 3 * spent(2_000) + 0.2 for _ in range(3))


def test_images_have_their_declared_size() -> None:
    top = "<img src=/a.jpg width=640 height='480px' alt=Boats><img src=/b.jpg width=100%><img src=/c.jpg>"
    sizes = {image.url[-5:]: (image.width, image.height) for image in read(top=top, end=top).images}
    assert sizes["a.jpg"] == (640, 480)
    assert set(sizes.values()) <= {(640, 480), (None, None)}


def test_a_caption_that_is_no_body_is_the_images() -> None:
    prose = "".join(f"<p>{PROSE}</p>" for _ in range(6))
    figure = "<figure><img src=/m.jpg width=300><figcaption>The old mill.</figcaption></figure>"
    images = extract(f"<article>{prose}{figure}{prose}</article>", "https://a.test/").images
    assert [(image.url, image.width, image.caption) for image in images] == [
        ("https://a.test/m.jpg", 300, "The old mill.")
    ]
