"""One page in one browser context: load it until its text is still, and hand out the document as it is then."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from playwright.async_api import BrowserContext, CDPSession, Error, Page

from service.failures import InvalidRequest, UpstreamTimeout
from service.fetch.egress import Lane
from service.fetch.url import MAX_CHARS
from service.render.bounded import within
from service.render.traffic import Traffic
from service.render.world import NoDocument, World
from service.settings import Settings

T = TypeVar("T")

VIEWPORT = {"width": 1280, "height": 1000}
"""CSS pixels to begin with: drawing 4,000 of them for every small page cost an eighth of the throughput."""

MAX_HEIGHT = 30_000
"""CSS pixels a page is unrolled to at most; an infinite scroll ends here."""

UNROLL_MARGIN = 1_000
"""CSS pixels more than a page has now: what comes next begins to load before it is in sight."""

UNROLLINGS = 8
"""Times a page that outgrew its window gets a taller one."""

POLL_SECONDS = 0.03
"""Between two looks at the text: a measure costs 1 to 3 ms on an ordinary page."""

MAX_MEASURED_NODES = 50_000
"""Nodes a look visits at most: what is beyond does not change whether there is a body's worth."""

RESERVE_SECONDS = 1.5
"""Kept of the budget to stop scripts, salvage the text and extract it; a quarter of it where less than 6 s are left."""

SALVAGE_SECONDS = 1.0
"""Longest wait for the document of a page whose scripts had to be stopped."""

EXTRACTED_PER_SECOND = 300_000
"""Characters: 4 MiB of small paragraphs, the slowest ordinary text, take 3.0 s on an idle machine, more than three
times that on a busy one."""

MAX_NODES = 500_000
"""Nodes of a document written out; elements beyond `limits.max_nodes` would be cut by the parser anyway."""

IDLE_LOOKS = 2
"""Looks in a row that find a loaded page with no timer, frame or request to wait for: nothing is left to wait for."""

LINKS_QUIET = 3
"""Times the usual quiet for a page whose text is links: an index, or the frame of an app that is still empty."""

HTML = frozenset(("text/html", "application/xhtml+xml"))
"""MIME types of a page's own document; for anything else a browser shows a viewer of its own."""

EVENT_SECONDS = 0.5
"""Longest wait for the news that a browser or a page has ended."""

FIRST = asyncio.FIRST_COMPLETED

NOTHING = {"chars": 0, "linked": 0, "matched": False, "type": "", "loaded": False, "idle": False, "height": 0}
"""What is seen between two documents."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document as it was at one moment: `html`, its `url`, MIME `type`, the origin's `status`.

    `truncated` says that the page was cut or still growing, `last` that there is no time for another look.
    """

    html: str
    url: str
    type: str
    status: int
    headers: Mapping[str, str]
    truncated: bool
    last: bool
    spent: str | None
    """What ended the loading: `seconds` while requests were pending, or the budget of `requests` or `bytes`."""

    @property
    def is_document(self) -> bool:
        """Whether this is a page's own document, and no viewer's."""
        return self.type in HTML


class Tab:
    """A page being loaded: `open`, `go`, then `snapshot`, which can be called again while there is time."""

    def __init__(
        self, context: BrowserContext, lane: Lane, settings: Settings, deadline: float, gone: asyncio.Future[None]
    ) -> None:
        self._context = context
        self._lane = lane
        self._settings = settings
        loop = asyncio.get_running_loop()
        self._clock = loop.time
        left = deadline - self._clock()
        self._deadline = deadline
        self._end = deadline - min(RESERVE_SECONDS, left / 4)
        self._gone = gone
        self._traffic = Traffic(lane, settings)
        self._chars = self._linked = 0
        self._height = VIEWPORT["height"]
        self._unrolled = 0
        self._since: float | None = None
        self._over = False
        self._page: Page
        self._session: CDPSession
        self._world: World

    async def open(self) -> None:
        """Make the page and take its reins."""
        self._page = await self._context.new_page()
        self._session = await self._context.new_cdp_session(self._page)
        self._world = World(self._session)
        await self._traffic.watch(self._page, self._session)

    async def go(self, url: str) -> None:
        """Navigate, until the document has begun. Raises the failure that the static tier has for the same."""
        self._traffic.address = url
        try:
            await self._bounded(self._page.goto(url, wait_until="commit", timeout=0))
        except TimeoutError:
            raise self._traffic.failure("net::ERR_TIMED_OUT") from None
        except Error as error:
            # What ended it may be told a moment after its calls have failed.
            ends = {self._traffic.stopped, self._gone}
            await asyncio.wait(ends, timeout=0 if "net::" in error.message else EVENT_SECONDS, return_when=FIRST)
            for end in ends:
                if end.done():
                    end.result()
            raise self._traffic.failure(error.message) from None
        self._traffic.begun = True

    async def snapshot(self, wait_for: str | None = None) -> Snapshot:
        """The document once its text is still, or when the budget says so; a later call waits for it to grow.

        Raises the failure that a navigation by script led to, `InvalidRequest` (`wait_for`), `ExtractFailed`
        (`crash`) and `UpstreamTimeout` (`script`).
        """
        still = growing = False
        spent = None
        try:
            growing = await self._until_still(wait_for)
            still = True
            document = await self._document(self._end)
        except TimeoutError:
            spent = "seconds" if self._traffic.pending else None
            document = await self._salvage()
        spent = spent or ("requests" if self._traffic.limited else self._lane.costs.spent if still else None)
        over = not still or self._clock() + POLL_SECONDS >= self._end
        cut = bool(document["truncated"] or self._lane.costs.spent or self._traffic.limited)
        return Snapshot(
            html=document["html"],
            url=_web(document["url"]) or self._traffic.address,
            type=document["type"],
            status=self._traffic.status,
            headers=self._traffic.headers,
            spent=spent,
            truncated=cut or not still or growing,
            last=over or self._over or bool(self._lane.costs.spent),
        )

    async def _until_still(self, wait_for: str | None) -> bool:
        """Wait; whether the text was still growing when patience ended. Raises `TimeoutError` at the end."""
        least = self._settings.extraction.min_body_chars
        render = self._settings.render
        grown = self._clock() if self._since is None else None  # a later call: wait for more than there was
        self._since = None
        idle = 0  # looks in a row at a page that cannot change by itself
        idle_since = self._clock()
        while True:
            seen = await self._measure(wait_for)
            now = self._clock()
            idle = idle + 1 if seen["idle"] and not self._traffic.pending and self._traffic.is_settled else 0
            idle_since = idle_since if idle else now
            if seen["chars"] + seen["linked"] > self._chars + self._linked:
                self._chars, self._linked, grown = seen["chars"], seen["linked"], now
            if seen["loaded"] and (seen["type"] not in HTML or _is_final(self._traffic.status)):
                return False
            if seen["loaded"] and await self._unroll(seen["height"]):
                idle, idle_since, grown = 0, self._clock(), grown and self._clock()
                continue
            self._over = idle >= IDLE_LOOKS and now - idle_since >= render.quiet_seconds
            if self._over:  # what is not there by now never comes
                return wait_for is not None and not seen["matched"]
            if wait_for is not None:
                if seen["matched"] and grown is not None:
                    self._since = now
                    return False
            elif grown is not None and seen["loaded"] and self._chars + self._linked >= least:
                self._since = self._since or now
                patient = now - self._since < render.settle_seconds
                # Links alone may be a page's frame before its text: they get a longer look.
                enough = render.quiet_seconds * (1 if self._chars >= least else LINKS_QUIET)
                finished = idle >= IDLE_LOOKS and now > grown and self._chars >= least
                quiet = (finished or now - grown >= enough) and not (self._traffic.pending and patient)
                if quiet or not patient:
                    return not quiet
            if self._lane.costs.spent:
                return True
            if now + POLL_SECONDS >= self._end:
                raise TimeoutError
            await asyncio.sleep(POLL_SECONDS)

    async def _unroll(self, height: int) -> bool:
        """Give a page that outgrew its window a taller one, for what waits until it is visible."""
        if height <= self._height or self._unrolled >= UNROLLINGS or self._height >= MAX_HEIGHT:
            return False
        self._unrolled += 1
        self._height = min(height + UNROLL_MARGIN, MAX_HEIGHT)
        size = {"width": VIEWPORT["width"], "height": self._height, "deviceScaleFactor": 1, "mobile": False}
        await self._bounded(self._session.send("Emulation.setDeviceMetricsOverride", size))
        try:
            await self._bounded(self._world.call("reveal.js"))
        except NoDocument:
            return False
        return True

    async def _measure(self, wait_for: str | None) -> dict[str, Any]:
        try:
            seen: dict[str, Any] = await self._bounded(self._world.call("measure.js", MAX_MEASURED_NODES, wait_for))
        except NoDocument as error:
            if wait_for is not None and "not a valid selector" in str(error):
                raise InvalidRequest(
                    f"`wait_for` is no CSS selector: {wait_for!r}.", reason="wait_for", url=self._traffic.address
                ) from None
            return NOTHING
        return seen

    async def _document(self, end: float) -> dict[str, Any]:
        while True:
            try:
                hidden = self._chars + self._linked < self._settings.extraction.min_body_chars
                call = self._world.call("serialize.js", self._affordable(), MAX_NODES, hidden)
                document: dict[str, Any] = await self._bounded(call, end)
            except NoDocument:
                if self._clock() >= end:
                    raise TimeoutError from None
                await asyncio.sleep(POLL_SECONDS)
            else:
                return document

    def _affordable(self) -> int:
        """Characters of a document that can still be extracted inside the budget."""
        left = self._deadline - self._clock()
        return min(self._settings.limits.max_body_bytes, max(1, int(left * EXTRACTED_PER_SECOND)))

    async def _salvage(self) -> dict[str, Any]:
        """Stop every script, and read what text there is. Raises `UpstreamTimeout` (`script`) when that fails too."""
        self._traffic.begun = False
        self._lane.stop("seconds")
        end = min(self._clock() + SALVAGE_SECONDS, self._deadline)
        try:
            await asyncio.gather(
                self._bounded(self._session.send("Emulation.setScriptExecutionDisabled", {"value": True}), end),
                self._bounded(self._session.send("Runtime.terminateExecution"), end),
                self._bounded(self._session.send("Page.stopLoading"), end),
                return_exceptions=True,
            )
            return await self._document(end)
        except TimeoutError:
            raise UpstreamTimeout(
                "The page kept its browser busy until the time budget was spent.",
                reason="script",
                url=self._traffic.address,
            ) from None

    async def _bounded(self, call: Coroutine[Any, Any, T], end: float | None = None) -> T:
        """The call's result, until `end` (the end of loading), unless the page is stopped or its browser gone."""
        seconds = (self._end if end is None else end) - self._clock()
        return await within(seconds, call, self._traffic.stopped, self._gone)


def _is_final(status: int) -> bool:
    """Whether this status is the answer, whatever scripts do: 403, 429 and 503 may be challenges, which they pass."""
    return status in (404, 410) or (status >= 500 and status != 503)


def _web(url: str) -> str | None:
    """A document's address as the static tier gives one, without fragment; None for one that is not of the web."""
    return url.partition("#")[0] if url.startswith("http") and len(url) <= MAX_CHARS else None
