"""Pieces of a long body, and its outline."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service import extract
from service.paging import outline, piece

LINES = st.sampled_from(
    [
        "Some words here.",
        "# Head",
        "- item",
        "  - inner",
        "1. one",
        "```",
        "```py",
        "~~~~",
        "| a | b |",
        "| --- | --- |",
        "",
        "> quote",
        "> ```",
        "  ```",
        "    code",
        "한글 텍스트",
        "é́",
        "👩\u200d👩\u200d👧",
        "\\*",
        "a" * 70,
        "�",
        "\r",
    ]
)
TEXTS = st.one_of(st.lists(LINES, max_size=40).map("\n".join), st.text(max_size=300))


def pieces(text: str, limit: int) -> list[str]:
    found, offset = [], 0
    while offset is not None:
        part = piece(text, offset, limit)
        found.append(part.markdown)
        assert part.next_offset is None or offset < part.next_offset <= offset + limit
        offset = part.next_offset
    return found


@given(TEXTS, st.integers(1, 400))
@example("", 1)
@example("a\n\n", 2)
def test_nothing_is_lost_or_said_twice(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert "".join(found) == text
    assert all(0 < len(part) <= limit for part in found[:-1])


@given(TEXTS)
def test_the_outline_points_at_headings(text: str) -> None:
    for heading in outline(text):
        assert text.startswith("#" * heading.level, heading.offset)
        assert heading.offset == 0 or text[heading.offset - 1] == "\n"


CODE = "```py\nfirst = 1\n\nsecond = 2\n\n# no heading\n```"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One.\n\nTwo.\n\nThree.", 14, ["One.\n\nTwo.\n\n", "Three."]),
        (f"One.\n\n{CODE}\n\nTwo.", 50, ["One.\n\n", f"{CODE}\n\n", "Two."]),
        (f"> {CODE}".replace("\n", "\n> ") + "\n\nTwo.", 62, ["> " + CODE.replace("\n", "\n> ") + "\n\n", "Two."]),
        ("- one\n\n  more of one\n\n- two\n- three", 26, ["- one\n\n  more of one\n\n", "- two\n- three"]),
        ("- one\n- two\n  more\n- three", 20, ["- one\n- two\n  more\n", "- three"]),
        ("A.\n\n| a | b |\n| - | - |\n| 1 | 2 |", 22, ["A.\n\n", "| a | b |\n| - | - |\n", "| 1 | 2 |"]),
        ("one two three four", 10, ["one two ", "three four"]),
        ("漢字漢字漢字", 4, ["漢字漢字", "漢字"]),
        ("abe\u0301c", 3, ["ab", "e\u0301c"]),
        ("ab👩‍👧c", 3, ["ab", "👩‍👧", "c"]),
        ("ab\\*c", 3, ["ab", "\\*c"]),
    ],
)
def test_the_cut_is_between_blocks(text: str, limit: int, expected: list[str]) -> None:
    assert pieces(text, limit) == expected


def test_an_outline_has_words_and_no_code() -> None:
    text = f"Intro\n\n## A [*linked*](https://a.test/x) `head` \\# ##\n\n{CODE}\n\n> ## quoted\n\n### Next\n"
    found = outline(text)
    assert [(h.level, h.text) for h in found] == [(2, "A linked head #"), (3, "Next")]
    assert [text[h.offset :][: h.level + 2] for h in found] == ["## A", "### N"]


def test_a_page_has_both() -> None:
    prose = "The keeper counts the boats again before the bell rings, and writes the number down. " * 4
    page = extract(f"<article><h1>Boats</h1><p>{prose}<h2>At <i>night</i></h2><p>{prose}</article>")
    heading = page.outline[-1]
    assert (heading.level, heading.text) == (2, "At night")
    assert page.piece(heading.offset).markdown.startswith("## At")
    assert page.piece(0, heading.offset + 5).next_offset == heading.offset
    with pytest.raises(ValueError, match="limit"):
        page.piece(0, 0)


@pytest.mark.parametrize(
    "unit", ["\n", "```\n", "~~~~\n", "> ```\n", "- ", "> ", "# a\n\n", "a\n", "`", "- a\n\n", "\u0301"]
)
def test_cutting_is_linear(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    piece(text, 0, len(text) - 1)
    outline(text)
    assert time.process_time() - started < 2
