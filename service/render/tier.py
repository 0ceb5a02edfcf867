"""The second tier: pages rendered in Chromium, a bounded number at once, a bounded number waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from service.failures import Overloaded, UpstreamTimeout
from service.fetch.egress import Egress
from service.fetch.network import PinnedBackend
from service.fetch.url import normalize
from service.render.browser import BrowserGone, OpenPage
from service.render.executable import NoChromium, find
from service.render.keeper import Keeper
from service.render.page import Snapshot
from service.settings import Settings, cpus

T = TypeVar("T")

ATTEMPTS = 2
"""Times a page is tried when its browser ends under it: it may have been another page's fault."""

PAGES_PER_CPU = 2
"""Pages a second level off there: 7.5, 10.6, 12.8 and 12.5 were measured at 1, 2, 4 and 8 pages on 2 cores."""


@dataclass(frozen=True, slots=True)
class State:
    """How the tier is, for `/readyz` and metrics."""

    status: str
    """`ok`, `not started`, `off`, or what is wrong."""
    details: dict[str, object]
    sound: bool
    """False when a browser was found to leak: nothing should be sent here."""


class RenderTier:
    """Renders pages. `backend` dials for them: the static tier's, so that one guard serves both."""

    def __init__(self, settings: Settings, backend: PinnedBackend) -> None:
        self._settings = settings
        self._keeper = Keeper(settings)
        self._egress = Egress(settings, backend)
        self.pages = settings.render.pages or PAGES_PER_CPU * cpus()
        self._slots = asyncio.Semaphore(self.pages)
        self._closing: set[asyncio.Task[None]] = set()
        self.active = 0
        self.waiting = 0
        self.rendered = 0
        self.retried = 0

    async def start(self) -> None:
        """Start the browser now. Trouble is remembered and logged, not raised, but for a browser that leaks."""
        try:
            await self._keeper.browser(asyncio.get_running_loop().time() + 60)
        except Overloaded:
            if self._keeper.leaked:
                raise

    async def aclose(self) -> None:
        """End everything."""
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._keeper.aclose()

    async def render(
        self,
        url: str,
        deadline: float,
        read: Callable[[Snapshot], Awaitable[T | None]],
        wait_for: str | None = None,
    ) -> T | None:
        """What `read` makes of the page once its text is still.

        `read` gets a snapshot and answers None while that holds no body; it is asked again when the text has
        grown, until `Snapshot.last`. Raises its failures, what the static tier raises for addresses,
        `Overloaded` (`browser`, `render_queue`), `UpstreamTimeout` or `ExtractFailed` (`crash`), and `NotRendered`.
        """
        target = normalize(url, self._settings.egress.ports)
        for attempt in range(ATTEMPTS):
            page = await self._opened(deadline)
            try:
                if page is not None:
                    return await self._read(page, target.href, read, wait_for)
            except BrowserGone:
                self.retried += 1
            finally:
                if page is not None:
                    self._close(page)
            if asyncio.get_running_loop().time() >= deadline - 0.5 and attempt == 0:
                raise UpstreamTimeout("The time budget was spent before the page was read.", reason="deadline", url=url)
        raise Overloaded("The browser ended while it read the page.", reason="browser", retry_after=1, url=url)

    async def _read(
        self, page: OpenPage, url: str, read: Callable[[Snapshot], Awaitable[T | None]], wait_for: str | None
    ) -> T | None:
        tab = page.tab
        await tab.go(url)
        while True:
            snapshot = await tab.snapshot(wait_for)
            found = await read(snapshot)
            if found is not None or snapshot.last:
                self.rendered += 1
                return found

    async def _opened(self, deadline: float) -> OpenPage | None:
        """A page in a slot of its own; None when the browser ended meanwhile."""
        if self._slots.locked() and self.waiting >= self._settings.render.queue:
            raise Overloaded("Too many pages wait for the browser.", reason="render_queue", retry_after=1)
        self.waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            raise Overloaded("The browser had no time for the page.", reason="render_queue", retry_after=1) from None
        finally:
            self.waiting -= 1
        self.active += 1
        try:
            browser = await self._keeper.browser(deadline)
            async with asyncio.timeout_at(deadline):
                return await browser.open(self._egress, deadline)
        except TimeoutError:
            self._release()
            raise UpstreamTimeout("The time budget was spent before the page was read.", reason="deadline") from None
        except BrowserGone:
            self._release()
            self.retried += 1
            return None
        except BaseException:
            self._release()
            raise

    def _close(self, page: OpenPage) -> None:
        """Close in the background; the slot is free when it is done."""
        task = page.close_later()
        self._closing.add(task)
        task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        self._release()

    def _release(self) -> None:
        self.active -= 1
        self._slots.release()

    @property
    def state(self) -> State:
        """How the tier is now."""
        keeper = self._keeper
        browser = keeper.current
        details: dict[str, object] = {
            "pages": self.pages,
            "active": self.active,
            "waiting": self.waiting,
        }
        if browser is not None:
            details |= {"version": browser.version, "memory_bytes": keeper.memory, **browser.confinement.lines}
            status = "ok"
        elif keeper.trouble is not None:
            status = keeper.trouble
        else:
            status = "not started"
            try:
                find(self._settings.render.executable)
            except NoChromium as error:
                status = str(error)
        return State(status, details, not keeper.leaked)

    @property
    def counts(self) -> dict[str, int]:
        """Everything counted since the start."""
        counted = vars(self._keeper.counts)
        return {
            "pages_rendered": self.rendered,
            "pages_retried": self.retried,
            **{f"browsers_{k}": v for k, v in counted.items()},
        }


__all__ = ["RenderTier", "Snapshot", "State"]
