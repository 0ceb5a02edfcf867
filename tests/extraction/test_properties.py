"""Whatever HTML comes in: a clean tree whose three faces agree, nothing lost, nothing twice, the same each time.

`BONMUN_EXAMPLES=5000 pytest tests/extraction/test_properties.py` searches longer, and elsewhere each time.
"""

from __future__ import annotations

import copy
import html as entities
import os
import re
from typing import Any

import lxml.html
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from service import Failure, Page, extract
from service.extraction.clean import clean
from service.extraction.dom import parse
from service.extraction.escape import escape_line
from service.extraction.faces import to_html, to_text
from service.extraction.markdown import to_markdown
from service.extraction.urls import MAX_ADDRESS_CHARS, resolve
from service.extraction.writer import MAX_DEPTH
from tests.extraction.cases import Faces, faces
from tests.extraction.reread import text_of_markdown, words, words_of_markdown

SETTINGS = settings(
    max_examples=int(os.environ.get("BONMUN_EXAMPLES", "100")),
    deadline=None,
    derandomize="BONMUN_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
BASE = "https://a.test/dir/page"
ALLOWED = frozenset(
    (
        "h1 h2 h3 h4 h5 h6 p td th dt dd summary figcaption caption ul ol dl li table thead tbody tfoot tr blockquote "
        "figure details pre hr br a strong em code kbd samp del sub sup mark q ruby rt rp img input div"
    ).split()
)
ATTRIBUTES = frozenset(
    "href src alt title start value colspan rowspan class id data-label type disabled checked".split()
)

BLOCKS = (
    "p div section blockquote ul ol li h2 h4 figure figcaption details summary table tr td th caption dl dt dd pre hr"
)
INLINES = "b i strong em s del code kbd a sub sup mark q ruby rt span font br img small"
ODD = "form button center nobr label main article math svg noscript picture custom-tag option iframe video"
ATTRIBUTES_IN = (
    "class=callout|class='line-number'|class=language-py|class=copy|id=n1|href=/x|href='#n1'|href='javascript:x'|start=4|"
    "colspan=2|rowspan=3|src=/i.png alt='a [b]'|hidden|style='display:none'"
)
ATTRIBUTE = st.sampled_from(["", "", "", *(f" {attribute}" for attribute in ATTRIBUTES_IN.split("|"))])
SIGNS = st.text(alphabet="ab ZÜ1.,;:!?#*_~`|<>&[](){}\\+-=$\"'^/@%\n\t한국漢字かなمر“”。（）—…", max_size=14)
TEXT = st.one_of(
    SIGNS, st.sampled_from(["word", "two words", "1. one", "# x", "- y", "---", "***", "```", "a|b", "[x](y)"])
)


@st.composite
def element(draw: st.DrawFn, children: st.SearchStrategy[str]) -> str:
    """Draw an element around other elements; some are never closed."""
    tag = draw(st.sampled_from(f"{BLOCKS} {INLINES} {ODD}".split()))
    inside = "".join(draw(st.lists(children, max_size=4)))
    end = f"</{tag}>" if draw(st.integers(0, 9)) else ""
    return f"<{tag}{draw(ATTRIBUTE)}>{inside}{end}"


HTML = st.recursive(TEXT.map(entities.escape), lambda inner: element(inner), max_leaves=25)
INLINE_PAIRS = [(f"<{tag}>", f"</{tag}>") for tag in "b i s code kbd sub mark q".split()] + [("<a href=/x>", "</a>")]
LINES = st.recursive(
    TEXT.map(entities.escape),
    lambda inner: st.builds(
        lambda ends, parts: f"{ends[0]}{''.join(parts)}{ends[1]}",
        st.sampled_from(INLINE_PAIRS),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=10,
)


def agree(found: Faces) -> None:
    assert words_of_markdown(found.markdown) == words(found.text), found.markdown
    if "$" not in found.text and "\\" not in found.text:
        assert text_of_markdown(found.markdown) == "".join(found.text.split()), found.markdown


@SETTINGS
@given(st.lists(HTML, max_size=6).map("".join))
def test_any_body_has_three_faces_that_agree(body: str) -> None:
    agree(faces(body))


@SETTINGS
@given(st.lists(LINES, min_size=1, max_size=5).map("".join))
def test_any_line_reads_back_as_it_was(line: str) -> None:
    """Emphasis, code and links in any order and place, beside any sign, sign for sign."""
    agree(
        faces(f"<p>{line}</p><h2>{line}</h2><ul><li>{line}</ul><table><tr><th>A<th>{line}<tr><td>{line}<td>b</table>")
    )


@SETTINGS
@given(st.text(max_size=60))
def test_any_text_reads_back(text: str) -> None:
    """Escaping is sufficient, whatever the text."""
    found = faces(f"<p>{entities.escape(text)}</p>")
    assert words_of_markdown(found.markdown) == words(found.text)
    assert "\n" not in escape_line(text)


@SETTINGS
@given(st.lists(HTML, max_size=6).map("".join))
def test_html_is_what_is_allowed(body: str) -> None:
    """Only allowed tags and attributes, only addresses a reader can follow, nesting bounded."""
    written = faces(body).html
    if not written.strip():
        return
    root = lxml.html.fragment_fromstring(written, create_parent="div")
    for node in root.iter():
        assert node.tag in ALLOWED, node.tag
        assert set(node.attrib) <= ATTRIBUTES
        for name in ("href", "src"):
            assert (node.get(name) or "https:").partition(":")[0] in ("http", "https", "mailto", "tel")
        assert sum(1 for _ in node.iterancestors()) <= 2 * MAX_DEPTH + 10


@SETTINGS
@given(st.lists(HTML, max_size=6).map("".join))
def test_nothing_is_lost_and_nothing_is_twice(body: str) -> None:
    """The words of a body without formulas, players, numbers of lines and hidden parts are the words of its text."""
    if re.search(
        r"<(?:math|svg|iframe|video|noscript|button|option|form|label|pre|table)|hidden|none|line-number|#n1", body
    ):
        return
    root = parse(f"<body>{body}</body>", max_nodes=250_000, max_depth=500).find("body")
    before = "".join("".join(root.itertext()).split())
    text = "".join(to_text(clean([root], BASE).root).split())
    quoted = re.sub("[“”]", "", text)
    assert quoted == re.sub("[“”]", "", before)


@SETTINGS
@given(st.lists(HTML, max_size=6).map("".join))
def test_the_tree_that_is_copied_stays_as_it_is(body: str) -> None:
    root = parse(f"<body>{body}</body>", max_nodes=250_000, max_depth=500)
    before = etree.tostring(copy.deepcopy(root))
    chosen = clean([root.find("body")], BASE)
    to_markdown(to_html(chosen.root), chosen.root)
    assert etree.tostring(root) == before


def outcome(page: bytes | str) -> Any:
    try:
        found = extract(page, BASE)
    except Failure as failure:
        return failure.code, failure.reason
    return found.title, found.html, found.text, found.markdown


@settings(SETTINGS, max_examples=60)
@given(st.one_of(st.binary(max_size=400), st.lists(HTML, max_size=8).map(lambda parts: "".join(parts).encode())))
def test_any_bytes_give_a_page_or_a_named_failure(page: bytes) -> None:
    """The same answer twice, and the input unchanged."""
    kept = bytes(page)
    assert outcome(page) == outcome(page)
    assert page == kept


STORY = "<p>The keeper counts the boats again before the bell rings, and writes the number into a book.</p>" * 4


@settings(SETTINGS, max_examples=60)
@given(st.lists(HTML, max_size=4).map("".join))
def test_a_whole_page_says_the_same_in_all_faces(body: str) -> None:
    try:
        page: Page = extract(f"<title>Boats</title><article>{STORY}{body}{STORY}</article>", BASE)
    except Failure:
        return
    assert words_of_markdown(page.markdown) == words(page.text)


@SETTINGS
@given(st.text(max_size=80), st.sampled_from([None, BASE, "https://a.test/" + "x" * 9_000]))
def test_addresses_are_bounded_and_never_run(reference: str, base: str | None) -> None:
    address = resolve(base, reference)
    assert address is None or (
        len(address) <= MAX_ADDRESS_CHARS and not address.lower().startswith(("javascript", "data:"))
    )


@pytest.mark.parametrize("tag", ["a href=/x", "b", "div hidden", "div", "details", "q", "blockquote", "ul><li", "sup"])
def test_nothing_multiplies(tag: str) -> None:
    """400 elements around one sentence give it once."""
    page = f"<article>{STORY}" + f"<{tag}>x " * 400 + "The bell is silent.</article>"
    found = extract(page, BASE)
    assert found.text.count("The bell is silent.") <= 1
    assert max(map(len, (found.text, found.html, found.markdown))) < 4 * len(page)


def test_a_long_address_around_many_blocks_is_bounded() -> None:
    page = f"<article>{STORY}<a href='/{'x' * 8_000}'>" + "<div>abc</div>" * 5_000 + "</a></article>"
    found = extract(page, BASE)
    assert found.text.count("abc") == 5_000
    assert len(found.markdown) < 3 * len(page)


def test_a_long_base_before_many_links_is_bounded() -> None:
    links = "<a href=y>abc</a> " * 20_000
    found = extract(f"<base href='/{'x' * 8_000}/'><article>{STORY}{links}</article>", BASE)
    assert found.text.count("abc") == 20_000
    assert len(found.markdown) < 6_000_000
