"""One line of text with its inline tags, as Markdown that CommonMark reads the same way.

`**` beside a letter opens or closes nothing where punctuation stands on its inner side (CommonMark 6.2):
`**“인용”**이` renders its asterisks. Such emphasis becomes `<strong>`, `<em>` or `<del>`, which every reader of
Markdown takes; so does emphasis right behind other emphasis. Code right behind code becomes `<code>`.
"""

from __future__ import annotations

import re
from html import escape as html_escape
from unicodedata import category

from lxml.etree import _Element as HtmlElement

from service.extraction.escape import destination, escape, formula

INLINE = frozenset("a strong em code kbd samp del sub sup mark q ruby rt rp br img input".split())
"""The tags that stand in a line of a clean tree."""

_MARKS = {"strong": "**", "em": "*", "del": "~~"}
_TAGS = frozenset("sub sup mark ruby rt rp".split())
_CODE = frozenset("code kbd samp".split())
_TICKS = re.compile(r"`+")
_WORDS = re.compile(r"\w")
_NOTES = re.compile(r"(?:\[\^[^\]\s]+\]|[\s,;–-])+$")

TEXT, OPEN, CLOSE, ATOM = range(4)


class Line:
    """Text and inline tags in the order of the tree, then `written` as Markdown; `line_break` is a `<br>`."""

    def __init__(self) -> None:
        self.line_break = "\\\n"
        self._kinds: list[int] = []
        self._texts: list[str] = []
        self._partner: dict[int, int] = {}
        self._open: list[int] = []
        self._code: list[str] | None = None
        self._codes = 0
        self._skipped = 0

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def text(self, text: str | None) -> None:
        """Add a run of text, as it stands in the tree."""
        if not text or self._skipped:
            return
        if self._code is not None:
            self._code.append(text)
        else:
            self._add(TEXT, escape(text))

    def raw(self, markdown: str) -> None:
        """Add what is Markdown already."""
        self._add(ATOM, markdown)

    def open(self, element: HtmlElement) -> None:
        """An inline element begins."""
        tag = element.tag
        if self._skipped or element.get("class") in ("footnote-ref", "footnote-label"):
            if not self._skipped and element.get("class") == "footnote-ref":
                self._bracket()
                self._add(ATOM, f"[^{''.join(element.itertext())}]")
            self._skipped += 1
        elif tag == "br":
            self._interrupt(self.line_break)
        elif tag == "img":
            alt = escape(element.get("alt") or "")
            self._interrupt(f"![{alt}]({destination(element.get('src'))})")
        elif tag == "input":
            self._add(ATOM, "[x]" if element.get("checked") is not None else "[ ]")
        elif tag in _CODE:
            self._codes += 1
            if self._code is None:
                self._code = []
        elif tag == "a":
            self._end_code()
            self._bracket()
            self._open.append(len(self._kinds))
            self._add(ATOM, "[")
        elif self._code is None and (tag in _MARKS or tag in _TAGS):
            self._open.append(len(self._kinds))
            self._add(OPEN if tag in _MARKS else ATOM, tag if tag in _MARKS else f"<{tag}>")

    def close(self, element: HtmlElement) -> None:
        """An inline element ends."""
        tag = element.tag
        if self._skipped:
            self._skipped -= 1
        elif tag in _CODE:
            self._codes -= 1
            if not self._codes:
                code = "".join(self._code or ())
                self._code = None
                if "language-math" in (element.get("class") or ""):
                    self._add(ATOM, formula(code, "display" in element.get("class")) or _code(code))
                else:
                    self._add_code(code)
        elif tag == "a":
            self._end_code()
            start = self._open.pop()
            if any(text.strip() for text in self._texts[start + 1 :]):
                title = (element.get("title") or "").replace("\\", "").replace('"', "'")
                self._add(ATOM, f"]({destination(element.get('href'))}" + (f' "{title}")' if title else ")"))
            else:
                self._texts[start] = ""
        elif self._code is None and (tag in _MARKS or tag in _TAGS):
            start = self._open.pop()
            inside = "".join(self._texts[start + 1 :]) if tag in _TAGS else ""
            if tag == "sup" and inside and _NOTES.match(inside):
                self._texts[start] = ""  # a footnote's mark is raised by what renders it
                self._bracket(start)
            elif tag in _TAGS:
                self._add(ATOM, f"</{tag}>")
            elif not any(self._texts[i].strip() for i in range(start + 1, len(self._kinds))):
                self._kinds[start], self._texts[start] = ATOM, ""
            else:
                self._partner[start] = len(self._kinds)
                self._add(CLOSE, tag)

    def written(self) -> str:
        """The line as Markdown; the line is empty again."""
        self._mark()
        markdown = "".join(self._texts)
        self._kinds, self._texts, self._open, self._partner = [], [], [], {}
        return markdown

    def _add(self, kind: int, text: str) -> None:
        self._kinds.append(kind)
        self._texts.append(text)

    def _bracket(self, at: int | None = None) -> None:
        """A bracket follows, at the end or there: behind a `!` it would begin an image."""
        before = (len(self._kinds) if at is None else at) - 1
        while before >= 0 and not self._texts[before]:
            before -= 1
        if before >= 0 and self._kinds[before] == TEXT and self._texts[before].endswith("!"):
            self._texts[before] = self._texts[before][:-1] + "\\!"

    def _interrupt(self, markdown: str) -> None:
        self._end_code()
        self._add(ATOM, markdown)

    def _end_code(self) -> None:
        """Close a code span before what it cannot hold; more code opens another."""
        if self._code is not None:
            self._add_code("".join(self._code))
            self._code = []

    def _add_code(self, code: str) -> None:
        if not code:
            return
        if not code.strip():
            self._add(TEXT, code)
        elif self._texts and self._texts[-1].endswith("`") and self._kinds[-1] == ATOM:
            self._add(ATOM, f"<code>{escape(code)}</code>")
        else:
            self._add(ATOM, _code(code))

    def _mark(self) -> None:
        """Turn the ends of emphasis into marks, or into tags where marks would not be read as such."""
        if not self._partner:
            return
        kinds, texts = self._kinds, self._texts
        nested = self._nested()
        tagged: set[int] = set()
        changed, rounds = True, 0
        while changed:
            changed, rounds = False, rounds + 1
            for start, end in self._partner.items():
                if start not in tagged and (rounds > 4 or not self._flanks(start, end, tagged, start in nested)):
                    tagged |= {start, end}
                    changed = True
        for ends in self._partner.items():
            for i in ends:
                slash = "/" if kinds[i] == CLOSE else ""
                texts[i] = f"<{slash}{texts[i]}>" if i in tagged else _MARKS[texts[i]]

    def _nested(self) -> set[int]:
        """Where bold or italic begins that stands in the other, or has the other in it."""
        found: set[int] = set()
        around: list[int] = []
        for i, kind in enumerate(self._kinds):
            if kind in (OPEN, CLOSE) and self._texts[i] == "del":
                continue
            if kind == OPEN:
                if around:
                    found |= {around[-1], i}
                around.append(i)
            elif kind == CLOSE:
                around.pop()
        return found

    def _flanks(self, start: int, end: int, tagged: set[int], nested: bool) -> bool:
        """Whether marks at `start` and `end` open and close, and where emphasis nests, each only one of it."""
        before, first = self._char(start, -1, tagged), self._char(start, 1, tagged)
        last, after = self._char(end, -1, tagged), self._char(end, 1, tagged)
        if before == "\0" or not _opens(before, first) or not _opens(after, last):
            return False
        if self._texts[start] == "del" and "~" in (before, first, last, after):  # of the text: one run with the marks
            return False
        return not nested or not (_opens(first, before) or _opens(last, after))

    def _char(self, i: int, step: int, tagged: set[int]) -> str:
        """The character before or behind the run of marks at `i`; NUL where a mark closes right before one opens."""
        kind, family = self._kinds[i], self._texts[i] == "del"
        while 0 <= (i := i + step) < len(self._kinds):
            if self._kinds[i] in (OPEN, CLOSE):
                if i in tagged:
                    return "<"
                if (self._texts[i] == "del") != family:
                    return "*" if family else "~"
                if self._kinds[i] != kind and kind == OPEN and step < 0:
                    return "\0"
            elif self._texts[i]:
                return self._texts[i][0 if step > 0 else -1]
        return " "


def _opens(outer: str, inner: str) -> bool:
    """Whether a run of marks between these characters is left-flanking (mirrored: right-flanking)."""
    if inner.isspace() or not inner:
        return False
    if inner.isalnum():
        return True
    if category(inner)[0] not in "PS":
        return True
    # Versions of CommonMark differ in whether a symbol counts as punctuation (0.31: it does).
    return outer.isspace() or category(outer)[0] == "P" or outer in "$+<=>^`|~"


def _code(code: str) -> str:
    longest = max(map(len, _TICKS.findall(code)), default=0)
    mark = "`" * (longest + 1) if longest else "`"
    # CommonMark 6.1 takes one space from both sides, where both have one.
    pad = " " if code[0] == "`" or code[-1] == "`" or (code[0] == " " and code[-1] == " ") else ""
    return f"{mark}{pad}{code}{pad}{mark}"


def tag_of(element: HtmlElement) -> str:
    """The start tag of a list inside a cell, as HTML."""
    start = element.get("start") or element.get("value")
    name = "start" if element.tag == "ol" else "value"
    return f'<{element.tag} {name}="{html_escape(start)}">' if start else f"<{element.tag}>"
