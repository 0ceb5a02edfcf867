"""What a render costs beside a bare Playwright script: goto, wait and content on the same page with the same binary.

Both wait for the same stillness of the text. `python scripts/render_cost.py [PAGES]`; ratios of one run.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, async_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from service import Reader
from service.render.executable import find
from tests.conftest import loopback
from tests.origin import Origin

WORDS = "The keeper of the lighthouse counts every boat that passes in the evening. "
APP = """<!doctype html><title>App</title><div id=root>Loading…</div><script>
fetch('/data.json').then((answer) => answer.json()).then((lines) => {
  root.innerHTML = '<article>' + lines.map((line) => `<p>${line}</p>`).join('') + '</article>';
});
</script>"""
STILL = """() => new Promise((done) => {
  let timer = setTimeout(done, 300);
  new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, 300); })
    .observe(document, {subtree: true, childList: true, characterData: true});
})"""


async def _bare(browser: Browser, url: str, wait: str) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(url, wait_until="domcontentloaded")
    if wait == "still":
        await page.evaluate(STILL)
    else:
        await page.wait_for_selector("article")
    assert WORDS in await page.content()
    await context.close()


async def _timed(count: int, at_once: int, work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Median seconds of one, and how many a second."""
    took: list[float] = []

    async def some(times: int) -> None:
        for _ in range(times):
            started = time.perf_counter()
            await work()
            took.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*(some(count // at_once) for _ in range(at_once)))
    return statistics.median(took), len(took) / (time.perf_counter() - started)


async def main(count: int) -> None:
    """Measure and print."""
    with Origin() as origin:
        url = origin.route("/app", APP)
        origin.route("/data.json", str([WORDS] * 12).replace("'", '"'), content_type="application/json")
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        async with async_playwright() as driver, Reader(loopback(origin.port, render={"pages": 4})) as reader:
            browser = await driver.chromium.launch(executable_path=find(None), args=flags)

            async def ours(**options: str) -> None:
                page = await reader.read(url, render=True, **options)  # type: ignore[arg-type]
                assert WORDS.strip() in page.markdown

            for wait, options in (("still", {}), ("selector", {"wait_for": "article"})):
                await _bare(browser, url, wait)
                await ours(**options)
                bare, bare_rate = await _timed(count, 1, lambda wait=wait: _bare(browser, url, wait))  # type: ignore[misc]
                one, _ = await _timed(count, 1, lambda options=options: ours(**options))  # type: ignore[misc]
                _, rate = await _timed(count * 2, 4, lambda options=options: ours(**options))  # type: ignore[misc]
                print(
                    f"wait: {wait:8}  bare {1e3 * bare:4.0f} ms  ours {1e3 * one:4.0f} ms  cost x{one / bare:.2f}  "
                    f"bare one by one {bare_rate:.1f}/s  ours four at once {rate:.1f}/s  x{rate / bare_rate:.2f}"
                )
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
