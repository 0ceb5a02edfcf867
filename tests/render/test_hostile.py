"""Hostile pages in a real Chromium: each is answered inside its budget, and the next page is read as if nothing was."""

from __future__ import annotations

import time

import pytest

from service import Failure, Page, Reader
from tests.hostile import repeats
from tests.origin import Origin
from tests.render.hostile import BUSY, HUNGRY, STREAM, TEXT

SECONDS = 4.0
GRACE = 1.0


async def timed(reader: Reader, url: str, seconds: float = SECONDS) -> Page | Failure:
    """The answer, which must come inside the budget plus a second."""
    started = time.monotonic()
    try:
        return await reader.read(url, render=True, timeout=seconds)
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
