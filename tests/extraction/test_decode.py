"""Bytes to text in the WHATWG order, and what the bytes say where declarations disagree."""

import pytest

from service.extraction.decode import charset_of, decode

KOREAN = "<p>국회는 오늘 본회의를 열고 예산안을 처리했다. 뷁</p>"


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ("text/html;charSet=euc-kr", "euc-kr"),
        ('text/html; charset="GBK"', "GBK"),
        ("text/html; charset='big5'", "big5"),
        ("text/html ; x=y; charset = koi8-r ", "koi8-r"),
        ("text/html", None),
        ("", None),
        (None, None),
    ],
)
def test_the_header_names_a_charset(value: str | None, label: str | None) -> None:
    assert charset_of(value) == label


@pytest.mark.parametrize("codec", ["utf-8", "cp949"])
@pytest.mark.parametrize("header", ["utf-8", "euc-kr", None])
@pytest.mark.parametrize("meta", ["utf-8", "euc-kr", None])
def test_either_declaration_may_be_the_wrong_one(codec: str, header: str | None, meta: str | None) -> None:
    page = (f"<meta charset={meta}>" if meta else "") + KOREAN
    decoded = decode(page.encode(codec), f"text/html; charset={header}" if header else None)
    if header or meta or codec == "utf-8":
        assert decoded.text == page


def test_a_byte_order_mark_wins() -> None:
    for codec in ("utf-8-sig", "utf-16"):
        decoded = decode(KOREAN.encode(codec), "text/html; charset=euc-kr")
        assert (decoded.text, decoded.evidence) == (KOREAN, "bom")


def test_labels_are_read_by_the_whatwg_table() -> None:
    assert decode(b"\x93quoted\x94", "text/html; charset=iso-8859-1").text == "\u201cquoted\u201d"
    assert decode("뷁".encode("cp949"), "text/html; charset=ks_c_5601-1987").text == "뷁"
    four_bytes = "𠮷野家".encode("gb18030")
    assert decode(four_bytes, "text/html; charset=gbk").text == "𠮷野家"


def test_a_cut_or_broken_character_does_not_overrule() -> None:
    assert decode(KOREAN.encode()[:-8] + "국".encode()[:2], "text/html; charset=utf-8").evidence == "http"
    body = "가나다라 ".encode() * 300
    broken = decode(body[:900] + b"\xff" + body[900:], "text/html; charset=utf-8")
    assert broken.encoding == "utf-8"
    assert broken.text.count("\ufffd") == 1


def test_detection_reads_the_whole_document() -> None:
    late = b"<p>" + b"ascii text here. " * 1000 + "今天国会开会，讨论预算案的问题。记者从北京报道".encode("gb18030")
    assert "讨论预算案" in decode(late).text


@pytest.mark.parametrize("body", [b"", b"\xff", b"\x00" * 10, bytes(range(256)), b"<meta charset=nonsense>x"])
def test_nothing_raises(body: bytes) -> None:
    assert isinstance(decode(body, "text/html; charset=nonsense").text, str)
