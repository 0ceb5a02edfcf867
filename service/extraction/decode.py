"""Bytes to text, in the WHATWG order: BOM, HTTP charset, `<meta>` in the first 1024 bytes, detection.

Labels are read by the WHATWG table (`whatwg`). Where the order leaves doubt the bytes decide, for real
pages declare UTF-8 in the header and EUC-KR in the page, either right. They overrule a declaration
only when it cannot be what the page is, by one of these:

- the bytes are valid UTF-8 with more multi-byte sequences than chance allows (`CERTAIN_SEQUENCES`);
- a sequence is invalid in the declared encoding, and another that was declared or detected has none;
- every second byte is NUL, which no text of an encoding of single bytes has (UTF-16 without a BOM);
- what was declared is an encoding of single bytes, in which nothing is invalid and which is many servers' default,
  and detection names one that is valid throughout: the page's own declaration, or one of pairs, where the
  bytes beyond ASCII stand in pairs everywhere (`PAIRS`).

Detection (chardetng, as in Firefox) reads the whole document and the address's top-level domain.
UTF-7 is in no table and never read; GB18030, Big5 with HKSCS, cp932 and cp949 are the table's gbk, big5,
shift_jis and euc-kr.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urlsplit

from chardetng_py import detect
from selectolax.lexbor import LexborHTMLParser

from service.extraction.whatwg import decode_all, decode_strictly, lookup

PRESCAN_BYTES = 1024
"""How much of a document may hold the declaration (HTML standard, "prescan a byte stream")."""

LATE_BYTES = 65_536
"""How much is looked at for a late one: a parser that meets it starts anew ("changing the encoding while parsing")."""

CERTAIN_SEQUENCES = 4
"""Multi-byte sequences after which valid UTF-8 is UTF-8 whatever was declared.

A Hangul syllable of EUC-KR is a valid UTF-8 pair with probability 0.09, so five in a row with 6e-6.
"""

PAIRS = 20
"""Runs of bytes beyond ASCII, each of even length, that no text of single bytes has: its words have either length."""

UTF16_ZEROS = 8
"""NULs under which a body is too short to tell UTF-16 from bytes that are no text."""

UTF16_SHARE = 20
"""One NUL in so many bytes, all on one side of the pairs, makes a document UTF-16: mark-up alone has more."""

TWICE_SEQUENCES = 30
"""Sequences from which text that is UTF-8 read as windows-1252 throughout was encoded twice; less may be quoted."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_XML = re.compile(rb"^\s*<\?xml[^>]+?encoding\s*=\s*[\"']([a-z0-9_:.\-]+)", re.I)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.I)
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_JIS = re.compile(rb"\x1b(?:\$[@B]|\([JI])")
_SINGLE = ("windows-", "iso-8859-", "koi8-", "macintosh", "ibm866")
_PAIRED = frozenset(("euc-kr", "euc-jp", "gbk"))
_HIGH = re.compile(rb"[\x80-\xff]+")
_TLD = re.compile(r"[a-z]{2,63}|xn--[a-z0-9-]{1,59}")
_C1 = re.compile("[\x80-\x9f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the WHATWG name of its encoding, and where that was found.

    `evidence` is `bom`, `http`, `meta`, `utf-8`, `utf-16`, `iso-2022-jp` (by its escapes) or `detected`.
    """

    text: str
    encoding: str
    evidence: str


def decode(body: bytes, content_type: str | None = None, url: str | None = None) -> Decoded:
    """Decode a document. Never raises: bytes that fit no encoding become U+FFFD."""
    found = _decode(body, content_type, url)
    return Decoded(_once(found.text), found.encoding, found.evidence)


def _decode(body: bytes, content_type: str | None, url: str | None) -> Decoded:
    for mark, named in _BOMS:
        if body.startswith(mark):
            return Decoded(decode_all(body[len(mark) :], named), named.removesuffix("le").removesuffix("be"), "bom")
    pairs = wide(body)
    if pairs is not None:
        return Decoded(decode_all(body, pairs), pairs, "utf-16")
    declared = _declared(body, content_type)
    if body.isascii():
        return _ascii(body, declared)
    utf8 = decode_strictly(body, "utf-8")
    if utf8 is not None and (_is_certain(body) or all(name == "utf-8" for name, _ in declared)):
        return Decoded(utf8, "utf-8", next((e for name, e in declared if name == "utf-8"), "utf-8"))
    if declared and declared[0][0].startswith(_SINGLE):
        detected = _detected(body, url)
        if detected not in dict(declared) and detected in _PAIRED and _is_paired(body):
            declared.append((detected, "detected"))
        declared.sort(key=lambda item: item[0] != detected)  # stable: where detection agrees with none, the order
    for name, evidence in declared:
        text = decode_strictly(body, name)
        if text is not None:
            return Decoded(text, name, evidence)
    if utf8 is not None:
        return Decoded(utf8, "utf-8", "utf-8")
    return _best(body, declared, url)


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


def _declared(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """The encodings that header and page name, in the standard's order."""
    label = charset_of(content_type)
    found = [(label, "http")] if label else []
    found += [(label, "meta") for label in [_xml_charset(body) or _meta_charset(body)] if label]
    return [(name, evidence) for label, evidence in found if (name := lookup(label))]


def _xml_charset(body: bytes) -> str | None:
    found = _XML.match(body[:PRESCAN_BYTES])
    return _readable(found.group(1).decode("ascii")) if found else None


def _meta_charset(body: bytes) -> str | None:
    """The first declaration in a `<meta>`, comments and scripts aside."""
    for size in (PRESCAN_BYTES, LATE_BYTES):
        if b"charset" not in body[:size].lower():
            continue
        for meta in LexborHTMLParser(body[:size].decode("latin-1")).css("meta"):
            attributes = meta.attributes
            label = attributes.get("charset")
            if label is None and (attributes.get("http-equiv") or "").strip().lower() == "content-type":
                label = charset_of(attributes.get("content"))
            if label and lookup(label):
                return _readable(label.strip())
    return None


def _readable(label: str) -> str:
    # A document that could be read this far is no UTF-16 (HTML standard, same algorithm).
    return "utf-8" if label.lower().startswith("utf-16") else label


def wide(body: bytes) -> str | None:
    """UTF-16 without a BOM, by the NULs that its mark-up, digits and blanks have on one side of each pair."""
    zeros = body.count(0)
    if zeros < UTF16_ZEROS or zeros * UTF16_SHARE < len(body):
        return None
    first = body[::2].count(0)
    name = "utf-16be" if first > zeros - first else "utf-16le"
    few, many = sorted((first, zeros - first))
    return name if few * UTF16_SHARE <= many and decode_strictly(body, name) is not None else None


def _ascii(body: bytes, declared: list[tuple[str, str]]) -> Decoded:
    """Seven-bit text: ISO-2022-JP where its escapes are, else what any declaration makes of it."""
    if _JIS.search(body):
        evidence = next((e for name, e in declared if name == "iso-2022-jp"), "iso-2022-jp")
        return Decoded(decode_all(body, "iso-2022-jp"), "iso-2022-jp", evidence)
    return Decoded(body.decode("ascii"), "utf-8", next((e for name, e in declared if name == "utf-8"), "utf-8"))


def _is_certain(body: bytes) -> bool:
    sequences = zip(_MULTIBYTE.finditer(body), range(CERTAIN_SEQUENCES + 1), strict=False)
    return sum(1 for _ in sequences) > CERTAIN_SEQUENCES


def _is_paired(body: bytes) -> bool:
    runs = [len(run) for run in _HIGH.findall(body)]
    return len(runs) >= PAIRS and not any(length % 2 for length in runs)


def _detected(body: bytes, url: str | None) -> str | None:
    name = lookup(detect(body, tld=_tld(url)))
    return "gbk" if name == "gb18030" else name  # one decoder, and pages say gbk or gb2312


def _tld(url: str | None) -> bytes | None:
    """The last label of an address's host, as chardetng wants it: in ASCII and lower case."""
    try:
        label = (urlsplit(url or "").hostname or "").rpartition(".")[2]
    except ValueError:  # an address that a caller made up
        return None
    return label.encode() if _TLD.fullmatch(label) else None


def _best(body: bytes, declared: list[tuple[str, str]], url: str | None) -> Decoded:
    """Nothing fits whole: of what was declared, of UTF-8 and of what detection says, the least broken."""
    candidates = [*declared, ("utf-8", "utf-8")]
    detected = _detected(body, url)
    if detected is not None:
        candidates.append((detected, "detected"))
    decoded = [Decoded(decode_all(body, name), name, evidence) for name, evidence in candidates]
    broken = [item.text.count("\ufffd") + sum(1 for _ in _C1.finditer(item.text)) for item in decoded]
    # A few stray bytes, as in truncated database fields, overrule neither a declaration (one in 500 characters)
    # nor undeclared UTF-8 (one for ten good characters beyond ASCII).
    for item, count in zip(decoded, broken, strict=True):
        if item.evidence in ("http", "meta") and count * 500 <= len(item.text):
            return item
        if item.evidence == "utf-8" and count * 10 <= sum(1 for _ in _MULTIBYTE.finditer(body)) - count:
            return item
    return min(zip(broken, range(len(decoded)), decoded, strict=True))[2]


def _once(text: str) -> str:
    """Text without a second encoding: UTF-8 that somebody read as windows-1252 and wrote as UTF-8 again.

    Only where it is safe: every character beyond ASCII is part of such a sequence, and there are many. A page that
    quotes mojibake has characters that are whole, dashes and quotes if nothing else, or few that are not.
    """
    if text.isascii() or not _TWICE.search(text):
        return text
    try:
        body = text.translate(_TO_BYTES).encode("latin-1")
        once = body.decode("utf-8")
    except UnicodeError:
        return text
    return once if len(_MULTIBYTE.findall(body)) >= TWICE_SEQUENCES else text


_TO_BYTES = {ord(bytes((i,)).decode("cp1252", "ignore") or chr(i)): i for i in range(0x80, 0xA0)}
_TWICE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u02dc\u2013-\u2122]")
