"""The tree: the standard's, capped, and built in linear time whatever is nested or left open."""

import contextlib
import time

import pytest

from service.extraction.dom import collapse, drop, parse, text_lines, text_of, words
from service.failures import ExtractFailed


def tree(html: str, max_nodes: int = 250_000):  # type: ignore[no-untyped-def]
    return parse(html, max_nodes=max_nodes, max_depth=500)


def test_an_inline_sprite_does_not_swallow_the_page() -> None:
    root = tree("<body><svg><symbol id=a /><use href=#a /></svg><article><p>Body</p></article>")
    assert [e.tag for e in root.find("body")] == ["svg", "article"]


def test_what_follows_an_early_end_is_kept() -> None:
    assert text_of(tree("<body><header>H</header></body></html><article>After</article>")) == "H After"


@pytest.mark.parametrize("depth", [330, 3000, 20_000, 120_000])
def test_deep_nesting_keeps_the_sentence(depth: int) -> None:
    started = time.process_time()
    root = tree("<p>before" + "<div>" * depth + "The sentence." + "</div>" * depth + "<p>after")
    assert text_of(root) == "before The sentence. after"
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "piece",
    [
        "<a",
        "<script>",
        "<!--",
        "<div ",
        "</p>",
        "<p>",
        "<b>",
        "<a href=x>",
        "<ul><li>",
        "<table><tr><td>",
        "<svg>",
        "<math><mi>",
        "&amp",
        "<b a={}>",
    ],
)
def test_a_megabyte_of_anything_is_bounded(piece: str) -> None:
    page = "".join(piece.format(number) for number in range(1_000_000 // len(piece)))
    started = time.process_time()
    with contextlib.suppress(ExtractFailed):  # over the cap on elements, or nothing but an open tag
        tree(page + "<p>x</p>")
    assert time.process_time() - started < 4


def test_void_elements_hold_nothing() -> None:
    voids = "area br embed hr img input source track wbr".split()
    for void in voids:
        root = tree(f"<div><{void} title='a>b \"c'>after</div>")
        element = root.find(f".//{void}")
        assert (len(element), element.text) == (0, None), void
        assert text_of(root).endswith("after")


def test_a_cap_on_elements() -> None:
    with pytest.raises(ExtractFailed) as caught:
        tree("<p>" * 200, max_nodes=100)
    assert caught.value.reason == "nodes"


def test_tags_in_scripts_are_not_counted_as_nesting() -> None:
    page = "<script>" + "'<div>'" * 30_000 + "</script><div><p>Text</p></div>"
    assert tree(page).find(".//div/p") is not None


def test_drop_keeps_the_tail() -> None:
    root = tree("<p>a<b>x</b>b<i>y</i>c</p>")
    for tag in ("b", "i"):
        drop(root.find(f".//{tag}"))
    assert text_of(root) == "abc"


def test_text_helpers() -> None:
    assert collapse(" a \n b\u00a0c\t") == "a b\u00a0c"
    assert text_of(tree("<div>a<p>b</p>c<br>d<b>e</b>f</div>")) == "a b c def"
    assert text_lines(tree("<title>t</title><div>a<p>b</p>c</div>")) == ["a", "b", "c"]
    assert words("postBody-main HTMLText x_2") == ("post", "body", "main", "html", "text", "x", "2")
