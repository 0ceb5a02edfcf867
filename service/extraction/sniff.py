"""What a body really is, by its bytes first and its declared type second (after WHATWG MIME Sniffing)."""

from __future__ import annotations

import json
import re
from typing import Literal

from service.failures import UnsupportedContent

Form = Literal["html", "feed", "json", "markdown", "text"]
"""How a body is read."""

HEAD_BYTES = 1445
"""Length of the resource header that is looked at (MIME Sniffing, section 5.2)."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF document"),
    (b"%!PS-Adobe-", "a PostScript document"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"BM\x00\x00", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
    (b"\x00\x00\x01\x00", "an image"),
    (b"RIFF", "an image, sound or video"),
    (b"OggS", "sound or video"),
    (b"ID3", "sound"),
    (b"fLaC", "sound"),
    (b"\x1aE\xdf\xa3", "a video"),
    (b"PK\x03\x04", "an archive or office document"),
    (b"PK\x05\x06", "an archive"),
    (b"\x1f\x8b\x08", "an archive"),
    (b"BZh", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"\xfd7zXZ\x00", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x00asm", "a program"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
"""Signatures of what no body can be read from (MIME Sniffing, section 6; file format specifications)."""

# MIME Sniffing, section 3: bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BOM = re.compile(rb"^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)")
# Possessive and atomic: comments in a row must not be tried in every grouping.
_COMMENT = rb"<!--(?>.*?-->)\s*+|<\?(?>[^>]*>)\s*+"
_PROLOGUE = rb"^\s*+(?:" + _COMMENT + rb"|<!DOCTYPE\s++(?:rss|feed)(?>[^>]*>)\s*+)*+"
_FEED = re.compile(_PROLOGUE + rb"<(?:rss|feed|rdf:RDF)[\s>]", re.I | re.S)
_HTML = re.compile(
    rb"^\s*+(?:" + _COMMENT + rb")*+<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|"
    rb"title|b|br|p|meta|link|main|article|section|header|nav|ul|span)[\s>/]",
    re.I | re.S,
)
_JSON_TYPE = re.compile(r"(?:/|\+)json$")


def sniff(body: bytes, content_type: str | None = None) -> Form:
    """The form to read a body as. Raises `UnsupportedContent` for PDF, images, archives and other binary."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    head = body[:HEAD_BYTES]
    _refuse_binary(head, declared)
    if _FEED.match(head):
        return "feed"
    if _HTML.match(_BOM.sub(b"", head)):
        return "html"
    if _JSON_TYPE.search(declared) or (declared == "" and head.lstrip()[:1] in (b"{", b"[")):
        return _json_form(body)
    if declared in ("text/markdown", "text/x-markdown"):
        return "markdown"
    if declared in ("", "text/html", "application/xhtml+xml", "application/xml", "text/xml") or (
        b"<" in head and not (declared.startswith("text/"))
    ):
        return "html"
    return "text"


def _refuse_binary(head: bytes, declared: str) -> None:
    # A PDF may begin a little later, after a byte order mark or white space.
    what = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    if what is None and head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        what = "a PDF document"
    if what is None and head[4:8] == b"ftyp":
        what = "a video"
    # Stray NULs and controls in a page are an author's slip; without any mark-up it is binary.
    is_markup = b"<" in head and ("html" in declared or _HTML.match(head.replace(b"\x00", b"")))
    if what is None and _BINARY.search(head) and not _BOM.match(head) and not is_markup:
        what = "binary data"
    if what is not None:
        shown = f", declared as {declared!r}" if declared else ""
        raise UnsupportedContent(f"This is {what}{shown}: no body can be read from it.", reason=what)


def _json_form(body: bytes) -> Form:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return "text"
    version = data.get("version") if isinstance(data, dict) else None
    return "feed" if isinstance(version, str) and "jsonfeed.org/version/" in version else "json"
