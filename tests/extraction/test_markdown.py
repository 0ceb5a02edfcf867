"""The tables of cases in `markdown/`: HTML in, exact Markdown out, and the same words in all three faces."""

from __future__ import annotations

import gzip
import html as entities
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from service import Failure, extract
from tests.captures import folders, load
from tests.extraction.cases import ROOT, Case, answer, faces, read
from tests.extraction.reread import text_of_markdown, words, words_of_markdown

CASES = [case for path in sorted(ROOT.glob("*.txt")) for case in read(path)]
BOARDS = Path(__file__).parents[3] / "shared" / "boards"
BOARD_PAGES = 40
_TAG = re.compile(r"<[^<>]*>")
_CHECKBOX = re.compile(r"<input[^<>]*>")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.where.partition(':')[0]}-{case.name}")
def test_case(case: Case) -> None:
    assert answer(case) == case.markdown, case.where


@pytest.mark.parametrize("case", [case for case in CASES if not case.whole], ids=lambda case: case.name)
def test_the_faces_of_a_case_agree(case: Case) -> None:
    """Markdown parsed back says what the text says, sign for sign where no TeX is in it; HTML says it word for word."""
    found = faces(case.html, title=case.options.get("title"), tables=case.options.get("tables", "markdown"))
    assert words_of_markdown(found.markdown) == words(found.text)
    if "$" not in found.markdown:
        assert text_of_markdown(found.markdown) == "".join(found.text.split())
    boxes = _CHECKBOX.sub(lambda box: "x " if "checked" in box.group() else "", found.html)
    spaced = entities.unescape(_TAG.sub("", boxes))
    assert "".join(words(spaced)) == "".join(words(found.text))


def test_there_are_enough_cases_and_no_two_of_a_name() -> None:
    assert len(CASES) >= 250
    assert not [name for name, count in Counter(case.name for case in CASES).items() if count > 1]


def test_all_reported_shapes_are_cases() -> None:
    """The 45 shapes that broke such extractors in public, each under its number (11 to 13 are not of this stage)."""
    numbers = {int(found.group()) for case in CASES if (found := re.match(r"\d\d", case.name))}
    assert numbers >= set(range(1, 46)) - {11, 12, 13}


def test_a_broken_case_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("@ a\n<p>b\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.txt:1"):
        read(path)


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_the_markdown_of_a_capture_says_what_its_text_says(folder: Path) -> None:
    capture = load(folder)
    try:
        page = extract(capture.page, capture.url, capture.content_type, status=capture.status)
    except Failure:
        return
    assert words_of_markdown(page.markdown) == words(page.text)


@pytest.mark.skipif(not BOARDS.is_dir(), reason="the boards are not here")
@pytest.mark.parametrize("board", ["wcxb", "aeb", "cjk", "snippets"])
def test_the_markdown_of_the_boards_says_what_their_text_says(board: str) -> None:
    """Some pages of each board; `python -m tests.extraction.reread_boards` takes all of them."""
    from tests.extraction.reread_boards import differing

    with gzip.open(BOARDS / board / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        count = sum(1 for line in lines if json.loads(line))
    assert differing(board, max(1, count // BOARD_PAGES)).wrong == []
