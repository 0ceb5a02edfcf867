"""One URL to one Page: the static tier, the gate, the render tier, and one time budget across both."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

from service.extraction import NoBody
from service.failures import (
    BlockedBySite,
    ExtractFailed,
    Failure,
    InvalidRequest,
    Overloaded,
    UpstreamError,
    UpstreamTimeout,
)
from service.fetch import Response, StaticTier, Visit, retry_after
from service.page import Page, Tables
from service.render import NotRendered, RenderTier, Snapshot, State
from service.settings import Settings
from service.workers import Turn, Workers

RenderMode = bool | Literal["always"]

GRACE_SECONDS = 0.5
"""What a page that used up its whole budget in the browser may take longer, rather than be thrown away."""

CURABLE = ("challenge:", "bot:", "consent:")
"""Walls that a browser may get past by itself, by the beginning of their `reason`: their scripts let it in."""


class Reader:
    """Reads pages. An async context manager: it owns connections, worker processes and a browser."""

    def __init__(self, settings: Settings | None = None, tier: StaticTier | None = None) -> None:
        self.settings = settings or Settings()
        self._tier = tier
        self._workers = Workers(self.settings)
        self._render_tier: RenderTier | None = None

    async def __aenter__(self) -> Self:
        if self._tier is None:
            self._tier = StaticTier(self.settings)
        try:
            await self._workers.start()
            if self.settings.render.start != "never":
                self._render_tier = RenderTier(self.settings, self._tier.backend)
            if self._render_tier is not None and self.settings.render.start == "boot":
                await self._render_tier.start()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._render_tier is not None:
            await self._render_tier.aclose()
        await self._workers.aclose()
        if self._tier is not None:
            await self._tier.aclose()

    @property
    def state(self) -> dict[str, str]:
        """Each component that every read needs, and `ok` or what is wrong with it."""
        full = self._workers.waiting >= self.settings.workers.queue + self._workers.processes
        return {"static": "ok" if self._tier is not None else "not started", "workers": "queue full" if full else "ok"}

    @property
    def render_state(self) -> State:
        """How the render tier is. Without it the static tier goes on."""
        if self._render_tier is None:
            return State("off", {}, sound=True)
        return self._render_tier.state

    @property
    def render_counts(self) -> dict[str, int]:
        """What the render tier has done since its start, by name."""
        return {} if self._render_tier is None else self._render_tier.counts

    async def read(
        self,
        url: str,
        *,
        render: RenderMode | None = None,
        selector: str | None = None,
        wait_for: str | None = None,
        tables: Tables = "markdown",
        timeout: float | None = None,
        explain: bool = False,
    ) -> Page:
        """The main content of the page at `url`, within `timeout` seconds (clamped to `limits.total_seconds`).

        `explain` also tells how every block of the page was judged (`Page.blocks`).
        Raises a `Failure`: see the README's table.
        """
        mode = self.settings.render.default if render is None else render
        if wait_for is not None and not wait_for.strip():
            raise InvalidRequest("`wait_for` is empty.", reason="wait_for")
        if wait_for is not None and not mode:
            raise InvalidRequest(
                "`wait_for` needs `render`: without a browser nothing changes while waiting.", reason="wait_for"
            )
        started = time.perf_counter()
        deadline = asyncio.get_running_loop().time() + self.effective_timeout(timeout)
        options = {"selector": selector, "tables": tables, "explain": explain}
        if mode == "always":
            try:
                return await self._read_rendered(url, deadline, options, wait_for)
            except NotRendered:
                return await self._read_static(url, deadline, options)
        # The gate. No browser is started for a request that did not ask, or whose body is in the markup.
        first: Page | Failure
        try:
            first = await self._read_static(url, deadline, options)
        except Failure as failure:
            first = failure
        if not mode or not self._is_wanting(first):
            return _given(first)
        fetched = 1e3 * (time.perf_counter() - started)
        try:
            page = await self._read_rendered(url, deadline, options, wait_for)
        except NotRendered:
            return _given(first)
        except Failure:
            if isinstance(first, Failure):
                raise
            return first  # a description, or a short post: little, but true
        return replace(page, timings={"fetch": fetched, **page.timings})

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

    async def _read_rendered(self, url: str, deadline: float, options: dict[str, Any], wait_for: str | None) -> Page:
        """The page as a browser has it. Raises `NotRendered` for what a browser has no document of."""
        if self._render_tier is None:
            raise Overloaded("The page needs a browser, and render.start is `never`.", reason="no render tier", url=url)
        started = time.perf_counter()

        async def read(snapshot: Snapshot) -> Page | None:
            if not snapshot.is_document:
                raise NotRendered
            rendered = 1e3 * (time.perf_counter() - started)
            end = deadline + (GRACE_SECONDS if snapshot.last else 0)
            try:
                page = await self._page(_response(snapshot), end, options)
            except Failure as failure:
                if not snapshot.last and _is_curable(failure):
                    return None  # not yet: its scripts are still at it
                if isinstance(failure, NoBody) and snapshot.spent is not None:
                    raise _unfinished(snapshot.spent, snapshot.url) from None
                raise
            timings = {"render": rendered, **page.timings}
            return replace(page, tier="rendered", truncated=page.truncated or snapshot.truncated, timings=timings)

        page = await self._render_tier.render(url, deadline, read, wait_for)
        if page is None:
            raise RuntimeError("the last snapshot gives a page or raises")
        return page

    def _is_wanting(self, first: Page | Failure) -> bool:
        """Whether a browser may do better than the static tier did. A typed payload never wants one."""
        if isinstance(first, Failure):
            return _is_curable(first)
        if first.source == "description":
            return True
        return first.source == "body" and len("".join(first.text.split())) < self.settings.extraction.min_body_chars

    async def _page(self, response: Response, deadline: float, options: dict[str, Any]) -> Page:
        found = {"url": response.url, "content_type": response.content_type, "status": response.status}
        try:
            return await self._in_time(response.body, {**found, **options}, deadline)
        except UpstreamError as failure:
            failure.retry_after = retry_after(response.headers)
            raise

    async def _in_time(self, body: bytes, options: dict[str, Any], deadline: float) -> Page:
        scope = asyncio.timeout_at(deadline)
        turn = Turn()
        try:
            async with scope:
                return await self._workers.extract(body, turn, **options)
        except TimeoutError:
            if not turn.has_come:
                raise Overloaded(
                    "The time budget was spent waiting for an extraction process.",
                    reason="extraction queue",
                    retry_after=1,
                    url=options.get("url"),
                ) from None
            raise UpstreamTimeout(
                "The time budget was spent before the page was read.", reason="deadline", url=options.get("url")
            ) from None


async def _refreshed(visit: Visit, response: Response, failure: NoBody) -> Response:
    target = failure.refresh or response.headers.get("refresh", "").partition("=")[2].strip("\"' ")
    if not target:
        raise failure
    return await visit.follow(target)


def _given(outcome: Page | Failure) -> Page:
    if isinstance(outcome, Failure):
        raise outcome
    return outcome


def _response(snapshot: Snapshot) -> Response:
    """A rendered document as what an origin might have answered."""
    return Response(
        url=snapshot.url,
        status=snapshot.status,
        content_type="text/html; charset=utf-8",
        headers=snapshot.headers,
        body=snapshot.html.encode("utf-8", "replace"),
        truncated=snapshot.truncated,
    )


def _unfinished(spent: str, url: str) -> Failure:
    """Why a page without a body may have one: its budget was spent first."""
    if spent == "seconds":
        return UpstreamTimeout("The time budget was spent before the page had a body.", reason="deadline", url=url)
    return ExtractFailed(f"The page used up its {spent} before it had a body.", reason=spent, url=url)


def _is_curable(failure: Failure) -> bool:
    """Whether a browser may find a body where this was found: an empty app, a challenge that needs script."""
    if isinstance(failure, BlockedBySite):
        return (failure.reason or "").startswith(CURABLE)
    return isinstance(failure, NoBody)
