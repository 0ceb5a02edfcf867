"""What a block's company says, for given probabilities: who is set aside, and what is joined to the body."""

import numpy as np
import pytest

from service.extraction.company import joined, others
from service.extraction.dom import parse
from service.extraction.segment import Blocks, cut
from service.page import Kind

LONG = "The keeper counts the boats again before the bell rings and writes the number on the door. " * 14


def blocks_of(body: str) -> Blocks:
    return cut(parse(f"<body>{body}</body>", max_nodes=250_000, max_depth=500))


def chances(blocks: Blocks, unlikely: dict[str, float], rest: float = 0.9) -> np.ndarray:
    """`rest` for every block but those whose text begins with a key of `unlikely`."""
    found = np.full(len(blocks), rest)
    for start, likely in unlikely.items():
        found[[i for i, text in enumerate(blocks.texts) if text.startswith(start)]] = likely
    return found


def kept(body: str, unlikely: dict[str, float], kind: Kind = "article") -> list[str]:
    blocks = blocks_of(body)
    likely = chances(blocks, unlikely)
    return [blocks.texts[i] for i in np.flatnonzero(joined(blocks, likely >= 0.5, likely, kind, {}))]


def aside(body: str, kind: Kind = "article", comments: str = "\0", rest: float = 0.9) -> list[str]:
    blocks = blocks_of(body)
    said = np.asarray([text.startswith(comments) for text in blocks.texts])
    return [blocks.texts[i] for i in sorted(others(blocks, chances(blocks, {}, rest), said, kind))]


COMMENTED = f"<p>{LONG}</p><div><p>I disagree.</p><p>I agree.</p></div>"


@pytest.mark.parametrize(
    ("kind", "gone"),
    [("article", ["I disagree.", "I agree."]), ("page", ["I disagree.", "I agree."]), ("forum", [])],
)
def test_comments_are_body_on_a_forum_alone(kind: Kind, gone: list[str]) -> None:
    assert aside(COMMENTED, kind, comments="I ") == gone


def test_a_body_in_comments_is_not_set_aside() -> None:
    assert aside(f"<p>Before it.</p><div><p>{LONG}</p></div>", comments="The keeper") == []


CARDS = "".join(f"<article><h3><a href=/{n}>Card {n}</a></h3></article>" for n in range(4))


def test_teasers_beside_an_article_and_those_that_are_the_page() -> None:
    assert aside(f"<p>{LONG}</p><div>{CARDS}</div>") == [f"Card {n}" for n in range(4)]
    assert aside(f"<p>{LONG}</p><div>{CARDS}</div>", "feed") == []
    assert aside(f"<p>Today</p><div>{CARDS}</div>") == []
    assert aside(f"<p>{LONG}</p><div>{CARDS}</div>".replace("<a href", "<b title")) == []


@pytest.mark.parametrize("line", ["입력 2026.02.17 05:40", "Nov 19, 2026", "Posted: 2026-03-01 10:20", "3 May 2026"])
def test_a_date_line_is_of_the_page(line: str) -> None:
    assert aside(f"<p>{LONG}</p><p>{line}</p>") == [line]
    assert aside(f"<p>{LONG}</p><li>{line}</li>") == []


@pytest.mark.parametrize(
    ("gap", "closed"),
    [
        ("<p>Doubtful</p>", True),  # a paragraph without links is part of the prose around it
        ("<p><a href=/x>Doubtful</a></p>", False),
        ("<div>Doubtful</div>", False),
        ("<ul><li>Doubtful</ul>", True),
        ("<ul><li><a href=/x>Doubtful</a></ul>", False),
        ("<table><tr><th>Doubtful<td>Doubtful</table>", True),
        (f"<p>Doubtful{' and more' * 60}</p>", False),  # too long for a gap
    ],
)
def test_a_gap_in_prose(gap: str, closed: bool) -> None:
    found = kept(f"<div><p>First</p>{gap}<p>Last</p></div>", {"Doubtful": 0.1})
    assert any(text.startswith("Doubtful") for text in found) == closed


def test_a_likely_gap_is_closed_whatever_it_is() -> None:
    assert "Doubtful" in kept("<p>First</p><div>Doubtful</div><p>Last</p>", {"Doubtful": 0.4})
    assert "Doubtful" not in kept("<p>First</p><div>Doubtful</div><p>Last</p>", {"Doubtful": 0.4}, "feed")


def test_a_list_that_a_colon_announces() -> None:
    body = "<div><p>Where to ask:</p><ul><li><a href=/x>Doubtful</a></ul><p>Last</p></div>"
    assert "Doubtful" in kept(body, {"Doubtful": 0.1})


def test_what_was_set_aside_is_no_gap() -> None:
    assert "Doubtful" not in kept("<div><p>First</p><p>Doubtful</p><p>Last</p></div>", {"Doubtful": 0.0})


def test_a_thread_keeps_its_short_posts() -> None:
    texts = ("First of all, a long post about boats", "Second, another post as long", "Third: short")
    posts = "".join(f"<div class=post><div class=by>Ann</div><div class=text>{text}</div></div>" for text in texts)
    found = kept(posts, {"Ann": 0.1, "Third": 0.2}, "forum")
    assert "Third: short" in found
    assert "Ann" not in found


def test_a_table_or_a_listing_is_kept_whole() -> None:
    unlikely = {"Doubtful": 0.1}
    assert "Doubtful" in kept("<table><tr><td>one two<td>Doubtful</table><p>Last</p>", unlikely)
    assert "Doubtful two" not in kept("<table><tr><td>one<td>Doubtful two</table><p>Last</p>", unlikely)
    assert "Doubtful" in kept("<pre>one two<br><br>Doubtful</pre><p>Last</p>", unlikely)


def test_sections_with_permalinks_and_picks_in_the_text_are_no_teasers() -> None:
    sections = "".join(f"<section><h2>Part {n} <a href=#p{n}>#</a></h2><p>Short.</p></section>" for n in range(4))
    assert aside(f"<p>{LONG}</p><div>{sections}</div>") == []
    assert aside(f"<article><p>{LONG}</p>{CARDS}</article>") == []


def test_the_dates_of_a_chronology_stay() -> None:
    assert aside(f"<p>{LONG}</p>" + "".join(f"<p>{day} May 1871</p><p>Event</p>" for day in range(1, 5))) == []


STORY = [f"Line {n} of a story that stands on the page for each size of screen, once too often." for n in range(6)]


def test_a_story_said_twice_is_kept_once() -> None:
    story = "".join(f"<p>{line}</p>" for line in STORY)
    assert kept(f"<div>{story}</div><div>{story}</div>", {}) == STORY
    clause = "<p>The tenant shall pay the rent on the first working day of each month to the account named.</p>"
    terms = "".join(f"<h3>Plan {n}</h3>{clause}" for n in range(4))
    assert len(kept(terms, {})) == 8  # one sentence may be said as often as it takes


def test_a_quotation_in_a_thread_is_kept_once() -> None:
    posts = f"<p>{STORY[0]}</p><div><blockquote>{STORY[0]}</blockquote><p>I disagree.</p></div>"
    assert kept(posts, {}, "forum") == [STORY[0], "I disagree."]
