"""Cases of Markdown in plain text: how the files of `markdown/` are read (its README shows one)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from service import Failure, extract
from service.extraction.clean import Clean, clean, prepare
from service.extraction.dom import parse
from service.extraction.escape import titled
from service.extraction.faces import to_html, to_text
from service.extraction.markdown import to_markdown
from service.extraction.noise import prune

ROOT = Path(__file__).parent / "markdown"
BASE = "https://a.test/dir/page"

_HEAD = re.compile(r"^@ (?P<name>.+)$", re.M)
_OPTION = re.compile(r"^(url|title|tables|encoding|type|status): (.*)$")
_CHARACTER = re.compile(r"\{U\+([0-9A-F]{4,6})\}")
_ARROW = "=>"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: HTML in, exact Markdown out."""

    name: str
    where: str
    html: str
    markdown: str
    options: dict[str, str]
    whole: bool
    """The HTML is a whole page: bytes in, `# title` and the body's Markdown, or a failure's code, out."""


@dataclass(frozen=True, slots=True)
class Faces:
    """A clean body as HTML, text and Markdown."""

    html: str
    text: str
    markdown: str


def read(path: Path) -> list[Case]:
    """The cases of a file; raises `ValueError` with the line of what is no case."""
    source = path.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(source))
    found = []
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        where = f"{path.name}:{source.count(chr(10), 0, head.start()) + 1}"
        lines = source[head.end() : after.start() if after else len(source)].strip("\n").split("\n")
        options = {}
        while lines and (option := _OPTION.match(lines[0])):
            options[option.group(1)] = option.group(2)
            lines.pop(0)
        if lines.count(_ARROW) != 1:
            raise ValueError(f"{where}: a case has one line of `=>` between its HTML and its Markdown")
        cut = lines.index(_ARROW)
        html, markdown = ("\n".join(part).strip("\n") for part in (lines[:cut], lines[cut + 1 :]))
        whole = html.lstrip().lower().startswith(("<!doctype", "<html"))
        found.append(Case(head["name"], where, _characters(html), _characters(markdown), options, whole))
    return found


def _characters(text: str) -> str:
    return _CHARACTER.sub(lambda found: chr(int(found.group(1), 16)), text)


def body(html: str, url: str | None = BASE) -> Clean:
    """The clean copy of a whole body, nothing chosen from it."""
    root = parse(f"<body>{html}</body>", max_nodes=250_000, max_depth=500)
    prepare(root)
    prune(root)
    return clean([root.find("body")], url)


def faces(html: str, *, url: str | None = BASE, title: str | None = None, tables: str = "markdown") -> Faces:
    """The three faces of a body."""
    chosen = body(html, url)
    if title:
        chosen.drop_title(title)
    written, text = to_html(chosen.root), to_text(chosen.root)
    return Faces(written, text, to_markdown(written, chosen.root, "html" if tables == "html" else "markdown"))


def answer(case: Case) -> str:
    """What the case's HTML comes to."""
    options = case.options
    url = options.get("url", BASE)
    if not case.whole:
        return faces(case.html, url=url, title=options.get("title"), tables=options.get("tables", "markdown")).markdown
    page = case.html.encode(options.get("encoding", "utf-8"))
    try:
        found = extract(page, url, options.get("type"), status=int(options.get("status", "200")))
    except Failure as failure:
        refresh = getattr(failure, "refresh", None)
        return f"{failure.code}{f' {refresh}' if refresh else ''}"
    return titled(found.title, found.markdown)
