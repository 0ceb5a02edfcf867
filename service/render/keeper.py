"""Keeps one Chromium running: starts it, proves it tight, replaces it before it is worn, and gives up for a while
when it will not start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

from playwright.async_api import Error

from service.failures import Overloaded
from service.render.browser import Browser, BrowserGone
from service.render.executable import NoChromium, find
from service.render.launch import START_SECONDS, StartFailed
from service.render.selftest import Leak, check
from service.settings import Settings

_log = logging.getLogger("bonmun.render")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before another try after a failed start: doubled each time, up to a minute."""

MEMORY_EVERY = 1.0
"""Seconds between two looks at the browser's memory, which read a few dozen files in /proc."""


@dataclass
class Counts:
    """What happened so far, for metrics."""

    started: int = 0
    start_failed: int = 0
    died: int = 0
    replaced: int = 0


class Keeper:
    """Gives out the browser to open a page in."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._browser: Browser | None = None
        self._starting: asyncio.Task[Browser] | None = None
        self._stopping = asyncio.Event()
        self._retiring: set[asyncio.Task[None]] = set()
        self._failed = 0
        self._again_at = 0.0
        self._looked_at = 0.0
        self._memory = 0
        self.counts = Counts()
        self.trouble: str | None = None
        self.leaked = False

    @property
    def current(self) -> Browser | None:
        """The browser, if one is running."""
        return self._browser if self._browser is not None and self._browser.alive else None

    @property
    def memory(self) -> int:
        """Bytes of private memory of the browser and its driver, at most a second ago."""
        browser = self.current
        if browser is None:
            return 0
        now = time.monotonic()
        if now - self._looked_at >= MEMORY_EVERY or not self._memory:
            self._looked_at, self._memory = now, browser.memory()
        return self._memory

    async def browser(self, deadline: float) -> Browser:
        """A browser that is alive. Raises `Overloaded` (`browser`) when there is none to be had by the deadline."""
        if self._stopping.is_set():
            raise Overloaded("The service is stopping.", reason="browser", retry_after=1)
        current = self.current
        if current is None:
            if self._browser is not None:
                self._retire(self._browser)
                self._browser = None
                self.counts.died += 1
            return await self._started(deadline)
        if self._is_worn(current) and self._starting is None and time.monotonic() >= self._again_at:
            # The worn one serves until the new one is there, and finishes the pages it has.
            self._begin()
        return current

    async def aclose(self) -> None:
        """End every browser."""
        self._stopping.set()
        if self._starting is not None:
            # Not cancelled: a driver that is cut off while it starts stays behind.
            await asyncio.wait({self._starting}, timeout=START_SECONDS)
        if self._browser is not None:
            self._retire(self._browser)
            self._browser = None
        await asyncio.gather(*self._retiring)

    async def _started(self, deadline: float) -> Browser:
        wait = self._again_at - time.monotonic()
        if wait > 0 or self.leaked:
            raise self._unavailable(max(1, round(wait)))
        starting = self._starting or self._begin()
        try:
            await asyncio.wait({starting}, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
            if starting.done():
                return starting.result()
        except (StartFailed, NoChromium, Leak):
            raise self._unavailable(max(1, round(self._again_at - time.monotonic()))) from None
        raise Overloaded("The browser is still starting.", reason="browser", retry_after=1)

    def _begin(self) -> asyncio.Task[Browser]:
        self._starting = asyncio.ensure_future(self._start())
        self._starting.add_done_callback(self._over)
        return self._starting

    def _over(self, task: asyncio.Task[Browser]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # looked at here: a replacement may have nobody waiting

    async def _start(self) -> Browser:
        try:
            browser = await Browser.start(self._settings, find(self._settings.render.executable))
            try:
                await check(browser, self._settings)
            except BaseException:
                await browser.aclose()
                raise
        except (StartFailed, NoChromium, Leak, BrowserGone, TimeoutError, OSError, Error) as error:
            raise self._note(error) from None
        self.counts.started += 1
        self.trouble, self._failed = None, 0
        self._memory = 0
        held = browser.confinement.lines
        level = logging.INFO if all(value == "on" for value in held.values()) else logging.WARNING
        _log.log(level, "a browser started", extra={"fields": {"version": browser.version, **held}})
        if self._browser is not None:
            self.counts.replaced += 1
            self._retire(self._browser)
        self._browser = browser
        return browser

    def _note(self, error: BaseException) -> Exception:
        """Remember why it failed, and not to try again at once."""
        self.counts.start_failed += 1
        self._failed += 1
        self.leaked = isinstance(error, Leak)
        self.trouble = str(error) or type(error).__name__
        self._again_at = time.monotonic() + min(FIRST_PAUSE * 2 ** (self._failed - 1), LONGEST_PAUSE)
        _log.error("no browser", extra={"fields": {"error": self.trouble, "failed": self._failed}})
        return error if isinstance(error, StartFailed | NoChromium | Leak) else StartFailed(self.trouble)

    def _unavailable(self, retry_after: int) -> Overloaded:
        return Overloaded(
            f"The page needs a browser, and there is none: {self.trouble}", reason="browser", retry_after=retry_after
        )

    def _is_worn(self, browser: Browser) -> bool:
        render = self._settings.render
        return (
            browser.served >= render.browser_pages
            or time.monotonic() - browser.born >= render.browser_seconds
            or self.memory >= render.browser_memory_bytes
        )

    def _retire(self, browser: Browser) -> None:
        task = asyncio.ensure_future(self._end(browser))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _end(self, browser: Browser) -> None:
        """Let a browser finish its pages, which end with their budgets, unless everything stops; then end it."""
        idle, stopping = (asyncio.ensure_future(event.wait()) for event in (browser.idle, self._stopping))
        seconds = self._settings.limits.total_seconds
        await asyncio.wait((idle, stopping, browser.gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        stopping.cancel()
        await browser.aclose()
