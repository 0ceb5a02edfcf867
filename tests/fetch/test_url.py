"""One form for every spelling of an address; tricks refused by name."""

import pytest

from service.failures import AddressForbidden, Failure, InvalidRequest, UpstreamError
from service.fetch.url import hop, normalize

PORTS = (80, 443)


@pytest.mark.parametrize(
    ("url", "href", "host"),
    [
        ("HTTP://OK.TEST/ok#f", "http://ok.test/ok", "ok.test"),
        ("http://ok.test:80/", "http://ok.test/", "ok.test"),
        ("https://ok.test:443/a?b=%20#c", "https://ok.test/a?b=%20", "ok.test"),
        ("http://2130706433/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://0177.0.0.1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://017700000001/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1./", "http://127.0.0.1/", "127.0.0.1"),
        ("http://0/", "http://0.0.0.0/", "0.0.0.0"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "http://127.0.0.1/", "127.0.0.1"),
        ("http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]/", "::ffff:7f00:1"),
        ("http:127.0.0.1", "http://127.0.0.1/", "127.0.0.1"),
        ("https://뉴스.example/기사/1", "https://xn--vg1b002a.example/%EA%B8%B0%EC%82%AC/1", "xn--vg1b002a.example"),
    ],
)
def test_normalized(url: str, href: str, host: str) -> None:
    target = normalize(url, PORTS)
    assert (target.href, target.host) == (href, host)


REFUSED = [
    *((url, AddressForbidden, "scheme") for url in ("file:///etc/passwd", "view-source:http://a.test/", "chrome://version",
      "devtools://x", "javascript:alert(1)", "data:text/html,x", "blob:http://a.test/1", "ftp://a.test/", "gopher://a.test/")),
    *((url, InvalidRequest, "url_bad_char") for url in ("http://a.test/\r\nX: y", "http://a.test/a b", "http://a.t\test/",
      " http://a.test/", "http://a.test/\x85", "http://a.test/\x00",
      "http://127.0.0.1\\@ok.test/", "http://ok.test\\@127.0.0.1/", "\\\\host", "http://a.test/\u2028")),
    *((url, AddressForbidden, "userinfo") for url in ("http://u:p@a.test/", "http://a.test@127.0.0.1/", "http://@a.test/")),
    *((url, AddressForbidden, "port") for url in ("http://a.test:0/", "http://a.test:22/", "http://a.test:6379/")),
    *((url, InvalidRequest, "url_invalid") for url in ("", "http://", "http://a.test:65536/", "http://a.test:８０/",
      "http://a.test/\ud800", "a.test/x", "a.test:80/",
      "//a.test/", "http://[::1", "http://a.test:+80/", "http://" + "a" * 9000 + ".test/")),
]  # fmt: skip


@pytest.mark.parametrize(("url", "kind", "reason"), REFUSED)
def test_refused(url: str, kind: type[Failure], reason: str) -> None:
    with pytest.raises(kind) as caught:
        normalize(url, PORTS)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("../d e", "http://a.test/d%20e"),
        ("//b.test/", "http://b.test/"),
        ("?q=한", "http://a.test/b/c?q=%ED%95%9C"),
        (" /x\t", "http://a.test/x"),
        ("HTTPS://B.test:443/x#f", "https://b.test/x"),
        ("/a\u3000b", "http://a.test/a%E3%80%80b"),
    ],
)
def test_hop(reference: str, href: str) -> None:
    assert hop("http://a.test/b/c", reference, PORTS).href == href


@pytest.mark.parametrize(
    ("reference", "kind", "reason"),
    [
        ("http://b.test\\@c.test/", UpstreamError, "url_bad_char"),
        ("http://b.test/\r\nX: y", UpstreamError, "url_bad_char"),
        ("http://[", UpstreamError, "url_invalid"),
        ("http://b.test:65536/", UpstreamError, "url_invalid"),
        ("http://b .test/", UpstreamError, "url_invalid"),
        ("b.test:8080/x", UpstreamError, "url_invalid"),
        ("file:///etc/passwd", AddressForbidden, "scheme"),
        ("data:text/html,<p> x", AddressForbidden, "scheme"),
        ("//u@b.test/", AddressForbidden, "userinfo"),
        ("//b.test:22/", AddressForbidden, "port"),
    ],
)
def test_hop_refused(reference: str, kind: type[Failure], reason: str) -> None:
    with pytest.raises(Failure) as caught:
        hop("http://a.test/b/c", reference, PORTS)
    assert (type(caught.value), caught.value.reason) == (kind, reason)
