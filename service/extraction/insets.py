"""What stands in a line as one piece: formulas, images, players, the boxes of tasks, footnotes and their marks."""

from __future__ import annotations

from lxml.etree import _Element as HtmlElement

from service.extraction import footnotes, formulas
from service.extraction.builder import PHRASING, Builder
from service.extraction.images import image_source, is_copy
from service.extraction.letters import SPACES
from service.extraction.urls import resolve, resolve_web
from service.page import Media

MAX_TITLE_CHARS = 200
"""Characters of a player's title that its link keeps."""

PLAYERS = {"video": "▶", "audio": "♪", "iframe": "▶"}
"""What a player is in the text: a sign to follow, no word that the page does not have."""


class Insets(Builder):
    """A builder that can write each of them where it stands."""

    def __init__(self, base: str | None, notes: footnotes.Notes) -> None:
        super().__init__()
        self.base = base
        self.media: list[Media] = []
        self._notes = notes
        self._seen: set[str] = set()  # addresses of images and players that are written
        self._task_due = ""
        self._last_formula = ""
        self._note_sign = ""

    def text(self, text: str | None) -> None:
        """Write text; what is left of a note's links back is none."""
        if self._note_sign and text and text.strip():
            text = footnotes.without_mark(text, self._note_sign)
            if text:
                self._note_sign = ""
        if self._task_due and text and text.strip():
            self._task()
        super().text(text)

    def _formula(self, source: str, display: bool = False) -> None:
        """A formula, once: what draws it again is left out."""
        source = SPACES.sub(" ", source).strip()
        if not source:
            return
        self._last_formula = source
        self._atom("code", {"class": "language-math display" if display else "language-math"}, source)

    def _atom(self, tag: str, attributes: dict[str, str], text: str) -> None:
        """An inline element with nothing but text, inside what is open."""
        self._ready()
        if self.space:
            self._append(" ")
            self.space = False
        target = self.opened[-1] if self.opened else self.stack[-1]
        self._add(target, tag, attributes).text = text or None
        self._last = text[-1:]

    def _note_mark(self, element: HtmlElement) -> None:
        """Write the mark of a footnote."""
        href = resolve(self.base, element.get("href")) or element.get("href")
        if self._spend(len(href)):
            label = self._notes.marks[element]
            self._last = ""
            self._atom("a", {"class": "footnote-ref", "href": href}, label)

    def _note(self, element: HtmlElement) -> int:
        """Open a footnote; how deep it is."""
        self.boundary()
        depth = len(self.stack)
        block = self._push("div")
        label = self._notes.notes[element]
        block.attrib.update({"class": "footnote", "id": self._notes.ids[element], "data-label": label})
        self._atom("sup", {"class": "footnote-label"}, label)
        self.space = True
        self._note_sign = self._notes.signs[element]
        return depth

    def _task(self) -> None:
        """Write the box of a task before its first word."""
        checked = {"checked": ""} if self._task_due == "x" else {}
        self._task_due = ""
        if self._container().tag == "li":
            self._atom("input", {"type": "checkbox", "disabled": ""} | checked, "")
            self.space = True

    def _image(self, element: HtmlElement) -> None:
        if (source := formulas.tex_of_image(element)) is not None:
            if SPACES.sub(" ", source).strip() != self._last_formula:
                self._formula(source)
            return
        source = image_source(element, self.base)
        if source is None or source in self._seen or not self._spend(len(source)):
            return
        self._seen.add(source)
        alt = SPACES.sub(" ", element.get("alt") or "").strip()
        self._atom("img", {"src": source, "alt": alt}, "")

    def _is_seen(self, noscript: HtmlElement) -> bool:
        """Whether a `noscript` repeats an image that stands beside it."""
        if not is_copy(noscript):
            return False
        before = noscript.getprevious()
        for image in before.iter("img") if before is not None else ():
            if image_source(image, self.base) in self._seen:
                return True
        return False

    def _media(self, element: HtmlElement) -> None:
        tag = element.tag
        source = resolve_web(self.base, element.get("src") or element.get("data-src"))
        if source is None and tag != "iframe":
            nested = next((child.get("src") for child in element.iter("source") if child.get("src")), None)
            source = resolve_web(self.base, nested)
        if source is None or (tag == "iframe" and (element.get("height") or "") in ("0", "1")):
            return
        self.media.append(Media(source, "embed" if tag == "iframe" else tag))
        if source in self._seen or not self._spend(len(source)) or any(tag == "a" for tag, _ in self.wanted):
            return
        self._seen.add(source)
        if self.stack[-1].tag not in PHRASING or self._has_content(self.stack[-1]):
            self.boundary()
        title = SPACES.sub(" ", element.get("title") or element.get("aria-label") or "").strip()[:MAX_TITLE_CHARS]
        self._atom("a", {"class": "media", "href": source} | ({"title": title} if title else {}), PLAYERS[tag])
        self.boundary()
