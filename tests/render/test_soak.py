"""Long runs: hundreds of pages, hostile ones among them, and nothing grows, is lost or is left behind."""

from __future__ import annotations

import asyncio
import os
import random
import time

import pytest

from service import Failure, Reader
from tests.conftest import loopback
from tests.hostile import repeats
from tests.origin import Origin
from tests.render.hostile import BUSY, HUNGRY, STREAM, TEXT
from tests.render.processes import children, command, private_bytes

PAGES = int(os.environ.get("BONMUN_SOAK_PAGES", "500"))
SECONDS = 4.0


@pytest.mark.slow
async def test_hundreds_of_mixed_pages(origin: Origin) -> None:
    """Every request inside its budget plus a second; memory and processes at the end within a fifth of early ones."""
    origin.raw("/drip", repeats(STREAM, b"data: x\n\n", pause=0.1))
    hostile = [origin.route(f"/hostile/{number}", page) for number, page in enumerate({**BUSY, **HUNGRY}.values())]
    choose = random.Random(3)
    urls = [choose.choice(hostile) if choose.random() < 0.25 else origin.url("/normal") for _ in range(PAGES)]
    late: list[str] = []
    lost: list[str] = []
    sizes: list[tuple[int, int]] = []
    settings = loopback(origin.port, render={"pages": 4, "queue": 8})
    async with Reader(settings) as reader:
        waiting = iter(enumerate(urls))

        async def reads() -> None:
            for number, url in waiting:
                started = time.monotonic()
                try:
                    page = await reader.read(url, render=True, timeout=SECONDS)
                    if TEXT.strip() not in page.markdown:
                        lost.append(f"{url}: no text")
                except Failure as failure:
                    if url.endswith("/normal"):
                        lost.append(f"{number}: {failure.code} {failure.reason}")
                if (took := time.monotonic() - started) > SECONDS + 1:
                    late.append(f"{url}: {took:.1f} s")
                if number in (50, PAGES - 1):
                    sizes.append(await _settled(reader, origin))

        await asyncio.gather(*(reads() for _ in range(4)))
        state = reader.render_state
    print(f"\nsizes after 50 and at the end (bytes, processes): {sizes}; {state}")
    assert (late, lost) == ([], [])
    (first, processes), (last, left) = sizes
    assert last < first * 1.2
    assert left <= processes * 1.2
    await asyncio.sleep(0.5)
    assert not [pid for pid in children(os.getpid()) if "chrom" in command(pid)]


async def _settled(reader: Reader, origin: Origin) -> tuple[int, int]:
    """Memory and processes of the browser's tree, once nothing else is open in it, as far as that can be waited for."""
    for _ in range(50):
        if reader.render_state.details["active"] == 0:
            break
        await asyncio.sleep(0.1)
    family = children(os.getpid())
    return sum(map(private_bytes, family)) + private_bytes(os.getpid()), len(family)
