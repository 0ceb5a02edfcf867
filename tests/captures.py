"""Captured pages and the answers a careful reader wants from them.

A capture is a folder with one `page.*` file and an `expect.yaml`; `captures/README.md` describes the
format. `load` reads one and names what is wrong with it, `compare` and `compare_failure` say in plain
sentences how an answer differs from what was expected. A capture of the render tier (`tier: rendered`)
also has the files its page loads. `BONMUN_CAPTURES` names further folders of captures (separated like
PATH), so that an operator's own pages run with the project's.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from service.failures import ALL, Failure
from service.page import Page

ROOT = Path(__file__).resolve().parent.parent / "captures"
ENVIRONMENT = "BONMUN_CAPTURES"
RECALL = 0.95
PRECISION = 0.90

_TOP = {"shape", "url", "content_type", "status", "expect"}
_TOP_RENDERED = {"shape", "tier", "url", "delay", "wait_for", "static", "expect"}
_EXACT = ("title", "kind", "source", "site", "hero_image_url")
_EXPECT = {
    *_EXACT,
    *("body", "body_file", "recall", "precision", "contains", "absent"),
    *("markdown", "markdown_contains", "markdown_absent", "failure", "reason"),
}
_NOT_SERVED = {"expect.yaml", "body.txt"}
_CODES = {kind.code for kind in ALL}
_RENDERED = re.compile(r"^tier: *rendered *$", re.M)
_KINDS = {"article", "social", "feed", "forum", "product", "documentation", "page"}

# Scripts written without spaces count by the character: Thai to Myanmar, Khmer, kana, Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


Tier = Literal["static", "rendered"]


class CaptureError(ValueError):
    """A capture folder that does not follow the format; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the answer must be. `exact` holds only the fields that were given, None where null was."""

    exact: Mapping[str, str | None] = field(default_factory=dict)
    body: str | None = None
    recall: float = RECALL
    precision: float = PRECISION
    contains: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    markdown: str | None = None
    markdown_contains: tuple[str, ...] = ()
    markdown_absent: tuple[str, ...] = ()
    failure: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """One captured page: its bytes, what the origin said of them, and the expected answer."""

    name: str
    page: bytes
    expected: Expected
    shape: str = ""
    url: str | None = None
    content_type: str | None = None
    status: int = 200
    tier: Tier = "static"
    wait_for: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What the page of a rendered capture loads, by path below its folder; the page is among it."""
    delay: Mapping[str, float] = field(default_factory=dict)
    """Seconds after which the origin answers with a file."""
    static: str = "EXTRACT_FAILED"
    """The failure that the page of a rendered capture is without a browser."""


def folders(tier: Tier = "static") -> list[Path]:
    """Every capture folder of a tier: the project's, then those under the folders `BONMUN_CAPTURES` names.

    A folder there may be a capture itself or hold captures.
    """
    return [folder for folder in _folders() if tier_of(folder) == tier]


def tier_of(folder: Path) -> Tier:
    """The tier that a capture is of, as its `expect.yaml` says; static where that cannot be read."""
    path = folder / "expect.yaml"
    return "rendered" if path.is_file() and _RENDERED.search(path.read_text(encoding="utf-8")) else "static"


def _folders() -> list[Path]:
    found = _captures_in(ROOT)
    for name in filter(None, os.environ.get(ENVIRONMENT, "").split(os.pathsep)):
        extra = Path(name).expanduser()
        if not extra.is_dir():
            raise CaptureError(f"{ENVIRONMENT}: {extra} is not a folder")
        found += [extra] if (extra / "expect.yaml").exists() else _captures_in(extra)
    return found


def _captures_in(root: Path) -> list[Path]:
    return sorted(child for child in root.iterdir() if child.is_dir() and not child.name.startswith("."))


def load(folder: Path) -> Capture:
    """Read a capture folder, or raise `CaptureError` with what is wrong and where."""
    path = folder / "expect.yaml"
    if not path.is_file():
        raise CaptureError(f"{path}: missing")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise CaptureError(f"{path}: not YAML: {error}") from error
    rendered = tier_of(folder) == "rendered"
    top = _mapping(data, _TOP_RENDERED if rendered else _TOP, path, "the file")
    pages = sorted(folder.glob("page.*"))
    if len(pages) != 1:
        raise CaptureError(f"{folder}: wants exactly one page.* file, has {len(pages)}")
    status = top.get("status", 200)
    if not isinstance(status, int) or not 100 <= status <= 599:
        raise CaptureError(f"{path}: status must be an HTTP status, is {status!r}")
    return Capture(
        name=folder.name,
        page=pages[0].read_bytes(),
        expected=_expected(top.get("expect"), folder, path),
        shape=_text(top, "shape", path) or "",
        url=_text(top, "url", path),
        content_type=_text(top, "content_type", path),
        status=status,
        **(_rendered(top, folder, path) if rendered else {}),
    )


def _rendered(top: Mapping[str, Any], folder: Path, path: Path) -> dict[str, Any]:
    files = {
        child.relative_to(folder).as_posix(): child.read_bytes()
        for child in sorted(folder.rglob("*"))
        if child.is_file() and child.relative_to(folder).as_posix() not in _NOT_SERVED
    }
    if "page.html" not in files:
        raise CaptureError(f"{folder}: the page of a rendered capture is page.html")
    delay = top.get("delay", {})
    if not isinstance(delay, dict) or not all(isinstance(seconds, int | float) for seconds in delay.values()):
        raise CaptureError(f"{path}: delay must give seconds by file")
    if missing := set(delay) - set(files):
        raise CaptureError(f"{path}: delay names {', '.join(sorted(map(str, missing)))}, which is missing")
    static = top.get("static", "EXTRACT_FAILED")
    if static not in _CODES:
        raise CaptureError(f"{path}: static must be one of {', '.join(sorted(_CODES))}")
    wait_for = _text(top, "wait_for", path)
    return {"tier": "rendered", "wait_for": wait_for, "files": files, "delay": delay, "static": static}


def _expected(data: object, folder: Path, path: Path) -> Expected:
    given = _mapping(data, _EXPECT, path, "expect")
    if "failure" in given:
        if given["failure"] not in _CODES:
            raise CaptureError(f"{path}: failure must be one of {', '.join(sorted(_CODES))}")
        if others := set(given) - {"failure", "reason"}:
            raise CaptureError(f"{path}: a failure has no {', '.join(sorted(others))}")
        return Expected(failure=given["failure"], reason=_text(given, "reason", path))
    if "reason" in given:
        raise CaptureError(f"{path}: reason belongs to a failure")
    if "kind" in given and given["kind"] not in _KINDS:
        raise CaptureError(f"{path}: kind must be one of {', '.join(sorted(_KINDS))}")
    body = _text(given, "body", path)
    if (name := _text(given, "body_file", path)) is not None:
        if body is not None:
            raise CaptureError(f"{path}: give body or body_file, not both")
        if not (folder / name).is_file():
            raise CaptureError(f"{path}: body_file {name} is missing")
        body = (folder / name).read_text(encoding="utf-8")
    return Expected(
        exact={key: _text(given, key, path) for key in _EXACT if key in given},
        body=body,
        recall=_share(given, "recall", RECALL, path),
        precision=_share(given, "precision", PRECISION, path),
        contains=_texts(given, "contains", path),
        absent=_texts(given, "absent", path),
        markdown=_text(given, "markdown", path),
        markdown_contains=_texts(given, "markdown_contains", path),
        markdown_absent=_texts(given, "markdown_absent", path),
    )


def _mapping(data: object, allowed: set[str], path: Path, where: str) -> dict[str, Any]:
    if not isinstance(data, dict) or not data:
        raise CaptureError(f"{path}: {where} must be a mapping")
    if unknown := {str(key) for key in data} - allowed:
        raise CaptureError(f"{path}: {where} has unknown keys {', '.join(sorted(unknown))}")
    return data


def _text(data: Mapping[str, Any], key: str, path: Path) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise CaptureError(f"{path}: {key} must be text (quote it), is {value!r}")
    return value


def _texts(data: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise CaptureError(f"{path}: {key} must be a list of texts (quote each)")
    return tuple(value)


def _share(data: Mapping[str, Any], key: str, default: float, path: Path) -> float:
    value = data.get(key, default)
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise CaptureError(f"{path}: {key} must lie between 0 and 1, is {value!r}")
    return float(value)


def words(text: str) -> Counter[str]:
    """Words of a text, case folded; single characters in scripts that are written without spaces."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def recall_and_precision(body: str, text: str) -> tuple[float, float]:
    """Shares of the body's words that the text has, and of the text's words that the body has."""
    wanted, got = words(body), words(text)
    common = (wanted & got).total()
    return common / max(wanted.total(), 1), common / max(got.total(), 1)


def compare(capture: Capture, page: Page) -> list[str]:
    """How a page differs from what the capture expects: one sentence for each difference."""
    expected = capture.expected
    if expected.failure is not None:
        return [f"expected {expected.failure}, got a page of {len(page.text)} characters: {_cut(page.text)}"]
    wrong = [
        f"{name}: expected {wanted!r}, got {getattr(page, name)!r}"
        for name, wanted in expected.exact.items()
        if getattr(page, name) != wanted
    ]
    if expected.body is not None:
        recall, precision = recall_and_precision(expected.body, page.text)
        if recall < expected.recall:
            missing = words(expected.body) - words(page.text)
            wrong.append(f"recall {recall:.3f} under {expected.recall}; missing: {_some(missing)}")
        if precision < expected.precision:
            surplus = words(page.text) - words(expected.body)
            wrong.append(f"precision {precision:.3f} under {expected.precision}; surplus: {_some(surplus)}")
    text, markdown = _flat(page.text), page.markdown
    wrong += [f"text lacks {part!r}" for part in expected.contains if _flat(part) not in text]
    wrong += [f"text holds {part!r}" for part in expected.absent if _flat(part) in text]
    wrong += [f"Markdown lacks {part!r}" for part in expected.markdown_contains if part not in markdown]
    wrong += [f"Markdown holds {part!r}" for part in expected.markdown_absent if part in markdown]
    if expected.markdown is not None and outline(expected.markdown) != outline(markdown):
        wrong.append(f"Markdown: expected\n{expected.markdown}\n--- got\n{markdown}")
    return wrong


def compare_failure(capture: Capture, failure: Failure) -> list[str]:
    """How a failure differs from what the capture expects."""
    expected = capture.expected
    if failure.code != expected.failure:
        return [f"expected {expected.failure or 'a page'}, got {failure.code}: {failure.message} ({failure.reason})"]
    if expected.reason and expected.reason not in (failure.reason or ""):
        return [f"reason: expected {expected.reason!r} in it, got {failure.reason!r}"]
    return []


_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def outline(markdown: str) -> list[str]:
    """Say what a Markdown text says, a line for each token, whatever marks it says it with.

    `*` and `-` bullets, tight and loose lists, escapes that were not needed and ways to break a line
    come out the same; a lost bullet, a squashed word or an unescaped mark does not.
    """
    lines: list[str] = []
    for token in _MARKDOWN.parse(markdown):
        if token.type == "inline":
            lines.append(_inline(token.children or []))
        elif token.type in ("fence", "code_block", "html_block"):
            lines.append(f"{'code' if token.type != 'html_block' else 'html'} {token.info.strip()}\n{token.content}")
        elif not token.type.startswith("paragraph_"):
            lines.append(f"{token.type.removesuffix('_open')} {token.tag}")
    return lines


def _inline(tokens: list[Token]) -> str:
    out = ""
    for token in tokens:
        if token.type == "softbreak":
            out += " "
        elif token.type == "text":
            out += token.content
        elif token.type == "image":
            out += f"<img {token.attrs.get('src')} {token.content}>"
        else:
            href = f" {token.attrs['href']}" if "href" in token.attrs else ""
            out += f"<{token.type}{href} {token.content}>"
    return re.sub(r"[ \t]+", " ", out).strip()


def _flat(text: str) -> str:
    return " ".join(text.split())


def _some(counts: Counter[str]) -> str:
    return " ".join(word for word, _ in counts.most_common(25))


def _cut(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:200] + "…")
