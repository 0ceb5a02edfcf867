"""Bytes to text in the WHATWG order, and what the bytes say where declarations disagree."""

import random
import time

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


TEXTS = {
    "ko": "물때표는 오늘 새로 붙었다. 뱃사람들은 새벽 여섯 시에 나루터로 나와 밧줄을 살폈다. 펲시콜라 뷁 똠양꿍",
    "ja": "今朝の港は静かだった。①番の桟橋に㈱髙橋造船の船が着き、子どもたちがロープを受け取った。",
    "zh-hans": "渡口今天早上换了新的木牌，老船工说潮水比往常来得早。孩子们在岸边等着看船。",
    "zh-hant": "渡口今天早上換了新的木牌，老船工說潮水比往常來得早。孩子們喺岸邊等住睇船。碁裏",
    "ru": "Утром на пристани вывесили новую таблицу приливов, и старый лодочник прочитал её вслух.",
    "el": "Το πρωί κρέμασαν στην προβλήτα νέο πίνακα με τις παλίρροιες και ο βαρκάρης τον διάβασε.",
    "he": "בבוקר תלו על המזח לוח גאות חדש, והשייט הזקן קרא אותו בקול רם לכל הילדים.",
    "ar": "علّقوا صباح اليوم على الرصيف جدولا جديدا للمد والجزر، وقرأه البحار العجوز بصوت عال.",
    "th": "เช้านี้ที่ท่าเรือมีตารางน้ำขึ้นน้ำลงใหม่ คนพายเรือแก่อ่านให้เด็กๆ ฟัง",
    "pl": "Rano na przystani zawisła nowa tablica pływów, a stary żeglarz przeczytał ją dzieciom na głos.",
    "tr": "Sabah iskeleye yeni gelgit çizelgesi asıldı, yaşlı kayıkçı da onu çocuklara yüksek sesle okudu. Şişe.",
    "fr": "Ce matin, à l’embarcadère, on a affiché la nouvelle table des marées ; l’été, déjà, finissait — « enfin ».",
    "vi": "Sáng nay ở bến tàu người ta treo bảng thủy triều mới và ông lái đò già đọc to cho bọn trẻ nghe.",
}
ENCODED = [
    ("ko", "utf-8", "utf-8"), ("ko", "cp949", "euc-kr"),
    ("ja", "cp932", "shift_jis"), ("ja", "utf-8", "utf-8"),
    ("zh-hans", "gb18030", "gb2312"), ("zh-hant", "big5hkscs", "big5"),
    ("ru", "cp1251", "windows-1251"), ("ru", "koi8-r", "koi8-r"), ("ru", "iso8859-5", "iso-8859-5"),
    ("el", "cp1253", "windows-1253"), ("he", "cp1255", "windows-1255"), ("ar", "cp1256", "windows-1256"),
    ("th", "cp874", "windows-874"), ("pl", "cp1250", "windows-1250"), ("pl", "iso8859-2", "iso-8859-2"),
    ("tr", "cp1254", "iso-8859-9"), ("fr", "cp1252", "iso-8859-1"),
]  # fmt: skip
BESIDE = {"utf-8": "iso-8859-1", "euc-kr": "utf-8", "shift_jis": "utf-8", "gb2312": "iso-8859-1", "big5": "utf-8"}


def written(language: str, codec: str, *, meta: str | None = None) -> bytes:
    """A page in a codec; NEC's and IBM's characters, and words that the codec lacks, are left out where it has none."""
    text = TEXTS[language] if codec != "iso8859-5" else TEXTS[language].replace("ё", "ё")
    page = f"<html><head>{f'<meta charset={meta}>' if meta else ''}</head><body><p>{text}</p></body></html>"
    return page.encode(codec)


@pytest.mark.parametrize(("language", "codec", "label"), ENCODED)
@pytest.mark.parametrize("how", ["header", "meta", "both", "wrong header", "nothing"])
def test_a_page_in_each_encoding_however_it_is_declared(language: str, codec: str, label: str, how: str) -> None:
    if how == "nothing" and codec in ("iso8859-5", "iso8859-2", "cp1254"):
        pytest.skip("so little text is too near to another code page")
    if how == "wrong header" and label not in BESIDE:
        pytest.skip("one code page declared as another cannot be told by what is invalid")
    body = written(language, codec, meta=label if how in ("meta", "both", "wrong header") else None)
    header = {"header": label, "both": label, "wrong header": BESIDE.get(label)}.get(how)
    found = decode(body, f"text/html; charset={header}" if header else "text/html")
    assert f"<p>{TEXTS[language]}</p>" in found.text


def eucjp_ms(text: str) -> bytes:
    """EUC-JP as Windows writes it, from the places of cp932."""
    out = b""
    for character in text:
        pair = character.encode("cp932")
        if len(pair) == 2:
            # NEC selected the IBM extensions too (rows 89 to 92).
            lead, trail = pair if pair[0] < 0xF0 else NEC[character]
            row = (lead - (0x81 if lead < 0xA0 else 0xC1)) * 2 + 0x21 + (trail >= 0x9F)
            cell = trail - (0x7E if trail >= 0x9F else 0x1F if trail < 0x7F else 0x20)
            pair = bytes((row | 0x80, cell | 0x80))
        out += pair
    return out


NEC = {"髙": (0xEE, 0xE0), "㈱": (0x87, 0x8A)}


@pytest.mark.parametrize("declared", ["text/html; charset=euc-jp", "text/html"])
def test_euc_jp_has_the_extensions_of_windows(declared: str) -> None:
    assert decode(eucjp_ms(TEXTS["ja"]) * 3, declared).text == TEXTS["ja"] * 3


@pytest.mark.parametrize("header", ["text/html; charset=iso-2022-jp", "text/html; charset=utf-8", None])
def test_iso_2022_jp_is_known_by_its_escapes(header: str | None) -> None:
    plain = "<p>今朝の港は静かだった。</p>"
    assert decode(plain.encode("iso2022_jp"), header).text == plain
    inner = bytes(byte & 0x7F for byte in eucjp_ms("①髙"))
    assert decode(b"<p>\x1b$B" + inner + b"\x1b(B</p>", header).text == "<p>①髙</p>"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("language", ["ko", "fr", "ja", "ru"])
@pytest.mark.parametrize("header", ["text/html", "text/html; charset=utf-16", "text/html; charset=utf-8"])
def test_utf_16_without_a_mark(language: str, codec: str, header: str) -> None:
    body = written(language, codec)
    assert TEXTS[language] in decode(body, header).text


def test_utf_7_is_never_read() -> None:
    body = b"<p>+ADw-script+AD4-</p>"
    for header in ("text/html; charset=utf-7", "text/html; charset=unicode-1-1-utf-7", "text/html; charset=csUTF7"):
        assert decode(body, header).text == body.decode()


@pytest.mark.parametrize(
    "head",
    [
        "<!-- <meta charset=utf-8> --><meta charset=euc-kr>",
        "<script>var x = '<meta charset=utf-8>';</script><meta charset=euc-kr>",
        '<meta name=keywords content="charset=utf-8"><meta http-equiv="Content-Type" content="x;charset=euc-kr">',
        "<title>utf-8</title><meta data-x='>' charset='euc-kr'>",
        "<meta charset=nonsense><meta charset=euc-kr>",
        "<meta charset=utf-16><meta charset=euc-kr>",
        f"<style>{'a{}' * 2000}</style><meta charset=euc-kr>",
    ],
)
def test_the_declaration_is_the_page_s_first_real_one(head: str) -> None:
    # Four syllables: too few for detection to be what reads them.
    assert "뱃길 물때" in decode((head + "<p>뱃길 물때").encode("euc-kr"), "text/html").text


def test_the_servers_default_gives_way_to_pairs() -> None:
    """A header of iso-8859-1 and no word in the page: detection is believed where every run is of pairs."""
    body = ("<p>" + "물때표는 오늘 새로 붙었다. " * 10).encode("euc-kr")
    assert "물때표는" in decode(body, "text/html; charset=iso-8859-1").text
    french = ("<p>" + TEXTS["fr"] * 4).encode("cp1252")
    assert TEXTS["fr"] in decode(french, "text/html; charset=iso-8859-1").text
    russian = ("<p>" + TEXTS["ru"] * 4).encode("cp1251")
    assert TEXTS["ru"] in decode(russian, "text/html; charset=windows-1251").text


def test_a_page_that_mixes_encodings_is_what_most_of_it_is() -> None:
    body = (TEXTS["ko"] * 20).encode() + "<p>caf\xe9 cr\xe8me</p>".encode("latin-1") + (TEXTS["ko"] * 20).encode()
    for header in ("text/html; charset=utf-8", "text/html"):
        found = decode(body, header)
        assert (found.encoding, found.text.count("\ufffd")) == ("utf-8", 2)


def test_what_was_encoded_twice_is_read_twice() -> None:
    for language in ("ko", "ja", "ru", "el", "pl", "vi"):
        once = TEXTS[language].encode().decode("latin-1")
        for wrong in (once, _as_windows(TEXTS[language])):
            page = f"<p>{wrong * 8}</p>"
            assert decode(page.encode(), "text/html; charset=utf-8").text == f"<p>{TEXTS[language] * 8}</p>"


def _as_windows(text: str) -> str:
    return "".join(bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in text.encode())


@pytest.mark.parametrize(
    "page",
    [
        "An article on mojibake: é becomes Ã©, and " + "’ becomes â€™, " * 40,
        "Ã© is é read wrongly. " * 2,
        "Â£5 and Â°C " * 10,
        TEXTS["fr"] * 5,
        TEXTS["vi"] * 5,
        "São João à noite: coração, maçã, pães. " * 20,
    ],
)
def test_what_was_not_encoded_twice_stays(page: str) -> None:
    assert decode(page.encode(), "text/html; charset=utf-8").text == page


def test_the_domain_helps_where_the_text_is_short() -> None:
    assert decode("<p>안녕".encode("cp949"), "text/html", "https://note.example.kr/1").text == "<p>안녕"
    for url in ("https://a.KR./", "http://[::1]/", "http://[", "x", "https://例え.テスト/", "https://1.2.3.4/"):
        decode("<p>안녕".encode("cp949"), "text/html", url)


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_decode_in_linear_time(seed: int) -> None:
    chance = random.Random(seed)
    pieces = [written(language, codec) for language, codec, _ in ENCODED] + [
        b"\x1b$B!!",
        b"\x00<",
        b"\xff",
        b"\x8f\xa1",
    ]
    labels = ["utf-8", "euc-jp", "iso-2022-jp", "windows-1252", "gbk", "utf-16", "x", "replacement", None]
    for _ in range(60):
        body = b"".join(chance.choices(pieces, k=chance.randint(1, 6)))
        cut = chance.randrange(len(body))
        body = body[cut:] + chance.randbytes(chance.randint(0, 9)) + body[:cut]
        label = chance.choice(labels)
        decode(body, f"text/html; charset={label}" if label else None, "https://a.test/").text.encode(
            "utf-8", "replace"
        )


@pytest.mark.parametrize(
    "unit", [b"\xff", b"\x81\xfe", b"\xad\xa1", b"\x1b$B\x21", b"\xc3\xa9", b"<meta charset=", b"\x00<"]
)
@pytest.mark.parametrize("label", ["euc-jp", "iso-2022-jp", "windows-1253", "utf-8"])
def test_a_mebibyte_of_nothing_takes_its_time_and_no_more(unit: bytes, label: str) -> None:
    body = unit * (1_048_576 // len(unit))
    started = time.process_time()
    decode(body, f"text/html; charset={label}")
    assert time.process_time() - started < 1.5
