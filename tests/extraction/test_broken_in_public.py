"""Inputs that broke it once: nothing live in Markdown, nothing without a name, nothing slower than its size."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from service import Failure, extract

PROSE = "<p>" + "The keeper counts the boats again before the bell rings. " * 4 + "</p>"


@pytest.mark.parametrize(
    "page",
    [
        "<p>$$ &lt;script&gt;x()&lt;/script&gt; [c](http://evil.test) $$</p>",
        r"<p>\( &lt;script&gt;x()&lt;/script&gt; \) \[ [c](http://evil.test) \]</p>",
        "<p>$$ [c](javascript:x) $$</p>",
        "<p><math><mtext>&lt;script&gt;x()&lt;/script&gt;</mtext></math></p>",
        "<pre data-lang='a`b'>&lt;script&gt;x()&lt;/script&gt;</pre>",
    ],
)
def test_nothing_in_the_text_becomes_live(page: str) -> None:
    written = extract(PROSE + page, "http://a.test/").markdown
    rendered = MarkdownIt("commonmark").render(written)
    assert "<script" not in rendered
    assert "<a " not in rendered


def test_tex_that_is_tex_stays() -> None:
    r"""Between dollars, that is: CommonMark reads `\(` as a bracket."""
    written = extract(PROSE + r"<p>$$a_1 * b \frac{1}{2}$$ and \(x_1*y\)</p>", "http://a.test/").markdown
    assert r"$$a_1 * b \frac{1}{2}$$ and $x_1*y$" in written


LOCKED = {"@type": "WebPageElement", "isAccessibleForFree": False}
NO_DATE = "Foo {} zz 12 2001 q{}"


def ld(data: object) -> str:
    return f"<script type=application/ld+json>{json.dumps(data)}</script>"


BLOWUPS: dict[str, Callable[[int], str]] = {
    "comments": lambda n: "<!-- a -->" * n + "<!DOCTYPE html>" + PROSE,
    "empty comments": lambda n: "<!---->" * n + PROSE,
    "title of blanks": lambda n: "<title>a" + "&nbsp;" * n + "b</title>" + PROSE,
    "blank images": lambda n: PROSE + '<img src="/' + "blank_" * n + '">',
    "lines in pre": lambda n: PROSE + "<pre>a" + "\n" * n + "b</pre>",
    "blanks in pre": lambda n: PROSE + "<pre>a" + " " * n + "b</pre>",
    "payload blanks": lambda n: (
        '<script type=application/ld+json>{"@type":"Article","articleBody":"a' + " " * n + 'b"}</script>'
    ),
    "tex": lambda n: PROSE + "<p>" + r"\(" * n,
    "tex display": lambda n: PROSE + "<p>" + r"\[ " * n,
    "dollars": lambda n: PROSE + "<p>" + "$$ a\n" * n,
    "refresh": lambda n: '<meta http-equiv=refresh content="0' + " " * n + '">' + PROSE,
    "labels": lambda n: PROSE + "<div class=sr-only>x" * n,
    "stars": lambda n: "<p>" + "a* " * 10 * n,
    "tildes": lambda n: "<p>" + "a~ " * 5 * n,
    "bold behind bold": lambda n: "<p>" + "<b>abcdefgh</b>" * 2 * n,
    "code behind code": lambda n: "<p>" + "<code>abcdefgh</code>" * 2 * n,
    "lists in data": lambda n: ld([[0] * 1990] * (n // 130)) + PROSE,
    "declared selector": lambda n: (
        ld({"@type": "Article", "isAccessibleForFree": False, "hasPart": {**LOCKED, "cssSelector": "p ~ p"}})
        + PROSE * 5
        + "<p>x</p>" * (n // 10)
    ),
}


@pytest.mark.parametrize("shape", BLOWUPS)
def test_time_is_linear(shape: str) -> None:
    spent = []
    for size in (20_000, 40_000):
        page = BLOWUPS[shape](size)
        started = time.process_time()
        with contextlib.suppress(Failure):  # some of these have no body
            extract(page, "http://a.test/")
        spent.append(time.process_time() - started)
    assert spent[1] < 3 * spent[0] + 0.3, spent


COSTLY = {
    "malformed data": ('<script type=application/ld+json>{"a":"' + 'x"y ' * 14_700 + "</script>") * 65 + PROSE,
    "data with no date": ld([{"@type": "Article", "datePublished": NO_DATE.format(i, i)} for i in range(1_990)])
    + PROSE,
    "meta with no date": "".join(
        f'<meta name="a{i}-published" content="{NO_DATE.format(i, i)}">' for i in range(30_000)
    )
    + PROSE,
    "a number of 4 MB": PROSE * 5 + "<p>" + "7" * 4_000_000,
}


@pytest.mark.parametrize("name", COSTLY)
def test_time_is_bounded(name: str) -> None:
    started = time.process_time()
    with contextlib.suppress(Failure):
        extract(COSTLY[name], "http://a.test/")
    assert time.process_time() - started < 3


def test_indents_are_bounded() -> None:
    page = PROSE + "<ol start=999999999><li>" * 18 + "<pre>" + "x\n" * 400_000 + "</pre>"
    assert len(extract(page, "http://a.test/").markdown) < 8 * len(page)


@pytest.mark.parametrize(
    ("page", "options"),
    [
        (PROSE + '<img srcset="a.jpg .w, b.jpg 1.5.2x">', {}),
        ('<meta http-equiv=refresh content="' + "9" * 5000 + ';url=/x">' + PROSE, {}),
        (PROSE, {"url": "http://["}),
        (PROSE, {"url": "http://a\u2100b/"}),
        (PROSE.encode() + b"\xff", {"content_type": "text/html; charset=x-user-defined"}),
        (PROSE.encode() + b"\xff", {"content_type": "text/html; charset=hz-gb-2312"}),
    ],
)
def test_an_honest_page_is_read_whatever_is_odd_beside_it(page: str | bytes, options: dict[str, str]) -> None:
    assert "counts the boats" in extract(page, **{"url": "http://a.test/", **options}).markdown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "part", ['"type":"list","items":5', '"type":"table","rows":5,"header":5', '"type":"quote","content_elements":5']
)
def test_wrong_types_in_a_payload_are_passed_over(part: str) -> None:
    text = '{"type":"text","content":"' + "The keeper counts the boats again. " * 5 + '"}'
    page = f'<script>Fusion.globalContent={{"content_elements":[{{{part}}},{text}]}}</script>'
    assert extract(page, "http://a.test/").source == "payload:arc-xp"
