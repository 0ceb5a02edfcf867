"""Plain text as Markdown that renders as it stands: escaped where CommonMark or GFM would read mark-up, nowhere else.

TeX between dollars, or in `\\(…\\)` and `\\[…\\]`, is left alone.
"""

from __future__ import annotations

import re
from html.entities import html5
from urllib.parse import quote

# A text without any of these needs no escape inside a line.
_ANY = re.compile(r"[\\`*_\[\]<&~$]")
_SPECIAL = re.compile(
    r"[`\[\]]|\*+|_+|~+|\\(?=[!-/:-@\[-`{-~]|$)|<(?=[a-zA-Z/!?]|[\w.!#$%&'*+/=?^`{|}~-]+@)|&(?=#\d|#[xX][\da-fA-F]|([a-zA-Z]\w{0,31};))"
)
# Bounded: an opening that is never closed must not make the search quadratic.
_TEX = re.compile(
    r"(\$\$(?:(?!\$\$).){1,500}\$\$|\\\((?:(?!\\[()]).){1,500}\\\)|\\\[(?:(?!\\[\[\]]).){1,500}\\\]"
    r"|(?<![\w$\\])\$(?![\s$])(?=[^$\\^_{]{0,200}[\\^_{])[^$]{1,400}+(?<![\s\\])\$(?![\w$]))",
    re.S,
)
# What a renderer would run or follow is no TeX, whatever stands around it.
_LIVE = re.compile(r"<[a-zA-Z/!?]|\]\s*[(\[:]|&#?\w|`")
_START = re.compile(r"(#{1,6}|[-+*]|(\d{1,9})[.)])(?=[ \t]|$)|>|[:~](?=[ \t])")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = re.compile(r"=+[ \t]*$|[ \t|:-]*-[ \t|:-]*$")  # under a line: a heading of it, or the head of a table
_CLOSING = re.compile(r"(?:^|(?<=[ \t]))#(?=#*$)")
_UNSAFE = re.compile(r"[\s()<>\\]")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")


def escape(text: str) -> str:
    """A run of text inside a line."""
    if not _ANY.search(text):
        return text
    if "$" not in text and "\\" not in text:
        return _escape(text)
    pieces = _TEX.split(text)
    for number, piece in enumerate(pieces):
        if number % 2 and not _LIVE.search(piece):
            pieces[number] = _dollars(piece)
        else:
            pieces[number] = _escape(piece)
    return "".join(pieces)


def _escape(text: str) -> str:
    tildes = text.count("~")
    return _SPECIAL.sub(lambda found: _replacement(found, tildes), text)


def _replacement(found: re.Match[str], tildes: int) -> str:
    """Escaped only where CommonMark would read a mark-up (2.4, 2.5, 6.2, 6.6).

    A `*` between spaces, a `_` inside a word, a `<` before a space and a backslash before a letter mean themselves.
    """
    run = found.group()
    sign = run[0]
    if sign in "*_~":
        text, start, end = found.string, found.start(), found.end()
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        if before.isspace() and (after.isspace() or (sign == "~" and not after)):
            return run
        if sign == "_" and before.isalnum() and after.isalnum():
            return run
        if sign == "~" and tildes == 1:  # GFM strikes between single ones too
            return run
        return f"\\{sign}" * len(run)
    if sign == "&" and found.group(1) and found.group(1) not in html5:
        return run
    return f"\\{run}"


def formula(source: str, display: bool) -> str | None:
    """A formula between dollars, or None where it holds what a renderer would run."""
    source = source.replace("\n", " ").strip()
    if not source or _LIVE.search(source) or "$" in source:
        return None
    return f"$${source}$$" if display else f"${source}$"


def _dollars(piece: str) -> str:
    if piece.startswith("$"):
        return piece
    return formula(piece[2:-2], piece.startswith("\\[")) or _escape(piece)


def guarded(markdown: str) -> str:
    """The lines of a paragraph, each escaped at its start where a block would begin there, or a table's head."""
    if "\n" not in markdown:
        return _guard(markdown, first=True)
    lines = markdown.split("\n")
    return "\n".join(_guard(line, first=number == 0) for number, line in enumerate(lines))


def _guard(line: str, first: bool) -> str:
    found = _START.match(line)
    if found is not None:
        number = found.group(2)
        if number is None:
            return "\\" + line
        return line if not first and int(number) != 1 else f"{number}\\{line[len(number) :]}"
    if _RULE.match(line):
        return "\\" + line
    if not first and _UNDERLINE.match(line.removesuffix("\\")):
        return f"\\{line}"
    return line


def heading(markdown: str) -> str:
    """A heading's line; a `#` at its end would be read as its closing."""
    return _CLOSING.sub(r"\\#", markdown) if markdown.endswith("#") else markdown


def destination(address: str) -> str:
    """A link's address, with what would end it percent-encoded."""
    if _UNSAFE.search(address):
        address = quote(address, safe="%/:=&?~#+!$,;'@*[]|^{}\"`")
    return _ENTITY.sub("&amp;", address) if "&" in address else address


def escape_line(text: str) -> str:
    """Plain text as one line of Markdown that renders as it stands."""
    return escape(" ".join(text.split()))


def titled(title: str | None, markdown: str) -> str:
    """Markdown under its title as a heading, unless it begins with that heading."""
    if not title:
        return markdown
    first = markdown.partition("\n")[0]
    if first.startswith("# ") and first[2:].strip() in (title, escape_line(title)):
        return markdown
    return f"# {heading(escape_line(title))}\n\n{markdown}"
