"""Hostile pages in a real Chromium: each is answered inside its budget, and the next page is read as if nothing was."""

from __future__ import annotations

import ssl
import time

import pytest
import trustme

from service import Failure, Page, Reader
from service.reader import RenderMode
from tests.conftest import loopback
from tests.hostile import BROKEN, bomb, coded, repeats, sends
from tests.origin import Origin
from tests.render.hostile import BODY, BUSY, HUNGRY, STREAM, TEXT, WORKER

SECONDS = 3.0
GRACE = 1.0


async def timed(reader: Reader, url: str, seconds: float = SECONDS, mode: RenderMode = True) -> Page | Failure:
    """The answer, which must come inside the budget plus a second."""
    started = time.monotonic()
    try:
        return await reader.read(url, render=mode, timeout=seconds)
    except Failure as failure:
        return failure
    finally:
        assert time.monotonic() - started < seconds + GRACE


async def normal(reader: Reader, origin: Origin) -> None:
    """A normal page works."""
    page = await reader.read(origin.url("/normal"), render=True)
    assert page.tier == "rendered"
    assert page.markdown.count(TEXT.strip()) == 12


@pytest.fixture(autouse=True)
def drip(origin: Origin) -> None:
    origin.route("/worker.js", WORKER, content_type="text/javascript")
    attachment = b"HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\n"
    origin.raw("/attachment", repeats(attachment, b"x" * 65536))
    origin.raw("/drip", repeats(STREAM, b"data: x\n\n", pause=0.1))


@pytest.mark.parametrize("name", BUSY)
async def test_a_busy_page_gives_its_text(name: str, reader: Reader, origin: Origin) -> None:
    page = await timed(reader, origin.route("/busy", BUSY[name]))
    await normal(reader, origin)
    assert isinstance(page, Page), page
    assert page.tier == "rendered"
    assert TEXT.strip() in page.markdown


@pytest.mark.parametrize("name", HUNGRY)
async def test_a_hungry_page_gets_an_answer(name: str, reader: Reader, origin: Origin) -> None:
    answer = await timed(reader, origin.route("/hungry", HUNGRY[name]))
    await normal(reader, origin)
    if isinstance(answer, Failure):
        assert answer.code in ("EXTRACT_FAILED", "UPSTREAM_TIMEOUT"), answer
    else:
        assert TEXT.strip() in answer.markdown


async def test_a_document_that_floods(reader: Reader, origin: Origin) -> None:
    """Endless HTML as fast as it goes, and a small one that decodes to a gigabyte: cut, and named or read so far."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY.encode()
    for url in (
        origin.raw("/flood", repeats(head, b"<p>More of it, and more.</p>" * 3000)),
        origin.raw("/bomb", coded("br", bomb("br"))),
        origin.raw("/attached", repeats(b"HTTP/1.1 200 OK\r\nContent-Disposition: attachment\r\n\r\n", bytes(65536))),
    ):
        answer = await timed(reader, url, mode="always")
        if isinstance(answer, Failure):
            codes = {"EXTRACT_FAILED", "UPSTREAM_TIMEOUT", "UPSTREAM_ERROR", "UNSUPPORTED_CONTENT"}
            assert answer.code in codes, answer
        else:
            assert answer.truncated
            assert TEXT.strip() in answer.markdown
        await normal(reader, origin)


async def test_a_broken_certificate_is_named(reader: Reader) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Origin(context) as secure:
        async with Reader(loopback(secure.port)) as own:
            for mode in ("always", False):
                with pytest.raises(Failure) as caught:
                    await own.read(secure.url("/"), render=mode)  # type: ignore[arg-type]
                assert (caught.value.code, caught.value.reason) == ("UPSTREAM_ERROR", "tls")


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer_is_a_failure_of_the_sites(name: str, reader: Reader, origin: Origin) -> None:
    """What breaks HTTP: the browser may read more of it than the static tier does, but never hangs or lies."""
    data, _ = BROKEN[name]
    answer = await timed(reader, origin.raw("/broken", sends(data)), 3, mode="always")
    if isinstance(answer, Failure):
        assert answer.code in ("UPSTREAM_ERROR", "EXTRACT_FAILED", "UPSTREAM_TIMEOUT"), answer
    await normal(reader, origin)
