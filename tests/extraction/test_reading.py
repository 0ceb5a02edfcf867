"""What a page is and says: form, facts, title, site, hero, kind, refresh, payloads, feeds, walls, status."""

from __future__ import annotations

import json

import pytest

from service import Page, extract
from service.extraction import NoBody
from service.extraction.facts import Facts, read, string
from service.extraction.metadata import details_of, hero_of, site_of, title_of
from service.extraction.sniff import sniff
from service.failures import BlockedBySite, ExtractFailed, Failure, PageNotFound, UnsupportedContent, UpstreamError

URL = "https://www.harbour.example/news/1"
PROSE = "<p>The keeper counts the boats again before the bell rings, and writes the number on the door.</p>" * 6


NOTE = f"<div><p>Short notes, yet a body: {', '.join(['boats', 'bells', 'doors', 'lamps', 'ropes'] * 4)}.</p></div>"


def facts(head: str) -> Facts:
    from service.extraction.dom import parse

    return read(parse(f"<head>{head}</head>", max_nodes=10_000, max_depth=500))


@pytest.mark.parametrize(
    ("body", "declared", "form"),
    [
        (b"<!doctype html><p>x", "text/plain", "html"),
        (b"<?xml version='1.0'?><html><p>x</html>", "application/xhtml+xml", "html"),
        (b"\xef\xbb\xbf  <html>", "application/octet-stream", "html"),
        (b"hello", "text/html", "html"),
        (b"hello", "text/plain", "text"),
        (b"# Head", "text/markdown; charset=utf-8", "markdown"),
        (b'{"a": 1}', "application/json", "json"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items": []}', "application/json", "feed"),
        (b"{broken", "application/json", "text"),
        (b"<?xml version='1.0'?><!-- c --><rss version='2.0'>", "text/html", "feed"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "", "feed"),
        (b"<rdf:RDF>", "text/xml", "feed"),
        (b"<p>a\x00b</p>", "text/html", "html"),
        (b"\xff\xfeh\x00i\x00", "text/plain", "text"),
    ],
)
def test_forms(body: bytes, declared: str, form: str) -> None:
    assert sniff(body, declared) == form


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.7",
        b"\xef\xbb\xbf %PDF-1.4",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff\xe0",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\x00\x00\x00\x18ftypmp42",
        b"a\x00b\x01",
    ],
)
def test_what_no_body_can_be_read_from(body: bytes) -> None:
    for declared in ("text/html", "application/pdf", ""):
        if body != b"a\x00b\x01" or declared != "text/html":
            with pytest.raises(UnsupportedContent):
                sniff(body, declared)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Boats - The Harbour Post</title><meta property=og:site_name content='The Harbour Post'>", "Boats"),
        ("<title>The Harbour Post | Boats</title><meta property=og:site_name content='The Harbour Post'>", "Boats"),
        ("<meta property=og:title content='Harbour'><title>Boats | Harbour</title></head><h1>Boats</h1>", "Boats"),
        ("<title>Boats and bells | Section | Post</title></head><h1>Boats and bells</h1>", "Boats and bells"),
        ("<title>Boats: a history</title>", "Boats: a history"),
        ("<title>Harbour</title>", "Harbour"),
        ("<h1>Only a heading</h1>", "Only a heading"),
        (
            '<script type=application/ld+json>{"@type":"NewsArticle","headline":"LD head"}</script><title>x</title>',
            "LD head",
        ),
        ("", None),
    ],
)
def test_titles(head: str, title: str | None) -> None:
    found = facts(head)
    assert title_of(found, site_of(found, URL), URL, found.headings) == title


def test_sites() -> None:
    publisher = '{"@graph":[{"@type":["NewsArticle"],"publisher":{"name":"Post"}}]}'
    assert site_of(facts(f"<script type=application/ld+json>{publisher}</script>"), URL) == "Post"
    assert site_of(facts(""), URL) == "harbour.example"
    assert site_of(facts(""), None) is None


@pytest.mark.parametrize(
    ("image", "hero"),
    [
        ("/a.jpg", "https://www.harbour.example/a.jpg"),
        ("/img/logo.png", None),
        ("/favicon.ico", None),
        ("/x/placeholder.jpg", None),
        ("data:image/png;base64,x", None),
        ("http://[", None),
        ("//cdn.example/p.webp?w=1", "https://cdn.example/p.webp?w=1"),
    ],
)
def test_heroes(image: str, hero: str | None) -> None:
    assert hero_of(facts(f"<meta property=og:image content='{image}'>"), URL, ()) == hero


def test_metadata_and_malformed_json_ld() -> None:
    head = """<script type=application/ld+json>{"@type": "NewsArticle", "author": [{"name": "Brida Moss"}],
      "datePublished": "2026-02-17T05:40:00+09:00", "headline": "A
      b",}</script><script type=application/ld+json>{broken</script><link rel=canonical href=https:///>"""
    found = details_of(facts(head), URL, URL).metadata
    assert (found.author, found.published, found.canonical_url) == ("Brida Moss", "2026-02-17T05:40:00+09:00", None)
    assert details_of(facts("<meta name=author content='2026-01-01 10:00'>"), URL, URL).metadata.author is None
    assert string([{"url": ["x"]}], "url") == "x"
    assert string({"a": 1}, "url") == ""


def page(body: str, head: str = "", url: str = URL, **options: object) -> Page:
    return extract(f"<head>{head}</head><body>{body}</body>", url, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("head", "body", "url", "kind"),
    [
        ("<meta property=og:type content=article>", PROSE, URL, "article"),
        ("", f"<div>{PROSE}</div>", URL, "article"),
        ("<meta property=og:type content=product>", PROSE, URL, "product"),
        ("<meta name=generator content='Sphinx 7'>", PROSE, URL, "documentation"),
        ("<meta name=generator content='Discourse 3'>", PROSE, URL, "forum"),
        ("", f"<div class=thread><div class=post>{PROSE}</div><div class=post>{PROSE}</div></div>", URL, "forum"),
        (
            "",
            f"<div class='post'>{PROSE}</div><ol class=comments><li class='comment thread-even'>{PROSE}</ol>",
            URL,
            "article",
        ),
        (
            "",
            NOTE,
            URL,
            "page",
        ),
    ],
)
def test_kinds(head: str, body: str, url: str, kind: str) -> None:
    assert page(body, head, url).kind == kind


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<meta http-equiv=refresh content='0;url=/a'>", "/a"),
        ("<noscript><META HTTP-EQUIV='Refresh' CONTENT=\"0; URL='/a'\"></noscript>", "/a"),
        ("<meta http-equiv=refresh content=0;URL=/a>", "/a"),
        ("<meta http-equiv=refresh content='600;url=/a'>", None),
        ("<meta http-equiv=refresh content='5'>", None),
        ("<meta http-equiv=refresh content='0;url=javascript:x'>", None),
    ],
)
def test_a_page_without_a_body_says_where_it_refreshes_to(markup: str, target: str | None) -> None:
    with pytest.raises(NoBody) as caught:
        page("", markup)
    assert caught.value.refresh == (f"https://www.harbour.example{target}" if target else None)


def test_payloads_are_read_by_shape() -> None:
    elements = [
        {"type": "text", "content": "Braces } in { strings. " * 5},
        {"type": "header", "level": 3, "content": "Head"},
        {"type": "list", "list_type": "ordered", "items": [{"type": "text", "content": "one"}]},
        {"type": "video"},
    ]
    arc = f"<script>a=1;Fusion.globalContent={json.dumps({'content_elements': elements})};Fusion.x={{}}</script>"
    found = page("<h1>The title</h1>", arc)
    assert found.source == "payload:arc-xp"
    assert "### Head\n\n1. one" in found.markdown
    assert page(PROSE, arc).source == "body"
    broken = "<script>Fusion.globalContent={broken</script><meta name=description content='%s'>"
    described = page("", broken % ("A described page says what it is about. " * 3))
    assert described.source == "description"


def test_feeds_become_lists() -> None:
    items = "".join(
        f"<item><title>Item {n}</title><link>/i/{n}</link><description>&lt;p&gt;Sum {n}&lt;/p&gt;</description></item>"
        for n in (1, 2)
    )
    rss = f"<rss version='2.0'><channel><title>Post</title><link>https://a.test/</link>{items}</channel></rss>"
    found = extract(rss.encode(), "https://a.test/feed", "application/rss+xml")
    assert (found.kind, found.title) == ("feed", "Post")
    assert "[Item 1](https://a.test/i/1)" in found.markdown
    assert "Sum 2" in found.markdown
    with pytest.raises(ExtractFailed):
        extract(b"<rss><channel></channel></rss>", "https://a.test/feed")
    bomb = (
        '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">'
        + "".join(
            f'<!ENTITY {c} "&{p};&{p};&{p};&{p};&{p};&{p};&{p};&{p};">'
            for p, c in zip("abcdefgh", "bcdefghi", strict=True)
        )
        + "]>"
    )
    with pytest.raises(Failure):
        extract(f"{bomb}<rss><channel><item><title>&i;</title></item></channel></rss>".encode())


def test_text_markdown_and_json_documents() -> None:
    assert extract(b"a\nb\n\nc", content_type="text/plain").text == "a\nb\n\nc"
    source = "# Head\n\nSome *text*."
    found = extract(source.encode(), content_type="text/markdown")
    assert (found.markdown, found.title) == (source, "Head")
    assert extract(b'{"a":1}', content_type="application/json").markdown == '```json\n{\n  "a": 1\n}\n```'


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, PageNotFound),
        (410, PageNotFound),
        (429, UpstreamError),
        (500, UpstreamError),
        (503, UpstreamError),
        (401, BlockedBySite),
        (403, BlockedBySite),
        (451, BlockedBySite),
    ],
)
def test_the_status_decides_with_the_body(status: int, kind: type[Failure]) -> None:
    with pytest.raises(kind) as caught:
        page("<p>No.</p>", status=status)
    assert caught.value.upstream_status == status
    long = PROSE * 10
    if kind is BlockedBySite:
        assert page(long, status=status).text.startswith("The keeper counts the boats")
    else:
        with pytest.raises(kind):
            page(long, status=status)


def test_a_wall_names_its_evidence() -> None:
    with pytest.raises(BlockedBySite) as caught:
        page("<h1>Wait</h1><p>Please verify you are human to go on.</p>")
    assert caught.value.reason == "bot: verify you are human"
    with pytest.raises(BlockedBySite) as caught:
        page("<div id=px-captcha></div>")
    assert "PerimeterX" in (caught.value.reason or "")
    quoting = (
        "<p>The sign said “verify you are human”, and the keeper laughed at it for the rest of a long afternoon.</p>"
    )
    assert page(PROSE + quoting + PROSE).title is None


NOTICE = "The keeper of the old bridge walks to the river each morning and writes the height of the water on a door."


@pytest.mark.parametrize(
    ("title", "beside"),
    [
        ("A door", '<form id=comment><div class="g-recaptcha" data-sitekey=x></div></form>'),
        ("A door", '<form><input name="captcha"></form>'),
        ("A door", "<a href='/report?incident_id=5'>report</a>"),
        ("A door", "<p>Reference #12.34abc.567</p>"),
        ("404", ""),
        ("HTTP 404 - Glossary", ""),
        ("Security check", ""),
        ("Captcha", ""),
        ("Connexion", ""),
        ("Anmeldung - Sommerfest", ""),
        ("Sign in | A poem", ""),
    ],
)
def test_short_honest_pages_pass(title: str, beside: str) -> None:
    found = page(f"<article><h1>{title}</h1><p>{NOTICE}</p></article>{beside}", f"<title>{title}</title>")
    assert NOTICE in found.text


def test_a_short_post_is_read_and_an_empty_one_is_none() -> None:
    head = '<script type=application/ld+json>{"@type": "SocialMediaPosting"}</script>'
    assert page("<article><p>Low water at six.</p></article>", head).kind == "social"
    with pytest.raises(ExtractFailed):
        page("<div id=root></div>", head)


def test_a_markdown_document_keeps_no_controls() -> None:
    assert extract(b"# A lamp\n\nIt \x1b[31mburns all night\x7f.", None, "text/markdown").markdown == (
        "# A lamp\n\nIt [31mburns all night."
    )
