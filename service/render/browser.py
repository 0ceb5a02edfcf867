"""One Chromium with its driver, from start to end: contexts for pages, what it costs, and how it is got rid of."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from playwright.async_api import BrowserContext, Error

from service.fetch.egress import Egress, Lane
from service.render.bounded import within
from service.render.driver import Driver
from service.render.launch import Confinement, Leash, Started, start
from service.render.page import VIEWPORT, Tab
from service.settings import Settings

_log = logging.getLogger("bonmun.render")

STEP_SECONDS = 3.0
"""Longest wait for what takes a sound browser some milliseconds (a context, a page): beyond it, it is frozen."""

CLOSE_SECONDS = 1.5
"""Longest wait for a context to close; measured 5 ms, and never for a wedged renderer."""

_INIT = Path(__file__).with_name("scripts") / "init.js"


class BrowserGone(Exception):
    """The browser ended, or is frozen, under a page: the page can be tried again in another."""


class Browser:
    """A running Chromium. `active` pages are open in it, `served` were."""

    def __init__(self, settings: Settings, driver: Driver, started: Started) -> None:
        self._settings = settings
        self._driver = driver
        self._chromium = started.chromium
        self._leash: Leash = started.leash
        self.confinement: Confinement = started.confinement
        self.version = started.chromium.version
        self.born = time.monotonic()
        self.active = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self.served = 0
        self.leader = started.leash.leader
        self._user_agent = settings.render.user_agent
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._chromium.on("disconnected", lambda _: self.kill())
        self._watching = asyncio.ensure_future(driver.ended())
        self._watching.add_done_callback(lambda _: self.kill())

    @classmethod
    async def start(cls, settings: Settings, executable: Path) -> Browser:
        """Start a driver and a Chromium. Raises `StartFailed`."""
        driver = await Driver().start()
        try:
            browser = cls(settings, driver, await start(driver.playwright, executable, settings))
        except BaseException:
            await driver.stop()
            raise
        try:
            await browser._name_itself()
        except BaseException:
            await browser.aclose()
            raise
        return browser

    @property
    def alive(self) -> bool:
        """Whether pages can still be opened."""
        return not self.gone.done()

    async def _name_itself(self) -> None:
        """Say honestly who is reading, beside what sites look for in a browser."""
        if self._user_agent is None:
            context = await within(STEP_SECONDS, self._chromium.new_context())
            page = await within(STEP_SECONDS, context.new_page())
            own = str(await within(STEP_SECONDS, page.evaluate("navigator.userAgent")))
            await within(STEP_SECONDS, context.close())
            product = self._settings.fetch.user_agent
            self._user_agent = f"{own.replace('HeadlessChrome', 'Chrome')} {product}"

    async def context(self, lane_port: int) -> BrowserContext:
        """A fresh context that can reach nothing but the proxy at this port."""
        language = self._settings.fetch.accept_language
        context = await self._chromium.new_context(
            proxy={"server": f"http://127.0.0.1:{lane_port}"},
            user_agent=self._user_agent,
            viewport={"width": VIEWPORT["width"], "height": VIEWPORT["height"]},
            service_workers="block",
            accept_downloads=False,
            extra_http_headers={"Accept-Language": language},
            locale=language.partition(",")[0].partition(";")[0].strip().strip("*") or None,
        )
        await context.add_init_script(path=_INIT)
        return context

    async def open(self, egress: Egress, deadline: float) -> OpenPage:
        """A tab with a lane of its own. Raises `BrowserGone`."""
        page = OpenPage(self, egress)
        self.active += 1
        self.idle.clear()
        try:
            await page.open(self._settings, deadline)
        except BaseException:
            page.close_later()
            raise
        return page

    async def listener(self) -> socket.socket:
        """A listening socket that this browser can reach."""
        return await self._leash.listener()

    def memory(self) -> int:
        """Bytes of memory that the browser and its driver hold for themselves."""
        return sum(_private_bytes(pid) for pid in _group(self._leash.leader) if pid) + _private_bytes(self._driver.pid)

    def kill(self) -> None:
        """End it at once, with every process; pages in it get `BrowserGone`."""
        if not self.gone.done():
            self.gone.set_exception(BrowserGone("The browser ended."))
            self.gone.exception()  # looked at here: nobody may be waiting
        self._leash.kill()

    async def aclose(self) -> None:
        """End it, and its driver."""
        with suppress(TimeoutError, Error):
            if self.alive:
                await within(CLOSE_SECONDS, self._chromium.close())
        self.kill()
        await self._driver.stop()


class OpenPage:
    """A tab with its context and lane."""

    def __init__(self, browser: Browser, egress: Egress) -> None:
        self._browser = browser
        self._egress = egress
        self._lane: Lane | None = None
        self._making: asyncio.Task[BrowserContext] | None = None
        self.tab: Tab
        self.closed: asyncio.Task[None] | None = None

    async def open(self, settings: Settings, deadline: float) -> None:
        """Get everything ready."""
        browser = self._browser
        # In full, whatever is left of the budget: what is too slow for this page is not yet stuck for all.
        try:
            self._lane = await self._egress.open(await within(STEP_SECONDS, browser.listener(), browser.gone))
            self._making = asyncio.ensure_future(browser.context(self._lane.port))
            context = await within(STEP_SECONDS, self._made(), browser.gone)
            self.tab = Tab(context, self._lane, settings, deadline, browser.gone)
            await within(STEP_SECONDS, self.tab.open(), browser.gone)
        except (TimeoutError, OSError, Error) as error:
            # What takes milliseconds did not come: nothing else will from this browser.
            _log.warning("the browser is stuck", extra={"fields": {"error": str(error) or type(error).__name__}})
            browser.kill()
            raise BrowserGone("The browser is stuck.") from error

    async def _made(self) -> BrowserContext:
        """The context, whose making nobody cancels: the driver would make it all the same, and nobody close it."""
        if self._making is None:
            raise RuntimeError("no context is being made")
        return await asyncio.shield(self._making)

    def close_later(self) -> asyncio.Task[None]:
        """Close in the background: nobody should wait for a page that will not go."""
        if self.closed is None:
            self.closed = asyncio.ensure_future(self._close())
        return self.closed

    async def _close(self) -> None:
        browser = self._browser
        try:
            if self._lane is not None:
                await self._lane.aclose()
            if self._making is not None and browser.alive:
                context = await within(CLOSE_SECONDS, self._made(), browser.gone)
                await within(CLOSE_SECONDS, context.close(), browser.gone)
        except (TimeoutError, Error, BrowserGone) as error:
            if browser.alive:
                _log.warning("a page did not close", extra={"fields": {"error": str(error) or type(error).__name__}})
                browser.kill()
        finally:
            browser.active -= 1
            browser.served += 1
            if not browser.active:
                browser.idle.set()


def _group(leader: int | None) -> Iterator[int]:
    """The processes of a process group (proc(5), the fifth field of `stat`)."""
    for entry in os.listdir("/proc") if leader else ():
        if entry.isdigit():
            with suppress(OSError, IndexError):
                stat = Path("/proc", entry, "stat").read_text()
                if int(stat.rpartition(")")[2].split()[2]) == leader:
                    yield int(entry)


def _private_bytes(pid: int | None) -> int:
    """Anonymous memory of a process, which no other shares (proc(5), `RssAnon`)."""
    if pid is None:
        return 0
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0
