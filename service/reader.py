"""One URL to one Page: the static tier, the gate, and one time budget across both."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

from service.extraction import NoBody
from service.failures import Failure, InvalidRequest, Overloaded, UpstreamError, UpstreamTimeout
from service.fetch import Response, StaticTier, Visit, retry_after
from service.page import Page, Tables
from service.settings import Settings
from service.workers import Workers

RenderMode = bool | Literal["always"]


class Reader:
    """Reads pages. An async context manager: it owns connections and worker processes."""

    def __init__(self, settings: Settings | None = None, tier: StaticTier | None = None) -> None:
        self.settings = settings or Settings()
        self._tier = tier
        self._workers = Workers(self.settings)

    async def __aenter__(self) -> Self:
        if self._tier is None:
            self._tier = StaticTier(self.settings)
        try:
            await self._workers.start()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._workers.aclose()
        if self._tier is not None:
            await self._tier.aclose()

    @property
    def state(self) -> dict[str, str]:
        """Each component and `ok`, or what is wrong with it."""
        full = self._workers.waiting >= self.settings.workers.queue + self._workers.processes
        return {"static": "ok" if self._tier is not None else "not started", "workers": "queue full" if full else "ok"}

    async def read(
        self,
        url: str,
        *,
        render: RenderMode | None = None,
        selector: str | None = None,
        wait_for: str | None = None,
        tables: Tables = "markdown",
        timeout: float | None = None,
    ) -> Page:
        """The main content of the page at `url`, within `timeout` seconds (clamped to `limits.total_seconds`).

        Raises a `Failure`: see the README's table.
        """
        mode = self.settings.render.default if render is None else render
        if wait_for is not None and not mode:
            raise InvalidRequest(
                "`wait_for` needs `render`: without a browser nothing changes while waiting.", reason="wait_for"
            )
        seconds = self.effective_timeout(timeout)
        deadline = asyncio.get_running_loop().time() + seconds
        if mode == "always":
            raise _no_render_tier("Rendering was asked for", url)
        try:
            return await self._read_static(url, deadline, {"selector": selector, "tables": tables})
        except NoBody as failure:
            if mode:
                raise _no_render_tier("The page has no body without a browser", failure.url or url) from failure
            raise

    async def extract(
        self,
        body: bytes,
        *,
        url: str | None = None,
        content_type: str | None = None,
        selector: str | None = None,
        tables: Tables = "markdown",
    ) -> Page:
        """The main content of bytes in hand; fetches nothing. Raises what `service.extract` raises."""
        options = {"url": url, "content_type": content_type, "selector": selector, "tables": tables}
        deadline = asyncio.get_running_loop().time() + self.settings.limits.total_seconds
        return await self._in_time(body, options, deadline)

    def effective_timeout(self, timeout: float | None) -> float:
        """The budget in seconds that a request's `timeout` amounts to."""
        total = self.settings.limits.total_seconds
        return total if timeout is None else min(timeout, total)

    async def _read_static(self, url: str, deadline: float, options: dict[str, Any]) -> Page:
        if self._tier is None:
            raise RuntimeError("Reader is an async context manager: use `async with Reader() as reader`")
        visit = self._tier.visit(deadline)
        started = time.perf_counter()
        response = await visit.get(url)
        while True:
            fetched = 1e3 * (time.perf_counter() - started)
            try:
                page = await self._page(response, deadline, options)
            except NoBody as failure:
                # A page without a body that sends its reader elsewhere is a redirect.
                response = await _refreshed(visit, response, failure)
                continue
            timings = {"fetch": fetched, **page.timings}
            return replace(page, truncated=page.truncated or response.truncated, timings=timings)

    async def _page(self, response: Response, deadline: float, options: dict[str, Any]) -> Page:
        found = {"url": response.url, "content_type": response.content_type, "status": response.status}
        try:
            return await self._in_time(response.body, {**found, **options}, deadline)
        except UpstreamError as failure:
            failure.retry_after = retry_after(response.headers)
            raise

    async def _in_time(self, body: bytes, options: dict[str, Any], deadline: float) -> Page:
        scope = asyncio.timeout_at(deadline)
        try:
            async with scope:
                return await self._workers.extract(body, **options)
        except TimeoutError:
            raise UpstreamTimeout(
                "The time budget was spent before the page was read.", reason="deadline", url=options.get("url")
            ) from None


async def _refreshed(visit: Visit, response: Response, failure: NoBody) -> Response:
    target = failure.refresh or response.headers.get("refresh", "").partition("=")[2].strip("\"' ")
    if not target:
        raise failure
    return await visit.follow(target)


def _no_render_tier(why: str, url: str) -> Failure:
    return Overloaded(f"{why}, and this service has no render tier.", reason="no render tier", url=url)
