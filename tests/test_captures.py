"""Every capture, and the shapes that are too large or too mechanical to keep as files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from service import extract
from service.failures import Failure
from service.page import Page
from tests.captures import (
    ROOT,
    Capture,
    CaptureError,
    compare,
    compare_failure,
    folders,
    load,
    outline,
    tier_of,
    words,
)


def _answer(capture: Capture) -> Page | Failure:
    try:
        return extract(capture.page, url=capture.url, content_type=capture.content_type, status=capture.status)
    except Failure as failure:
        return failure


def _told(answer: Page | Failure) -> tuple[object, ...]:
    """List everything an answer says but the time it took."""
    if isinstance(answer, Failure):
        return (answer.code, *answer.as_dict().items())
    return tuple(getattr(answer, name) for name in Page.__dataclass_fields__ if name != "timings")


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_capture(folder: Path) -> None:
    """The page gives the expected answer, and the same answer twice."""
    capture = load(folder)
    answer = _answer(capture)
    wrong = compare_failure(capture, answer) if isinstance(answer, Failure) else compare(capture, answer)
    assert not wrong, f"{capture.name}\n{capture.shape}\n" + "\n".join(wrong)
    assert _told(answer) == _told(_answer(capture))


def test_project_captures_name_their_shape() -> None:
    """A capture without a measured shape would be a rule without a reason."""
    nameless = [folder.name for folder in sorted(ROOT.iterdir()) if folder.is_dir() and not load(folder).shape.strip()]
    assert not nameless


def test_walls_have_twins() -> None:
    """Every vendor's wall stands beside an article that loads its script and must pass."""
    names = {folder.name for folder in ROOT.iterdir() if folder.is_dir()}
    vendors = {name.removeprefix("wall-vendor-").split("--")[0] for name in names if name.startswith("wall-vendor-")}
    assert vendors
    assert {f"twin-loads-{vendor}" for vendor in vendors} <= names


@pytest.mark.parametrize(
    ("name", "ids"), [("portal-id-article", ["newsArticleArea"]), ("portal-id-view", ["viewContentBox"])]
)
def test_portal_answers_do_not_hang_on_ids(name: str, ids: list[str]) -> None:
    """The same page with its container's id renamed gives the same text: there is no selector table."""
    capture = load(ROOT / name)
    page = capture.page.decode()
    for number, known in enumerate(ids):
        assert known in page
        page = page.replace(known, f"x{number}")
    renamed = extract(page, url=capture.url)
    original = extract(capture.page, url=capture.url, content_type="text/html; charset=utf-8")
    assert renamed.text == original.text


@pytest.mark.parametrize("name", sorted(folder.name for folder in ROOT.glob("markdown-table-*")))
def test_tables_are_rectangular(name: str) -> None:
    """Every row of a Markdown table has as many cells as its header, spans and pipes or not."""
    answer = _answer(load(ROOT / name))
    assert isinstance(answer, Page)
    tables = re.findall(r"(?:^\|.*\n?)+", answer.markdown, flags=re.MULTILINE)
    assert tables
    for table in tables:
        rows = table.strip().split("\n")
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, table
        assert [bool(re.fullmatch(r"[|:\- ]+", row)) for row in rows].count(True) == 1, table


def test_text_and_bytes_give_one_answer() -> None:
    """A caller that decoded the page itself gets what the bytes give."""
    capture = load(ROOT / "widget-articles")
    assert extract(capture.page.decode(), url=capture.url).markdown == extract(capture.page, url=capture.url).markdown


# Shapes by the ten thousand elements. Sentences are numbered so that each is its own.

_PLACES = ("the quay", "the mill", "the upper weir", "the tram depot", "the salt store", "the old school", "the ferry")
_DEEDS = ("was measured twice", "stayed dry", "had to be shored up", "lost its roof", "reopened without a ceremony")


def _sentence(number: int) -> str:
    place, deed = _PLACES[number % len(_PLACES)], _DEEDS[number % len(_DEEDS)]
    return f"On day {number} of the survey {place} {deed}, and clerk {number * 7 % 991} wrote it down."


def _document(body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>Survey</title></head><body>{body}</body></html>"


def _many_elements(size: int) -> str:
    """`size` elements: an article of one paragraph for every thirty spans of an app's furniture."""
    groups = size // 30
    furniture = "<div>" + "<span></span>" * 28 + "</div>"
    return _document("<main>" + "".join(f"<p>{_sentence(i)}</p>{furniture}" for i in range(groups)) + "</main>")


def _many_paragraphs(count: int) -> str:
    return _document("<div class='text'>" + "".join(f"<p>{_sentence(i)}</p>" for i in range(count)) + "</div>")


def _many_spans(count: int) -> str:
    """Hundreds of `div>div>span` lines, every fifth of one to three words."""
    short = ("Yes.", "Not yet.", "Ask the clerk.")
    lines = (short[i // 5 % 3] if i % 5 == 4 else _sentence(i) for i in range(count))
    return _document("<div>" + "".join(f"<div><div><span>{line}</span></div></div>" for line in lines) + "</div>")


def _many_hidden(count: int) -> str:
    """Hidden elements behind empty ones, and text between what is dropped."""
    return _document(
        "<b></b>" * 4 * count + "<i hidden>abcdefgh</i>" * count + "word word <input>" * count + _sentence(1)
    )


def _nested(depth: int) -> str:
    return _document("<div>" * depth + f"<p>{' '.join(map(_sentence, range(4)))}</p>" + "</div>" * depth)


def _wide_table(rows: int) -> str:
    cells = "".join(f"<tr><td>{i}</td><td>{_sentence(i)}</td></tr>" for i in range(rows))
    return _document(
        f"<article><p>{_sentence(rows)}</p><table><tr><th>Day</th><th>Note</th></tr>{cells}</table></article>"
    )


def test_sixty_thousand_elements() -> None:
    """60,000 elements, 2,000 of them paragraphs: all the text, in order."""
    page = extract(_many_elements(60_000), url="https://survey.example/")
    sentences = [_sentence(i) for i in range(2_000)]
    assert words(page.text) == words(" ".join(sentences))
    assert page.text.index(sentences[10]) < page.text.index(sentences[1_990])


def test_two_thousand_paragraphs() -> None:
    """No paragraph of 2,000 is lost."""
    page = extract(_many_paragraphs(2_000), url="https://survey.example/")
    assert words(page.text) == words(" ".join(map(_sentence, range(2_000))))


def test_hundreds_of_span_lines() -> None:
    """Lines of one to three words between long ones stay, each once."""
    text = extract(_many_spans(600), url="https://survey.example/").text
    assert text.count("Ask the clerk.") == 40
    assert text.count("Not yet.") == 40
    assert text.count("Yes.") == 40
    assert all(_sentence(i) in text for i in range(600) if i % 5 != 4)


@pytest.mark.parametrize("depth", [330, 400, 5_000])
def test_deep_nesting(depth: int) -> None:
    """One sentence under hundreds or thousands of `div`s comes back, without a recursion error."""
    page = extract(_nested(depth), url="https://survey.example/")
    assert words(page.text) == words(" ".join(map(_sentence, range(4))))


@pytest.mark.parametrize("tag", ["b", "blockquote", "ul><li", "span", "table><tr><td"])
def test_deep_nesting_of_other_elements(tag: str) -> None:
    """What wraps the sentence 600 times makes no difference."""
    html = _document(f"<{tag}>" * 600 + " ".join(map(_sentence, range(4))))
    assert _sentence(2) in " ".join(extract(html, url="https://survey.example/").text.split())


@pytest.mark.parametrize(
    ("build", "size"),
    [
        (_many_elements, 30_000),
        (_many_paragraphs, 1_500),
        (_many_spans, 1_500),
        (_many_hidden, 2_000),
        (_nested, 3_000),
        (_wide_table, 1_000),
    ],
)
def test_time_grows_with_size(build: Callable[[int], str], size: int) -> None:
    """A page twice as large takes less than three times as long: no walk is quadratic.

    The best of three runs, in CPU time, so that a busy machine does not decide; a ratio that is too high is
    measured again before it counts.
    """
    ratios = []
    for _ in range(3):
        ratios.append(_fastest(build(2 * size)) / max(_fastest(build(size)), 0.005))
        if ratios[-1] < 3:
            return
    pytest.fail(f"twice the size took {min(ratios):.1f} times as long")


def _fastest(html: str) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        extract(html, url="https://survey.example/")
        times.append(time.process_time() - start)
    return min(times)


# The format itself.


def _folder(path: Path, expect: str, **pages: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / "expect.yaml").write_text(expect, encoding="utf-8")
    for suffix, content in pages.items():
        (path / f"page.{suffix}").write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("expect: {title: A, bdoy: B}", "expect has unknown keys bdoy"),
        ("shape: x\nexpectt: {title: A}", "the file has unknown keys expectt"),
        ("expect: {title: 2026}", "title must be text"),
        ("expect: {contains: word}", "contains must be a list of texts"),
        ("expect: {recall: 95}", "recall must lie between 0 and 1"),
        ("expect: {failure: BLOCKED}", "failure must be one of"),
        ("expect: {failure: BLOCKED_BY_SITE, title: A}", "a failure has no title"),
        ("expect: {reason: wall}", "reason belongs to a failure"),
        ("expect: {kind: news}", "kind must be one of"),
        ("expect: {body: a, body_file: b.txt}", "not both"),
        ("expect: {body_file: b.txt}", "body_file b.txt is missing"),
        ("status: two hundred\nexpect: {title: A}", "status must be an HTTP status"),
        ("expect:", "expect must be a mapping"),
        ("wait_for: p\nexpect: {title: A}", "the file has unknown keys wait_for"),
        ("tier: rendered\nstatus: 200\nexpect: {title: A}", "the file has unknown keys status"),
        ("tier: rendered\nstatic: EMPTY\nexpect: {title: A}", "static must be one of"),
        ("tier: rendered\ndelay: 2\nexpect: {title: A}", "delay must give seconds by file"),
        ("tier: rendered\ndelay: {app.js: 2}\nexpect: {title: A}", "delay names app.js, which is missing"),
        ("expect: {title: 'A", "not YAML"),
    ],
)
def test_mistakes_in_a_capture_are_named(tmp_path: Path, expect: str, message: str) -> None:
    """Whoever writes a capture is told which key is wrong, and in which file."""
    with pytest.raises(CaptureError, match=re.escape(message)) as caught:
        load(_folder(tmp_path, expect, html="<p>x"))
    assert "expect.yaml" in str(caught.value)


def test_a_capture_has_one_page(tmp_path: Path) -> None:
    """Two pages, or none, are a mistake."""
    with pytest.raises(CaptureError, match="exactly one page"):
        load(_folder(tmp_path, "expect: {title: A}", html="<p>x", xml="<feed/>"))


def test_a_rendered_capture_has_its_files(tmp_path: Path) -> None:
    """All of the folder is served but the expectation; the static runner leaves it alone."""
    folder = _folder(tmp_path / "app", "tier: rendered\ndelay: {sub/app.js: 0.5}\nexpect: {title: A}", html="<p>x")
    (folder / "sub").mkdir()
    (folder / "sub" / "app.js").write_text("1", encoding="utf-8")
    (folder / "body.txt").write_text("x", encoding="utf-8")
    capture = load(folder)
    assert capture.tier == tier_of(folder) == "rendered"
    assert dict(capture.files) == {"page.html": b"<p>x", "sub/app.js": b"1"}
    assert capture.delay == {"sub/app.js": 0.5}
    with pytest.raises(CaptureError, match=re.escape("is page.html")):
        load(_folder(tmp_path / "feed", "tier: rendered\nexpect: {title: A}", xml="<feed/>"))


def test_own_captures_run_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`BONMUN_CAPTURES` names a capture or a folder of captures, several of them if need be."""
    one = _folder(tmp_path / "one", "expect: {title: A}", html="<p>x")
    (tmp_path / "many").mkdir()
    two = _folder(tmp_path / "many" / "two", "expect: {title: A}", html="<p>x")
    monkeypatch.setenv("BONMUN_CAPTURES", f"{one}:{tmp_path / 'many'}")
    assert folders()[-2:] == [one, two]
    rendered = _folder(tmp_path / "many" / "three", "tier: rendered\nexpect: {title: A}", html="<p>x")
    assert folders()[-2:] == [one, two]
    assert folders("rendered")[-1] == rendered


def test_words_do_not_hang_on_spaces() -> None:
    """Han, kana and Thai count by the character, the rest by the word."""
    assert words("東京 tower") == words("東 京 Tower")
    assert sum(words("สวัสดี").values()) == 6
    assert sum(words("서울 시청").values()) == 2


def test_markdown_is_compared_as_rendered() -> None:
    """Marks may differ, meaning may not."""
    assert outline("* a\n* b") == outline("- a\n\n- b")
    assert outline("a  \nb") == outline("a\\\nb")
    assert outline("* a\n* b") != outline("a\n\nb")
    assert outline("\\*a\\*") != outline("*a*")
