"""Bytes to text, in the WHATWG order: BOM, HTTP charset, `<meta>` in the first 1024 bytes, detection.

Labels are read by the WHATWG table (webencodings: `ks_c_5601-1987` and `EUC-KR` are windows-949).
Where the order leaves doubt the bytes decide: a declared encoding that cannot decode them gives way
to one that can, since real pages declare UTF-8 in the header and EUC-KR in the page, either right.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from email.message import Message

import webencodings
from chardetng_py import detect

PRESCAN_BYTES = 1024
"""How much of a document may hold the declaration (HTML standard, "prescan a byte stream")."""

CERTAIN_SEQUENCES = 4
"""Multi-byte sequences after which valid UTF-8 is UTF-8 whatever was declared.

A Hangul syllable of EUC-KR is a valid UTF-8 pair with probability 0.09, so five in a row with 6e-6.
"""

_NO_CODECS = ("replacement", "x-user-defined")  # labels of the table that name no text of a page
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([a-z0-9_:.\-]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]+?encoding\s*=\s*[\"']([a-z0-9_:.\-]+)", re.I)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.I)
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the WHATWG name of its encoding, and where that was found: `bom`, `http`, `meta`, `utf-8`, `detected`."""

    text: str
    encoding: str
    evidence: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a document. Never raises: bytes that fit no encoding become U+FFFD."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return Decoded(
                body[len(bom) :].decode(name, "replace"), name.removesuffix("-le").removesuffix("-be"), "bom"
            )
    declared = [
        (encoding, evidence)
        for label, evidence in ((charset_of(content_type), "http"), (_meta_charset(body), "meta"))
        if label and (encoding := webencodings.lookup(label)) is not None and encoding.name not in _NO_CODECS
    ]
    utf8 = _strict(body, "utf-8")
    if utf8 is not None:
        legacy = next((item for item in declared if item[0].name != "utf-8"), None)
        if legacy is None or body.isascii() or _is_certain(body):
            return Decoded(utf8, "utf-8", next((e for d, e in declared if d.name == "utf-8"), "utf-8"))
    for encoding, evidence in declared:
        text = _strict(body, _codec(encoding))
        if text is not None:
            return Decoded(text, encoding.name, evidence)
    if utf8 is not None:
        return Decoded(utf8, "utf-8", "utf-8")
    return _best(body, declared)


def charset_of(content_type: str | None) -> str | None:
    """The charset parameter of a Content-Type value, however it is spelt or quoted."""
    if not content_type:
        return None
    message = Message()
    message["Content-Type"] = content_type
    parameter = message.get_param("charset")
    if isinstance(parameter, str) and parameter.strip():
        return parameter.strip(" \"'")
    found = _CHARSET.search(content_type)
    return found.group(1) if found else None


def _meta_charset(body: bytes) -> str | None:
    head = body[:PRESCAN_BYTES]
    found = _XML.match(head) or _META.search(head)
    if found is None:
        return None
    label = found.group(1).decode("ascii")
    # A document that could be read this far is no UTF-16 (HTML standard, same algorithm).
    return "utf-8" if label.lower().startswith("utf-16") else label


def _codec(encoding: webencodings.Encoding) -> str:
    # WHATWG: the decoder of GBK is the decoder of gb18030.
    return "gb18030" if encoding.name == "gbk" else str(encoding.codec_info.name)


def _is_certain(body: bytes) -> bool:
    return (
        sum(1 for _, _ in zip(_MULTIBYTE.finditer(body), range(CERTAIN_SEQUENCES + 1), strict=False))
        > CERTAIN_SEQUENCES
    )


def _strict(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError as error:
        # A character cut at the end of a truncated body is no evidence against an encoding.
        return body[: error.start].decode(codec) if error.start >= len(body) - 3 and error.start else None


def _best(body: bytes, declared: list[tuple[webencodings.Encoding, str]]) -> Decoded:
    """Nothing fits whole: of what was declared, of UTF-8 and of what detection says, the least broken."""
    candidates = [*declared, (webencodings.UTF8, "utf-8")]
    detected = webencodings.lookup(detect(body))
    if detected is not None:
        candidates.append((detected, "detected"))
    decoded = [Decoded(body.decode(_codec(e), "replace"), e.name, evidence) for e, evidence in candidates]
    broken = [item.text.count("\ufffd") for item in decoded]
    # A few stray bytes, as in truncated database fields, overrule neither a declaration (one in 500 characters)
    # nor undeclared UTF-8 (one for ten good characters beyond ASCII).
    for item, count in zip(decoded, broken, strict=True):
        if item.evidence in ("http", "meta") and count * 500 <= len(item.text):
            return item
        if item.evidence == "utf-8" and count * 10 <= sum(1 for _ in _MULTIBYTE.finditer(body)) - count:
            return item
    return min(zip(broken, range(len(decoded)), decoded, strict=True))[2]
