"""Noise, blocks, density and the choice of the body: what counts, who wins, what is left out beside it."""

import numpy as np
import pytest

from service import extract
from service.extraction.choice import best_set
from service.extraction.density import Counts, counts_of, rank, scores
from service.extraction.dom import parse, text_of
from service.extraction.noise import prune
from service.extraction.segment import CLASSES, cut
from service.settings import Extraction

WEIGHTS = Extraction()
SENTENCE = "The keeper counts the boats again before the bell. "


def tree(body: str):  # type: ignore[no-untyped-def]
    return parse(f"<body>{body}</body>", max_nodes=250_000, max_depth=500)


def pruned(body: str) -> str:
    root = tree(body)
    prune(root)
    return text_of(root)


@pytest.mark.parametrize(
    "gone",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<p hidden>x</p>",
        "<p style='color:red;display: none'>x</p>",
        "<i style=visibility:hidden>x</i>",
        "<span class=sr-only>x</span>",
        "<b class='c-VisuallyHidden'>x</b>",
        "<b class=screen-reader-text>x</b>",
        "<select><option>x</select>",
        "<textarea>x</textarea>",
        "<button>x</button>",
        "<svg><text>x</text></svg>",
        "<dialog>x</dialog>",
        "<template>x</template>",
        "<iframe><p>x</p></iframe>",
        "<h3>Kept text.</h3><p hidden>x</p>",
        "<a href=#m>Kept text.</a><div id=m role=dialog hidden>x</div>",
        "<nav><a href=#m>Kept text.</a><div id=m hidden>x</div></nav>",
    ],
)
def test_noise_goes(gone: str) -> None:
    assert set(pruned(f"<p>Kept text.</p>{gone}").split()) == {"Kept", "text."}


@pytest.mark.parametrize(
    "kept",
    [
        "<noscript>x</noscript>",
        "<main aria-hidden=true>x</main>",
        "<dialog open>x</dialog>",
        "<p hidden=until-found>x</p>",
        "<h3><button>x</button></h3>",
        "<p>a <button>x</button> b</p>",
        "<p class=hidden>x</p>",
        "<form>x</form>",
        "<a href=#m>m</a><div id=m hidden>x</div>",
        "<button aria-controls='m n'>m</button><div id=n style=display:none>x</div>",
        "<div role=tabpanel hidden>x</div>",
        "<div class=faq-answer style=display:none>x</div>",
        "<h3>m <a>+</a></h3><p hidden>x</p>",
        "<h3>1</h3><p class=q hidden>x</p><h3>2</h3><p class=q hidden>y</p><h3>3</h3><p class=q hidden>z</p>",
    ],
)
def test_no_noise_stays(kept: str) -> None:
    assert "x" in pruned(f"<p>Kept text.</p>{kept}")


def test_a_page_hidden_as_a_whole_is_read() -> None:
    assert pruned(f"<div style='display:none'><p>{SENTENCE * 3}</p></div><p>Loading</p>").startswith("The keeper")


def test_every_character_is_counted_once_by_one_rule() -> None:
    blocks = cut(tree("<div>ab <p>cd<a href=/>ef</a></p><a href=/><p>gh</p></a> ij<a>kl</a></div>"))
    assert counts_of(blocks, blocks.tags.index("div")) == Counts(chars=12, p_chars=6, link_chars=4, links=2)


def test_blocks_are_runs_of_text_between_block_level_tags() -> None:
    blocks = cut(tree("a <b>b</b><p>c<br>d<br><br>e</p> f<ul><li>g<ul><li>h</li></ul>i</li></ul>"))
    assert [text.split() for text in blocks.texts] == [["a", "b"], ["cd"], ["e"], ["f"], ["g"], ["h"], ["i"]]
    assert [blocks.tags[home] for home in blocks.home] == ["body", "p", "p", "body", "li", "li", "li"]


def test_words_are_counted_in_every_script() -> None:
    blocks = cut(tree("<p>Two words.<p>밤에 두 번<p>鐘が二度鳴る。<p>It’s 3.5<p>ระฆัง"))
    assert blocks.words.tolist() == [2, 3, 6, 4, 5]
    assert blocks.counts.shape == (5, CLASSES)


def test_what_an_element_holds_is_the_sum_of_its_blocks() -> None:
    root = tree("<div><p>one</p><div><p>two</p>three</div></div>four")
    blocks = cut(root)
    held = blocks.inside(blocks.chars)
    for number, element in enumerate(blocks.elements):
        assert held[number] == len("".join("".join(element.itertext()).split()))


def test_shares_never_pass_one() -> None:
    blocks = cut(tree("<div><a href=/>a<a href=/b>b</a></a><p><a href=/>c</a></p></div>" * 3))
    for number in range(len(blocks.elements)):
        counts = counts_of(blocks, number)
        assert 0 <= counts.link_share <= 1
        assert 0 <= counts.p_share <= 1


@pytest.mark.parametrize(
    ("counts", "score"),
    [((1000, 1000, 0), 1000), ((1000, 100, 0), 370), ((1000, 1000, 500), 400), ((1000, 1000, 900), 0), ((0, 0, 0), 0)],
)
def test_the_formula(counts: tuple[int, int, int], score: float) -> None:
    assert scores(*(np.asarray([value], float) for value in counts), WEIGHTS)[0] == pytest.approx(score)


def test_body_is_a_candidate_only_where_its_text_is_in_no_other() -> None:
    flat = cut(tree(f"<div>menu</div><p>{SENTENCE * 3}</p><ul><li>{SENTENCE}</li></ul>"))
    assert flat.tags[rank(flat, WEIGHTS, np.zeros(len(flat), bool))[0][1]] == "body"
    boxed = cut(tree(f"<p>intro</p><div><p>{SENTENCE * 3}</p></div>"))
    assert all(boxed.tags[number] != "body" for _, number in rank(boxed, WEIGHTS, np.zeros(len(boxed), bool)))


def test_the_best_set_maximizes_expected_f1() -> None:
    words = np.asarray([100, 100, 100, 5])
    chosen, expected = best_set(np.asarray([0.9, 0.8, 0.1, 0.5]), words)
    assert chosen.tolist() == [True, True, False, True]
    assert expected == pytest.approx(2 * 172.5 / (205 + 182.5))
    # A long block of even chance is worth keeping where little else is sure, and not where much is.
    assert best_set(np.asarray([0.45]), np.asarray([50]))[0].tolist() == [True]
    assert best_set(np.asarray([0.99, 0.3]), np.asarray([500, 50]))[0].tolist() == [True, False]
    chosen, expected = best_set(np.asarray([]), np.asarray([]))
    assert (chosen.tolist(), expected) == ([], 0.0)


def body_of(html: str) -> str:
    page = f"<!doctype html><title>The harbour bell</title><body>{html}</body>"
    return " ".join(extract(page, "https://example.org/2026/03/harbour-bell").text.split())


THINGS = ("lamps", "oars", "ropes", "nets", "sails", "hulls", "buoys", "anchors", "charts", "flags", "keels", "masts")


def article(things: tuple[str, ...]) -> str:
    """Paragraphs that differ: text that stands on a page many times is hardly its body."""
    return "".join(
        f"<p>In the week of the {thing} the keeper walks to the end of the pier, counts what the tide has left, "
        f"and writes the number into the book, where last year's {thing} still stand in green ink. {SENTENCE}</p>"
        for thing in things
    )


ARTICLE, SECOND = article(THINGS[:6]), article(THINGS[6:])
LINKS = "".join(f"<li><a href=/{n}>Another story number {n}</a></li>" for n in range(6))


@pytest.mark.parametrize(
    "beside",
    [
        f"<ul>{LINKS}</ul>",
        f"<div><h4>More</h4><ul>{LINKS}</ul></div>",
        "<nav>beside</nav>",
        "<aside>beside</aside>",
        "<footer>beside</footer>",
        "<div role=navigation>beside</div>",
        "<div class=share-bar>beside</div>",
        "<div class='newsletter-signup'>beside <a href=/>join</a></div>",
        "<header><nav>beside</nav></header>",
        "<p>Posted: 2026-03-01 10:20</p>",
        "<div>입력 2026.02.17 05:40</div>",
        "<p>Nov 19, 2026</p>",
    ],
)
def test_what_stands_inside_and_is_no_body_goes(beside: str) -> None:
    assert body_of(f"<div><div>{ARTICLE}{beside}{SECOND}</div></div>") == text_of(tree(ARTICLE + SECOND))


@pytest.mark.parametrize(
    "part",
    [
        f"<aside>{article(tuple('ABCDEFGH'))}</aside>",
        f"<div class=content-sidebar>{article(tuple('ABCDEFGH'))}</div>",
        "<p class=gdpr-Paragraph>One more.</p>",
        "<p>See also:</p><ul><li><a href=/a>Tide office</a></li><li><a href=/b>Lamp room</a></li></ul>",
        "<div><table><tr><th>Boat<th>Keeper<tr><td><a href=/a>Long boat</a><td><a href=/b>Brida Moss</a></table></div>",
        "<p>On 1 March 2026 the bell rang twice.</p>",
        "<ul><li>An item</li><li>An item with <a href=/>a link</a> in it</li></ul>",
    ],
)
def test_what_is_body_stays_whatever_it_is_called(part: str) -> None:
    assert text_of(tree(part)) in body_of(f"<div>{ARTICLE}{part}{SECOND}</div>")


def test_an_index_page_keeps_its_links() -> None:
    assert "story number 5" in body_of(f"<div><p>Today</p><ul>{LINKS}</ul><ul>{LINKS}</ul></div>")


def images_of(html: str) -> list[str]:
    page = extract(f"<title>The harbour bell</title><body>{html}</body>", "https://example.org/2026/03/harbour-bell")
    return [image.url.removeprefix("https://example.org") for image in page.images]


def test_images_of_the_body_stay_and_those_beside_it_go() -> None:
    lead, inside, end = (f"<img src=/{name}.jpg>" for name in ("lead", "inside", "end"))
    body = f"<article>{lead}{ARTICLE}<div>{inside}</div>{SECOND}{end}</article>"
    beside = "<div><a href=https://ads.example/><img src=/advert.jpg></a></div>"
    assert images_of(f"<main>{body}{beside}</main>{beside}") == ["/lead.jpg", "/inside.jpg", "/end.jpg"]


COMMENTS = "<div id=comments>" + f"<div class=comment><time>now</time><p>{SENTENCE * 9}</p></div>" * 9 + "</div>"


def test_comments_go_where_they_are_longer_than_the_article() -> None:
    assert body_of(f"<div>{ARTICLE}</div>{COMMENTS}") == text_of(tree(ARTICLE))
