"""What a body really is, by its bytes first and its declared type second (after WHATWG MIME Sniffing)."""

from __future__ import annotations

import json
import re
from typing import Literal

from service.extraction.decode import wide
from service.extraction.posts import is_post
from service.extraction.whatwg import decode_all
from service.failures import UnsupportedContent

Form = Literal["html", "feed", "post", "json", "markdown", "text"]
"""How a body is read."""

HEAD_BYTES = 1445
"""Length of the resource header that is looked at (MIME Sniffing, section 5.2)."""

LATE_BYTES = 8_192
"""How much of a body that is declared as a feed is looked at for one."""

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
_ROOT = rb"<(?:[a-z][\w.-]{0,30}:)?(?:rss|feed|rdf)[\s>]"
_FEED = re.compile(_PROLOGUE + _ROOT, re.I | re.S)
_FEED_LATER = re.compile(_ROOT, re.I)
_FEED_TYPE = re.compile(r"/(?:rss|atom|rdf)\+xml$")
_HTML = re.compile(
    rb"^\s*+(?:" + _COMMENT + rb")*+<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|"
    rb"title|b|br|p|meta|link|main|article|section|header|nav|ul|span)[\s>/]",
    re.I | re.S,
)
_TYPED = re.compile(rb'jsonfeed\\?.org\\?/version|activitystreams|"version"\s{0,9}:\s{0,9}"?1\.0|SocialMediaPosting')
_JSON_TYPE = re.compile(r"(?:/|\+)json$")


def sniff(body: bytes, content_type: str | None = None) -> Form:
    """The form to read a body as. Raises `UnsupportedContent` for PDF, images, archives and other binary."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    head = _narrow(body[:HEAD_BYTES])
    _refuse_binary(head, declared)
    # What a server printed before a feed that is declared as one (a warning, a blank line) makes it no page.
    plain = _BOM.sub(b"", head)
    if _FEED.match(plain) or (_FEED_TYPE.search(declared) and _FEED_LATER.search(_narrow(body[:LATE_BYTES]))):
        return "feed"
    if _HTML.match(plain):
        return "html"
    is_object = plain.lstrip()[:1] in (b"{", b"[")
    if _JSON_TYPE.search(declared) or (declared == "" and is_object):
        return _json_form(body)
    if is_object and _TYPED.search(body) and (form := _json_form(body)) in ("feed", "post"):
        return form
    if declared in ("text/markdown", "text/x-markdown"):
        return "markdown"
    if declared in ("", "text/html", "application/xhtml+xml", "application/xml", "text/xml") or (
        b"<" in head and not (declared.startswith("text/"))
    ):
        return "html"
    return "text"


def _narrow(head: bytes) -> bytes:
    """The beginning of a body, a byte a character where it is UTF-16."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace").encode("latin-1", "replace")
    name = wide(head[: len(head) // 2 * 2])
    return head if name is None else decode_all(head, name).encode("latin-1", "replace")


def _refuse_binary(head: bytes, declared: str) -> None:
    # A PDF may begin a little later, after a byte order mark or white space.
    what = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    if what is None and head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        what = "a PDF document"
    if what is None and head[4:8] == b"ftyp":
        what = "a video"
    # Stray NULs and controls in a page are an author's slip; without any mark-up it is binary.
    is_markup = b"<" in head and (
        "html" in declared or "xml" in declared or _HTML.match(head.replace(b"\x00", b"")) or _FEED.match(head)
    )
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
    if isinstance(version, str) and "jsonfeed.org/version/" in version:
        return "feed"
    return "post" if is_post(data) else "json"
