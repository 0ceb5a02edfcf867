"""Noise, density, comments and blocks: what counts, who wins, what is left out beside it."""

import pytest

from service.extraction.blocks import assemble
from service.extraction.comments import remove_comments
from service.extraction.density import Counts, measure, rank, score
from service.extraction.dom import parse, text_of
from service.extraction.noise import prune
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
    ],
)
def test_noise_goes(gone: str) -> None:
    assert pruned(f"<p>Kept text.</p>{gone}") == "Kept text."


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
    ],
)
def test_no_noise_stays(kept: str) -> None:
    assert "x" in pruned(f"<p>Kept text.</p>{kept}")


def test_a_page_hidden_as_a_whole_is_read() -> None:
    assert pruned(f"<div style='display:none'><p>{SENTENCE * 3}</p></div><p>Loading</p>").startswith("The keeper")


def test_every_character_is_counted_once_by_one_rule() -> None:
    root = tree("<div>ab <p>cd<a href=/>ef</a></p><a href=/><p>gh</p></a> ij<a>kl</a></div>")
    counts = measure(root)[root.find("body/div")]
    assert counts == Counts(chars=12, p_chars=6, link_chars=4, links=2)


def test_shares_never_pass_one() -> None:
    root = tree("<div><a href=/>a<a href=/b>b</a></a><p><a href=/>c</a></p></div>" * 3)
    for counts in measure(root).values():
        assert 0 <= counts.link_share <= 1
        assert 0 <= counts.p_share <= 1


def test_the_formula() -> None:
    assert score(Counts(1000, 1000, 0), WEIGHTS) == pytest.approx(1000)
    assert score(Counts(1000, 100, 0), WEIGHTS) == pytest.approx(370)
    assert score(Counts(1000, 1000, 500), WEIGHTS) == pytest.approx(400)
    assert score(Counts(1000, 1000, 900), WEIGHTS) == 0
    assert score(Counts(), WEIGHTS) == 0


def test_body_is_a_candidate_only_where_its_text_is_in_no_other() -> None:
    flat = tree(f"<div>menu</div><p>{SENTENCE * 3}</p><ul><li>{SENTENCE}</li></ul>")
    assert rank(flat, measure(flat), WEIGHTS)[0][1].tag == "body"
    boxed = tree(f"<p>intro</p><div><p>{SENTENCE * 3}</p></div>")
    assert all(element.tag != "body" for _, element in rank(boxed, measure(boxed), WEIGHTS))


def body_of(html: str) -> str:
    root = tree(html)
    measures = measure(root)
    winner = rank(root, measures, WEIGHTS)[0][1]
    return " ".join(text_of(part) for part in assemble(winner, measures, WEIGHTS))


ARTICLE = f"<p>{SENTENCE * 4}</p>" * 6
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
    assert body_of(f"<div><div>{ARTICLE}{beside}{ARTICLE}</div></div>") == text_of(tree(ARTICLE * 2))


@pytest.mark.parametrize(
    "part",
    [
        f"<aside>{ARTICLE * 3}</aside>",
        f"<div class=content-sidebar>{ARTICLE * 3}</div>",
        "<p class=gdpr-Paragraph>One more.</p>",
        "<p>See also:</p><ul><li><a href=/a>Tide office</a></li><li><a href=/b>Lamp room</a></li></ul>",
        "<div><table><tr><th>Boat<th>Keeper<tr><td><a href=/a>Long boat</a><td><a href=/b>Brida Moss</a></table></div>",
        "<p>On 1 March 2026 the bell rang twice.</p>",
        "<ul><li>An item</li><li>An item with <a href=/>a link</a> in it</li></ul>",
    ],
)
def test_what_is_body_stays_whatever_it_is_called(part: str) -> None:
    assert text_of(tree(part)) in body_of(f"<div>{ARTICLE}{part}</div>")


def test_an_index_page_keeps_its_links() -> None:
    assert "story number 5" in body_of(f"<div><p>Today</p><ul>{LINKS}</ul><ul>{LINKS}</ul></div>")


COMMENTS = "<div id=comments>" + f"<div class=comment><time>now</time><p>{SENTENCE * 9}</p></div>" * 9 + "</div>"


def test_comments_go_before_they_can_win() -> None:
    root = tree(f"<div>{ARTICLE}</div>{COMMENTS}")
    remove_comments(root)
    assert text_of(root) == text_of(tree(ARTICLE))


def test_comments_alone_are_the_body() -> None:
    root = tree(f"<h1>Guest book</h1>{COMMENTS}")
    remove_comments(root)
    assert SENTENCE.strip() in text_of(root)
