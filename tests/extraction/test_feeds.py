"""Feeds in every dialect, broken as they come, and what a stranger's feed may cost."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from service import Failure, Page, extract
from service.extraction import feeds
from service.failures import ExtractFailed

URL = "https://quay.example/feed"
NAMES = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/"'
)


def rss(*items: str, head: str = "", names: str = NAMES) -> str:
    inner = "".join(f"<item>{item}</item>" for item in items)
    top = f"<title>Quay notes</title><link>https://quay.example/</link>{head}"
    return f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0" {names}><channel>{top}{inner}</channel></rss>'


def atom(*entries: str, attributes: str = "") -> str:
    inner = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}><title>Quay notes</title>{inner}</feed>'


def entry(document: str | bytes, url: str = URL) -> feeds.Entry:
    """The first entry of a feed."""
    return feeds.read(document if isinstance(document, bytes) else document.encode(), None, url).entries[0]


def read(document: str | bytes, content_type: str | None = None, url: str = URL) -> Page:
    return extract(document if isinstance(document, bytes) else document.encode(), url, content_type)


DIALECTS = {
    "rss 0.91": '<rss version="0.91"><channel><title>Quay notes</title><link>https://quay.example/</link><item>'
    "<title>Lamps</title><link>https://quay.example/1</link><description>One lamp each.</description></item></channel></rss>",
    "rss 0.90": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">'
    "<channel><title>Quay notes</title><link>https://quay.example/</link></channel><item><title>Lamps</title>"
    "<link>https://quay.example/1</link><description>One lamp each.</description></item></rdf:RDF>",
    "rss 1.0": '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://quay.example/">'
    "<title>Quay notes</title><link>https://quay.example/</link></channel><item rdf:about='x'><title>Lamps</title>"
    "<link>https://quay.example/1</link><description>One lamp each.</description><dc:date>2026-03-02T07:00:00+01:00</dc:date>"
    "</item></rdf:RDF>",
    "rss 2.0": rss(
        "<title>Lamps</title><link>https://quay.example/1</link><description>One lamp each.</description>"
        "<pubDate>Mon, 02 Mar 2026 06:00:00 GMT</pubDate>"
    ),
    "atom 0.3": '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Quay notes</title><entry><title>Lamps</title>'
    '<link rel="alternate" href="https://quay.example/1"/><modified>2026-03-02T06:00:00Z</modified>'
    '<content type="text/html" mode="escaped">&lt;p&gt;One lamp each.&lt;/p&gt;</content></entry></feed>',
    "atom 1.0": atom(
        '<title>Lamps</title><link href="https://quay.example/1"/><updated>2026-03-02T06:00:00Z</updated>'
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One lamp <b>each</b>.</p></div></content>'
    ),
    "atom with a prefix": '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>Quay notes</a:title><a:entry>'
    '<a:title>Lamps</a:title><a:link href="https://quay.example/1"/><a:summary>One lamp each.</a:summary></a:entry></a:feed>',
    "json feed 1.0": json.dumps(
        {
            "version": "https://jsonfeed.org/version/1",
            "title": "Quay notes",
            "items": [{"id": "1", "url": "https://quay.example/1", "title": "Lamps", "content_text": "One lamp each."}],
        }
    ),
    "json feed 1.1": json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": "Quay notes",
            "items": [
                {"id": "https://quay.example/1", "title": "Lamps", "content_html": "<p>One lamp <b>each</b>.</p>"}
            ],
        }
    ),
}


@pytest.mark.parametrize("declared", [None, "text/html", "text/plain; charset=utf-8", "application/octet-stream"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_feed_of_every_dialect_whatever_it_is_called(dialect: str, declared: str | None) -> None:
    page = read(DIALECTS[dialect], declared)
    assert (page.kind, page.title) == ("feed", "Quay notes")
    assert "[Lamps](https://quay.example/1)" in page.markdown
    assert "One lamp each." in page.text


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("<pubDate>Mon, 02 Mar 2026 06:00:00 GMT</pubDate>", "2026-03-02T06:00:00Z"),
        ("<pubDate>Mon, 02 Mar 2026 06:00:00 +0900</pubDate>", "2026-03-01T21:00:00Z"),
        ("<pubDate>2 Mar 2026</pubDate>", "2026-03-02"),
        ("<dc:date>2026-03-02</dc:date>", "2026-03-02"),
        ("<dc:date>2026-03-02T06:00:30Z</dc:date>", "2026-03-02T06:00:30Z"),
        ("<pubDate>when the tide allows</pubDate>", ""),
        ("", ""),
    ],
)
def test_dates_keep_their_time(written: str, date: str) -> None:
    assert entry(rss(f"<title>Lamps</title>{written}")).date == date


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("AT&amp;T and you", "AT&T and you"),
        ("AT&amp;amp;T", "AT&T"),
        ("&lt;b&gt;Lamps&lt;/b&gt; out", "Lamps out"),
        ("<![CDATA[<em>Lamps</em> &amp; oars]]>", "Lamps & oars"),
        ("The &lt;video&gt; tag", "The <video> tag"),
        ("2 &lt; 3", "2 < 3"),
        ("  Lamps\n  out ", "Lamps out"),
    ],
)
def test_titles_are_text(written: str, title: str) -> None:
    assert entry(rss(f"<title>{written}</title>")).title == title


def test_a_title_declared_as_html_is_read_as_such() -> None:
    assert entry(atom('<title type="html">Ice &amp;amp; &lt;i&gt;salt&lt;/i&gt;</title>')).title == "Ice & salt"
    xhtml = '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Ice &amp; <i>salt</i></div></title>'
    assert entry(atom(xhtml)).title == "Ice & salt"


@pytest.mark.parametrize(
    ("written", "author"),
    [
        ("<dc:creator>Agnes Corriveau</dc:creator>", "Agnes Corriveau"),
        ("<author>agnes@quay.example (Agnes Corriveau)</author>", "Agnes Corriveau"),
        ("<itunes:author>Agnes Corriveau</itunes:author>", "Agnes Corriveau"),
    ],
)
def test_the_author(written: str, author: str) -> None:
    assert author in entry(rss(f"<title>x</title>{written}")).author
    assert author in read(rss(f"<title>x</title>{written}")).text


def test_the_author_of_atom_and_json() -> None:
    assert entry(
        atom("<title>x</title><author><name>Agnes</name><email>a@b.example</email></author>")
    ).author.startswith("Agnes")
    data = {
        "version": "https://jsonfeed.org/version/1.1",
        "authors": [{"name": "Agnes"}, {"name": "Oren"}],
        "items": [{"id": "1"}],
    }
    assert entry(json.dumps(data)).author == "Agnes, Oren"


def test_the_longer_of_content_and_summary() -> None:
    long, short = "The whole of it, at length, with all that was said.", "In short."
    for first, second in ((long, short), (short, long)):
        found = entry(
            rss(f"<title>x</title><description>{first}</description><content:encoded>{second}</content:encoded>")
        )
        assert found.content == long


def test_addresses_are_resolved() -> None:
    """Against xml:base where there is one, else against the feed's site."""
    item = "<title>x</title><link>/1</link><description>&lt;a href='a'&gt;b&lt;/a&gt; &lt;img src='/i.png'&gt;</description>"
    page = read(rss(item), url="https://elsewhere.example/feeds/1")
    assert "[x](https://quay.example/1)" in page.markdown
    assert {link.url for link in page.links} == {"https://quay.example/1", "https://quay.example/a"}
    assert page.images[0].url == "https://quay.example/i.png"
    based = atom(
        '<title>x</title><link href="1"/><content type="html" xml:base="notes/">&lt;a href="b"&gt;c&lt;/a&gt;</content>',
        attributes='xml:base="https://base.example/"',
    )
    assert {link.url for link in read(based).links} == {"https://base.example/1", "https://base.example/notes/b"}


def test_enclosures_are_links() -> None:
    item = '<title>x</title><enclosure url="/e/1.mp3" length="9" type="audio/mpeg"/><media:content url="/p.jpg" medium="image"/>'
    page = read(rss(item))
    assert "https://quay.example/e/1.mp3" in page.markdown
    assert [media.url for media in page.media] == ["https://quay.example/e/1.mp3"]
    assert page.images[0].url == "https://quay.example/p.jpg"
    data = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": "1", "attachments": [{"url": "https://a.example/x.pdf", "mime_type": "application/pdf"}]}],
    }
    assert "https://a.example/x.pdf" in read(json.dumps(data)).markdown


GOOD = "<item><title>Second</title><description>Still here.</description></item></channel></rss>"
BROKEN = {
    "an ampersand": "<rss><channel><item><title>AT&T out</title></item>" + GOOD,
    "an entity of HTML": "<rss><channel><item><title>Caf&eacute; out</title></item>" + GOOD,
    "mark-up in the text": "<rss><channel><item><title>out</title><description>a <br> b <b>c</description></item>"
    + GOOD,
    "a control": "<rss><channel><item><title>o\x01ut</title></item>" + GOOD,
    "no end": "<rss><channel><item><title>out</title><description>x</description></item>" + GOOD[:-16],
    "an undeclared prefix": "<rss><channel><item><title>out</title><dc:creator>A</dc:creator><content:encoded>more out of "
    "it</content:encoded></item>" + GOOD,
    "text before it": "Warning: line 3\n<rss><channel><item><title>out</title></item>" + GOOD,
    "blank lines before it": "\n\n <?xml version='1.0'?><rss><channel><item><title>out</title></item>" + GOOD,
    "a bare less-than": "<rss><channel><item><title>out</title><description>2 < 3 & 4</description></item>" + GOOD,
    "a CDATA section inside": "<rss><channel><item><title>out</title><description><![CDATA[a & <b>b</b>]]> &nbsp;c"
    "</description></item>" + GOOD,
    "twice the same attribute": "<rss><channel><item a='1' a='2'><title>out</title></item>" + GOOD,
    "a wrong encoding": "<?xml version='1.0' encoding='utf-16'?><rss><channel><item><title>out</title></item>" + GOOD,
}


@pytest.mark.parametrize("how", BROKEN)
def test_broken_feeds_are_read_leniently(how: str) -> None:
    page = read(BROKEN[how], "application/rss+xml")
    assert page.kind == "feed"
    assert "out" in page.text
    assert "Second" in page.text
    assert "Still here." in page.text
    if how == "an undeclared prefix":
        assert "more out of it" in page.text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "euc-kr", "utf-16-le"])
def test_encodings(codec: str) -> None:
    label = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(codec, codec)
    document = (
        f"<?xml version='1.0' encoding='{label}'?><rss><channel><item><title>물때 알림</title></item></channel></rss>"
    )
    assert "물때 알림" in read(document.encode(codec), "application/xml").text


@pytest.mark.parametrize(
    "document", ["<rss></rss>", "<rss><channel></channel></rss>", "<feed xmlns='http://www.w3.org/2005/Atom'/>", "<rss"]
)
def test_a_feed_without_items_is_named(document: str) -> None:
    with pytest.raises(ExtractFailed):
        read(document, "application/rss+xml")


def test_one_item_too_large_costs_only_itself() -> None:
    items = [
        {"id": "1", "title": "Huge", "content_html": "<b>x</b>" * 120_000},
        {"id": "2", "title": "Small", "content_text": "Fine."},
    ]
    page = read(json.dumps({"version": "https://jsonfeed.org/version/1", "items": items}))
    assert "Huge" in page.text
    assert "Fine." in page.text
    page = read(
        rss(f"<title>Huge</title><description><![CDATA[{'<b>x</b>' * 120_000}]]></description>", "<title>Small</title>")
    )
    assert "Huge" in page.text
    assert "Small" in page.text


def test_entities_are_no_bomb() -> None:
    bomb = "".join(f'<!ENTITY a{i + 1} "&a{i};&a{i};&a{i};&a{i};&a{i};&a{i};">' for i in range(12))
    document = (
        f'<!DOCTYPE rss [<!ENTITY a0 "lol">{bomb}]><rss><channel><item><title>x&a12;</title></item></channel></rss>'
    )
    started = time.process_time()
    with pytest.MonkeyPatch.context():
        outcome(document.encode())
    file = '<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss><channel><item><title>x&f;</title></item></channel></rss>'
    assert "root:" not in str(outcome(file.encode()))
    assert time.process_time() - started < 1


UNITS = {
    "author": ("<item><author>", "a", "</author></item>"),
    "categories": ("<item><title>x</title>", "<category>a</category>", "</item>"),
    "links": ("<item><title>x</title>", "<link>a</link>", "</item>"),
    "enclosures": ("<item><title>x</title>", '<enclosure url="a"/>', "</item>"),
    "open tags": ("<item><title>x</title><description>", "<b>", ""),
    "half tags": ("<item><title>x</title><description>", "<a ", "</description></item>"),
    "sections": ("<item><title>x</title><description>", "<![CDATA[", "</description></item>"),
    "ampersands": ("<item><title>", "&a", "</title></item>"),
    "items": ("", "<item><title>x</title></item>", ""),
    "nested items": ("", "<item>", ""),
    "descriptions": ("<item>", "<description>", "</item>"),
    "escaped": ("<item><description>", "&lt;p&gt;a", "</description></item>"),
    "titles": ("<item><title>", "&lt;b ", "</title></item>"),
}


@pytest.mark.parametrize("size", [100_000, 1_048_576])
@pytest.mark.parametrize("what", UNITS)
def test_time_is_linear(what: str, size: int) -> None:
    before, unit, after = UNITS[what]
    document = rss(before[6:] if before.startswith("<item>") else before).replace(
        "</item></channel>" if before.startswith("<item>") else "<item></item></channel>",
        unit * (size // len(unit)) + after + "</channel>",
    )
    started = time.process_time()
    outcome(document.encode())
    assert time.process_time() - started < 0.3 + 3 * size / 1_048_576


def outcome(document: bytes) -> Page | str:
    try:
        return extract(document, URL, "application/rss+xml")
    except Failure as failure:
        return f"{failure.code} {failure.reason}"


@pytest.mark.parametrize("seed", range(4))
def test_mutated_feeds_are_a_page_or_named(seed: int) -> None:
    chance = random.Random(seed)
    sources = [text.encode() for text in (*DIALECTS.values(), *BROKEN.values())]
    sources += [path.read_bytes() for path in (Path(__file__).parents[2] / "captures").glob("feed-*/page.*")]
    shards = [b"<item>", b"</item>", b"<![CDATA[", b"]]>", b"&", b"<", b'"', b"xmlns:a='b'", b"\xff", b"<title>", b"{", b"[", b",",
              b"xml:base='http://['", b"<link href='http://['/>", b"<author>", b"null", b"<!DOCTYPE x [", b"\x00"]  # fmt: skip
    for _ in range(100):
        document = bytearray(chance.choice(sources))
        for _ in range(chance.randint(1, 8)):
            place = chance.randrange(len(document) + 1)
            if chance.random() < 0.7:
                document[place:place] = chance.choice(shards) * chance.choice([1, 1, 3])
            else:
                del document[place : place + chance.randint(1, 60)]
        outcome(bytes(document))
