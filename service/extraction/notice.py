"""Whether a body is none: only a notice that scripts are needed or running, consent text, or the page's own title.

The phrases stand in `notice.yaml`. A notice beside prose of the page's own is part of an honest page;
a page whose title names what a notice is about, is about it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from lxml.etree import _Element as HtmlElement

from service.extraction.dom import text_lines, visible_chars
from service.extraction.facts import Facts
from service.extraction.metadata import MAX_TITLE_CHARS, site_of, title_of
from service.extraction.phrases import fold, is_quoted, size

NOTICE_CHARS = 800
"""Visible characters beyond which a body is no notice. On the boards the longest cookie banner of one paragraph has
571, blanks included, the longest notice in `<noscript>` 249: either fits beside a heading and a second paragraph."""

PROSE_SHARE = 0.5
"""Share of `min_body_chars` from which one sentence is prose of the page's own: from there a description is a body."""

LOADING_CHARS = 30
"""Letters up to which a line that ends in an ellipsis may say what is loading; the longest on the boards has 23."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")
_NOT_WORD = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_SPELT = re.compile(r"java[ -]script")
_SPELT_KO = re.compile(r"자바 스크립트")


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("notice.yaml").read_text(encoding="utf-8"))
    return data


@cache
def _pattern(kind: str, part: str) -> re.Pattern[str]:
    found = _data()[kind][part]
    return re.compile("|".join(found if isinstance(found, list) else [p for group in found.values() for p in group]))


@cache
def _loading() -> tuple[str, ...]:
    return tuple(_key(text) for group in _data()["loading"]["sentences"].values() for text in group)


def names_of(facts: Facts, url: str | None) -> frozenset[str]:
    """What a page calls itself and its site, as `notice_of` compares it. A heading alone is no name but text."""
    site = site_of(facts, url)
    declared = [facts.title, *(facts.meta.get(name, "") for name in ("og:title", "twitter:title"))]
    title = title_of(facts, site, url) or ""
    if any(_key(title) in _key(text) for text in declared):
        declared.append(title)
    return frozenset(key for text in (*declared, site or "") if (key := _key(text)))


def notice_of(body: HtmlElement, title: str, names: frozenset[str], least: int) -> str | None:
    """What makes a body none, as a failure's reason; None when it has prose of its own, or no notice.

    `least` is `min_body_chars`: a body whose own text is shorter, and has no sentence of half of it, is none.
    """
    if visible_chars(body) > NOTICE_CHARS:
        return None
    subjects = {kind: _subjects(kind, title) for kind in ("script", "consent")}
    found: dict[str, str] = {}
    titled = False
    rest: list[str] = []
    for line in text_lines(body):
        if _key(line) in names:
            titled = True
            continue
        for sentence in _SENTENCE.split(line):
            told = _told(sentence, subjects)
            if told is not None:
                found.setdefault(*told)
            elif _key(sentence):
                rest.append(sentence)
    company = [(kind, subjects[kind]) for kind in found if kind in subjects]
    own = [text for text in rest if not any(_match(kind, "beside", _spelt(text), words) for kind, words in company)]
    if not found:  # nothing but the title, to the letter: a page may say little beneath a long title
        return "title only" if titled and not own else None
    if any(size(text) >= PROSE_SHARE * least for text in own) or sum(len("".join(t.split())) for t in own) >= least:
        return None
    kind = min(found, key=("script", "consent", "loading").index)
    return f"{kind} notice: {found[kind]}"


def _told(sentence: str, subjects: dict[str, list[str]]) -> tuple[str, str] | None:
    """The kind of notice that a sentence is, and the words that say so."""
    text = _spelt(sentence)
    for kind, words in subjects.items():
        match = _match(kind, "phrases", text, words)
        if match is not None and not is_quoted(text, match):
            return kind, match.group(0).strip(" ,.")
    key, known = _DIGITS.sub("", _key(text)), _loading()
    if key in known:
        return "loading", text.strip(" .…")
    if text.endswith(("…", "...")) and size(text) <= LOADING_CHARS and (key.startswith(known) or key.endswith(known)):
        return "loading", text.strip(" .…")
    return None


def _match(kind: str, part: str, text: str, subjects: list[str]) -> re.Match[str] | None:
    """The first match that names none of the page's own subjects."""
    return next((m for m in _pattern(kind, part).finditer(text) if not any(s in m.group(0) for s in subjects)), None)


def _subjects(kind: str, title: str) -> list[str]:
    """What a title names of such a notice's things, unless it is itself one ("JavaScript is disabled")."""
    text, data = _spelt(title[:MAX_TITLE_CHARS]), _data()[kind]
    return [] if text.strip(" .!") in data["titles"] else [word for word in data["subject"] if word in text]


def _spelt(text: str) -> str:
    return _SPELT_KO.sub("자바스크립트", _SPELT.sub("javascript", fold(text)))


def _key(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()
