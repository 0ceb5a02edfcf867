"""The decoders of the WHATWG Encoding Standard, on Python's codecs, which differ from them in three places.

- `gbk` is decoded as gb18030 (10.1.1), which Python keeps apart.
- The windows code pages map the bytes that Microsoft left open to C1 controls (9); Python's fail on them.
- EUC-JP and ISO-2022-JP have NEC's row 13 and the IBM extensions (① ㈱ 髙), which Python has in cp932 alone.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import webencodings

NO_TEXT = frozenset(("replacement",))
"""Encodings of the table that name no text: what an attacker could read differently than a filter (4.3)."""

MAX_GAPS = 50_000
"""Bytes without a character up to which each is looked at: more (12 s for 4 MiB) is no text of that encoding."""

_ALIASES = {"cp874": "windows-874"}  # chardetng's name, which is in no table
_NEC_ROWS = re.compile(rb"[\xad\xf9-\xfc][\xa1-\xfe]")

Gap = tuple[str | bytes, int]


@lru_cache(maxsize=64)
def lookup(label: str) -> str | None:
    """The WHATWG name of a label (`ks_c_5601-1987`: `euc-kr`), None for one that is in no table, as UTF-7 is."""
    encoding = webencodings.lookup(_ALIASES.get(label, label))
    if encoding is None or encoding.name in NO_TEXT:
        return None
    # HTML standard, "prescan": a page that says x-user-defined is windows-1252.
    return "windows-1252" if encoding.name == "x-user-defined" else str(encoding.name)


def decode_all(body: bytes, name: str) -> str:
    """Text in an encoding of that WHATWG name; U+FFFD where it has none."""
    text = body.decode(_codec(name), "replace")
    gaps = text.count("\ufffd")
    if name not in _LENIENT or not gaps:
        return text
    if name == "euc-jp":  # Python goes on after one byte, and may find pairs that are none
        gaps += sum(1 for _ in _NEC_ROWS.finditer(body))
    if gaps > MAX_GAPS:
        return text
    return body.decode(_codec(name), _LENIENT[name])


def decode_strictly(body: bytes, name: str) -> str | None:
    """Text, or None where a byte has none. A character cut at the end, as of a truncated body, is left off."""
    try:
        return body.decode(_codec(name))
    except UnicodeDecodeError as error:
        if error.start and error.start >= len(body) - 3:
            return body[: error.start].decode(_codec(name))
    if name != "euc-jp":
        return None
    text = decode_all(body[:-1], name)  # its last byte may be half a character
    return None if "\ufffd" in text else decode_all(body, name)


def _codec(name: str) -> str:
    return "gb18030" if name == "gbk" else str(webencodings.lookup(name).codec_info.name)


def _nec(error: UnicodeError) -> Gap:
    """Two bytes of EUC-JP that only cp932 has, else U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    text = _kanji(pair[0] & 0x7F, pair[1] & 0x7F) if len(pair) == 2 and min(pair) >= 0xA1 else None
    return (text, error.start + 2) if text else ("\ufffd", error.end)


def _nec_escaped(error: UnicodeError) -> Gap:
    """The same inside ISO-2022-JP's two-byte mode, where bytes have seven bits; U+FFFD otherwise."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    text = _kanji(pair[0], pair[1]) if len(pair) == 2 and 0x21 <= min(pair) <= max(pair) <= 0x7E else None
    return (text, error.start + 2) if text else ("\ufffd", error.end)


def _kanji(row: int, cell: int) -> str | None:
    """The character at a place of JIS X 0208 as cp932 extends it (rows and cells from 0x21)."""
    lead = (row - 0x21) // 2 + (0x81 if row < 0x5F else 0xC1)
    trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
    try:
        return bytes((lead, trail)).decode("cp932")
    except UnicodeDecodeError:
        return None


def _control(error: UnicodeError) -> Gap:
    """A byte between 0x80 and 0x9F as the C1 control of that number, else U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    byte = error.object[error.start]
    return chr(byte) if byte < 0xA0 else "\ufffd", error.start + 1


for _name, _handler in (
    ("bonmun.nec", _nec),
    ("bonmun.nec-escaped", _nec_escaped),
    ("bonmun.control", _control),
):
    codecs.register_error(_name, _handler)

_LENIENT = {
    "euc-jp": "bonmun.nec",
    "iso-2022-jp": "bonmun.nec-escaped",
    **{f"windows-{number}": "bonmun.control" for number in (874, *range(1250, 1259))},
}
