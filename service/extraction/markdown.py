"""The clean tree as Markdown (CommonMark and GFM), by markdownify; and as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element as HtmlElement
from markdownify import ATX, MarkdownConverter

from service.extraction.soup import soup_of
from service.extraction.tables import make_rectangular
from service.page import Tables

# Escaped only where CommonMark would read a mark-up: emphasis, links, tags, code, entities, TeX left alone.
_SPECIAL = re.compile(r"([\\`*\[\]])|(?<!\w)(_)|(_)(?!\w)|(<)(?=[a-zA-Z/!?])|(&)(?=#?\w{1,31};)|(~)(?=~)")
_LINE_START = re.compile(r"^([ \t]*)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+\s*$|-{3,}\s*$|(\d{1,9})([.)])(?=\s|$))", re.M)
# Bounded: an opening that is never closed must not make the search quadratic.
_TEX = re.compile(
    r"(\$\$(?:(?!\$\$).){1,500}\$\$|\\\((?:(?!\\[()]).){1,500}\\\)|\\\[(?:(?!\\[\[\]]).){1,500}\\\])", re.S
)
# What a renderer would run or follow is no TeX, whatever stands around it.
_LIVE = re.compile(r"<[a-zA-Z/!?]|\]\s*[(\[:]|&#?\w")
_FENCE = re.compile(r"^[ \t]*(`{3,})", re.M)
_BLANK_LINES = re.compile(r"\n{3,}")
_LINES = frozenset(
    ("p h1 h2 h3 h4 h5 h6 li dt dd blockquote pre tr figcaption caption summary div ul ol dl table hr figure").split()
)
_LOOSE = frozenset(("p h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl table figure").split())


class Converter(MarkdownConverter):
    """markdownify with minimal escapes and code as it stands, over a tree built from the clean one."""

    def __init__(self) -> None:
        super().__init__(
            heading_style=ATX,
            autolinks=False,
            keep_inline_images_in=["td", "th", "a", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em"],
        )

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Escape what CommonMark would take for mark-up, TeX excepted."""
        pieces = _TEX.split(text)
        for number, piece in enumerate(pieces):
            if number % 2 == 0 or _LIVE.search(piece):
                pieces[number] = _escape(piece, parent_tags)
        return "".join(pieces)

    def convert_a(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A link; its address with what would end it percent-encoded."""
        if "_noformat" in parent_tags or not text.strip():
            return text
        prefix, suffix = _margins(text)
        return f"{prefix}[{text.strip()}]({_destination(el['href'])}){suffix}"

    def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """An image, kept in headings and cells too."""
        alt = _escape(el.get("alt") or "", {"_inline"}).replace("\n", " ")
        return f"![{alt}]({_destination(el['src'])})"

    def convert_br(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A line break: a tag inside cells, a space in headings, two spaces' worth elsewhere."""
        if parent_tags & {"td", "th"}:
            return "<br>"
        return " " if "_inline" in parent_tags else "\\\n"

    def convert_td(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A cell: pipes escaped, on one line."""
        return f" {_PIPE.sub(_BACKSLASH_PIPE, text.strip()).replace(chr(10), ' ')} |"

    convert_th = convert_td

    def convert_tr(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A row; the first is the head and brings the line under it (tables are rectangles by now)."""
        if el.previous_sibling is not None:
            return f"|{text}\n"
        return f"|{text}\n|{' --- |' * len(el.contents)}\n"

    def convert_table(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A GFM table, or the table's own HTML where that was asked for."""
        return f"\n\n{el.get('html') or text.strip()}\n\n"

    def convert_li(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """An item under its bullet or number (its `value`, set beforehand: counting here is quadratic)."""
        text = text.strip("\n ")
        if not text:
            return "\n"
        bullet = f"{el['value']}. " if el.has_attr("value") else "- "
        indented = text.replace("\n", "\n" + " " * len(bullet))
        return f"{bullet}{_strip_blank(indented)}\n"

    def convert_code(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A code span, or a formula between dollars."""
        if el.get("class") == ["language-math"] and text.strip() and not _LIVE.search(text):
            return f"${text.strip()}$"
        return str(super().convert_code(el, text, parent_tags))  # type: ignore[misc]

    def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A fenced code block, the fence longer than any inside."""
        inner = el.contents[0] if el.contents else el
        code = "".join(str(part) for part in inner.contents)
        fence = max((len(run) for run in _FENCE.findall(code)), default=2) + 1
        name = (inner.get("class") or [""])[0]
        mark = "`" * max(3, fence)
        return f"\n\n{mark}{name.removeprefix('language-')}\n{code.strip(chr(10))}\n{mark}\n\n"

    def convert_sub(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """Sub- and superscripts, kept as HTML tags: GFM has none of its own."""
        return f"<{el.name}>{text}</{el.name}>" if text.strip() and "_noformat" not in parent_tags else text

    convert_sup = convert_mark = convert_ruby = convert_rt = convert_rp = convert_sub

    def convert_summary(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """The line of a `details` that is always shown."""
        return f"\n\n**{text.strip()}**\n\n" if text.strip() else ""

    def convert_q(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """A quotation; its marks are in the text already."""
        return text


_PIPE = re.compile(r"(?<!\\)\|")
_BACKSLASH_PIPE = r"\\|"


def escape_line(text: str) -> str:
    """Plain text as one line of Markdown that renders as it stands."""
    return _escape(" ".join(text.split()), {"_inline"})


def titled(title: str | None, markdown: str) -> str:
    """Markdown under its title as a heading, unless it begins with that heading."""
    if not title:
        return markdown
    first = markdown.partition("\n")[0]
    if first.startswith("# ") and first[2:].strip() in (title, escape_line(title)):
        return markdown
    return f"# {escape_line(title)}\n\n{markdown}"


def to_html(root: HtmlElement) -> str:
    """The content of the clean tree's root as HTML."""
    return (root.text or "") + "".join(etree.tostring(child, encoding="unicode", method="html") for child in root)


def to_text(root: HtmlElement) -> str:
    """Plain text: a line a block, an empty line between paragraphs, cells apart by a tab."""
    text = "".join(_pieces(root))
    return _BLANK_LINES.sub("\n\n", re.sub(r"(?<! ) +\n", "\n", text)).strip()


def _pieces(root: HtmlElement) -> Iterator[str]:
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            if tag in _LINES or tag == "br":
                yield "\n"
            elif tag in ("td", "th") and element.getprevious() is not None:
                yield "\t"
            if element.text:
                yield element.text
        else:
            if tag in _LOOSE:
                yield "\n\n"
            if element.tail and element is not root:
                yield element.tail


def to_markdown(html: str, root: HtmlElement, tables: Tables = "markdown") -> str:
    """The clean tree as Markdown. The tree is used up: its tables become rectangles, its items numbered."""
    if tables == "markdown" and "<table" in html:
        for table in list(root.iter("table")):
            make_rectangular(table)
    for ordered in root.iter("ol"):
        first = int(ordered.get("start") or 1)
        for number, item in enumerate((child for child in ordered if child.tag == "li"), first):
            item.set("value", str(number))
    converter = Converter()
    return str(converter.convert_soup(soup_of(root, tables))).strip()


def _escape(text: str, parent_tags: set[str]) -> str:
    text = _SPECIAL.sub(lambda found: "\\" + found.group(0), text)
    if parent_tags & {"td", "th"}:
        return text.replace("|", "\\|")
    if "_inline" in parent_tags:
        return text
    return _LINE_START.sub(_escape_start, text)


def _escape_start(found: re.Match[str]) -> str:
    if found.group(3):
        return f"{found.group(1)}{found.group(3)}\\{found.group(4)}"
    return f"{found.group(1)}\\{found.group(2)}"


def _destination(address: str) -> str:
    return quote(address, safe="%/:=&?~#+!$,;'@*[]") if re.search(r"[\s()<>]", address) else address


def _margins(text: str) -> tuple[str, str]:
    return " " * text[:1].isspace(), " " * text[-1:].isspace()


def _strip_blank(text: str) -> str:
    return re.sub(r"^[ ]+$", "", text, flags=re.M)
