"""One page in one browser context: load it until its text is still, and hand out the document as it is then.

Everything read from the page is read in an isolated world, whose built-ins the page cannot change.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error, Frame, Page, Request, Response

from service.failures import ExtractFailed, Failure, InvalidRequest, UpstreamTimeout
from service.fetch.egress import Lane
from service.fetch.url import hop
from service.render.bounded import within
from service.render.errors import NotRendered, failure_of_navigation
from service.settings import Settings

_log = logging.getLogger("bonmun.render")

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

SALVAGE_SECONDS = 0.8
"""Longest wait for the document of a page whose scripts had to be stopped."""

EXTRACTED_PER_SECOND = 400_000
"""Characters: 4 MiB of small paragraphs, the slowest ordinary text, take 3.0 s on an idle machine, three times that
on a busy one."""

MAX_NODES = 500_000
"""Nodes of a document written out; elements beyond `limits.max_nodes` would be cut by the parser anyway."""

IDLE_LOOKS = 2
"""Looks in a row that find a loaded page with no timer, frame or request to wait for: nothing is left to wait for."""

LINKS_QUIET = 3
"""Times the usual quiet for a page whose text is links: an index, or the frame of an app that is still empty."""

AWAITED = frozenset(("document", "script", "stylesheet", "xhr", "fetch"))
"""Requests that may yet bring text. Streams (`eventsource`, `websocket`) never end and are not waited for."""

HTML = frozenset(("text/html", "application/xhtml+xml"))
"""MIME types of a page's own document; for anything else a browser shows a viewer of its own."""

TEXTLESS = [{"resourceType": kind} for kind in ("Media", "Font", "Image")]
"""Requests that bring no text. Images and fonts in use are off by flags; these are preloads, and media, which no flag
turns off. Chromium asks about these alone (Fetch domain): every other request goes its way untouched."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document as it was at one moment: `html`, its `url`, MIME `type`, the origin's `status`.

    `truncated` says that the page was cut or still growing, `last` that there is no time for another look.
    """

    html: str
    url: str
    type: str
    status: int
    truncated: bool
    last: bool

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
        self._stopped: asyncio.Future[None] = loop.create_future()
        self._pending: set[Request] = set()
        self._requests = 0
        self._hops = 0
        self._moves = 0
        self._status = 200
        self._address = ""
        self._begun = self._answered = False
        self._world: int | None = None
        self._refusals: set[asyncio.Future[Any]] = set()
        self._chars = self._linked = 0
        self._height = VIEWPORT["height"]
        self._unrolled = 0
        self._since: float | None = None
        self._page: Page
        self._session: CDPSession

    async def open(self) -> None:
        """Make the page and take its reins."""
        self._page = await self._context.new_page()
        self._context.on("page", _close)
        self._page.on("crash", self._crashed)
        self._page.on("request", self._requested)
        self._page.on("response", self._responded)
        self._page.on("requestfinished", self._finished)
        self._page.on("requestfailed", self._failed)
        self._session = await self._context.new_cdp_session(self._page)
        self._session.on("Fetch.requestPaused", self._refused)
        await self._session.send("Fetch.enable", {"patterns": TEXTLESS})

    async def go(self, url: str) -> None:
        """Navigate, until the document has begun. Raises the failure that the static tier has for the same."""
        self._address = url
        try:
            await self._bounded(self._page.goto(url, wait_until="commit", timeout=0), self._end - self._clock())
        except TimeoutError:
            failure = failure_of_navigation("net::ERR_TIMED_OUT", self._address, self._lane.failures)
            raise failure from None
        except Error as error:
            if self._stopped.done():
                self._stopped.result()
            raise failure_of_navigation(error.message, self._address, self._lane.failures, self._answered) from None
        self._begun = True

    async def snapshot(self, wait_for: str | None = None) -> Snapshot:
        """The document once its text is still, or when the budget says so; a later call waits for it to grow.

        Raises the failure that a navigation by script led to, `InvalidRequest` (`wait_for`) and
        `ExtractFailed` (`crash`, `script`).
        """
        still = growing = False
        try:
            growing = await self._until_still(wait_for)
            still = True
            document = await self._document(self._end - self._clock())
        except TimeoutError:
            document = await self._salvage()
        over = not still or self._clock() + POLL_SECONDS >= self._end
        cut = bool(document["truncated"] or self._lane.costs.spent)
        return Snapshot(
            html=document["html"],
            url=self._address_of(document["url"]),
            type=document["type"],
            status=self._status,
            truncated=cut or not still or growing,
            last=over or bool(self._lane.costs.spent),
        )

    def _address_of(self, url: str) -> str:
        """A document's address as the static tier gives one: without fragment, and of the web."""
        return url.partition("#")[0] if url.startswith("http") else self._address

    async def _until_still(self, wait_for: str | None) -> bool:
        """Wait; whether the text was still growing when patience ended. Raises `TimeoutError` at the end."""
        least = self._settings.extraction.min_body_chars
        render = self._settings.render
        grown = self._clock() if self._since is None else None  # a later call: wait for more than there was
        self._since = None
        idle = 0  # looks in a row at a page that cannot change by itself
        while True:
            seen = await self._measure(wait_for)
            now = self._clock()
            idle = 0 if self._pending or not seen["idle"] else idle + 1
            if seen["chars"] + seen["linked"] > self._chars + self._linked:
                self._chars, self._linked, grown = seen["chars"], seen["linked"], now
            if seen["loaded"] and (seen["type"] not in HTML or _is_final(self._status)):
                return False
            if seen["loaded"] and await self._unroll(seen["height"]):
                idle, grown = 0, grown and self._clock()
                continue
            if wait_for is not None:
                if seen["matched"]:
                    self._since = now
                    return False
            elif grown is not None and seen["loaded"] and self._chars + self._linked >= least:
                self._since = self._since or now
                patient = now - self._since < render.settle_seconds
                # Links alone may be a page's frame before its text: they get a longer look.
                enough = render.quiet_seconds * (1 if self._chars >= least else LINKS_QUIET)
                finished = idle >= IDLE_LOOKS and now > grown and self._chars >= least
                quiet = (finished or now - grown >= enough) and not (self._pending and patient)
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
        await self._bounded(self._session.send("Emulation.setDeviceMetricsOverride", size), self._end - self._clock())
        await self._call("reveal.js", [], self._end - self._clock())
        return True

    async def _measure(self, wait_for: str | None) -> dict[str, Any]:
        try:
            found = await self._call("measure.js", [MAX_MEASURED_NODES, wait_for], self._end - self._clock())
        except _NoDocument as error:
            if wait_for is not None and "not a valid selector" in str(error):
                raise InvalidRequest(
                    f"`wait_for` is no CSS selector: {wait_for!r}.", reason="wait_for", url=self._address
                ) from None
            return {
                "chars": 0,
                "linked": 0,
                "matched": False,
                "type": "",
                "loaded": False,
                "idle": False,
                "height": 0,
            }  # between two documents
        result: dict[str, Any] = found
        return result

    async def _document(self, seconds: float) -> dict[str, Any]:
        end = self._clock() + seconds
        while True:
            try:
                found = await self._call("serialize.js", [self._affordable(), MAX_NODES], end - self._clock())
            except _NoDocument:
                if self._clock() >= end:
                    raise TimeoutError from None
                await asyncio.sleep(POLL_SECONDS)
                continue
            document: dict[str, Any] = found
            return document

    def _affordable(self) -> int:
        """Characters of a document that can still be extracted inside the budget."""
        left = self._deadline - self._clock()
        return min(self._settings.limits.max_body_bytes, max(1, int(left * EXTRACTED_PER_SECOND)))

    async def _salvage(self) -> dict[str, Any]:
        """Stop every script, and read what text there is. Raises `ExtractFailed` (`script`) when that fails too."""
        self._begun = False  # what fails from here on is our doing
        self._lane.stop("seconds")
        try:
            await asyncio.gather(
                within(SALVAGE_SECONDS, self._session.send("Emulation.setScriptExecutionDisabled", {"value": True})),
                within(SALVAGE_SECONDS, self._session.send("Runtime.terminateExecution")),
                within(SALVAGE_SECONDS, self._session.send("Page.stopLoading")),
                return_exceptions=True,
            )
            return await self._document(SALVAGE_SECONDS)
        except TimeoutError:
            raise UpstreamTimeout(
                "The page kept its browser busy until the time budget was spent.", reason="script", url=self._address
            ) from None

    async def _call(self, script: str, arguments: list[Any], seconds: float) -> Any:
        """Call a script of ours in the isolated world of the main frame. Raises `_NoDocument` between two documents."""
        try:
            return await self._bounded(self._evaluate(script, arguments), seconds)
        except Error as error:
            raise _NoDocument(error.message) from None

    async def _evaluate(self, script: str, arguments: list[Any]) -> Any:
        if self._world is None:
            tree = await self._session.send("Page.getFrameTree")
            frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "bonmun"}
            self._world = (await self._session.send("Page.createIsolatedWorld", frame))["executionContextId"]
        call = {
            "functionDeclaration": _source(script),
            "executionContextId": self._world,
            "arguments": [{"value": argument} for argument in arguments],
            "returnByValue": True,
        }
        try:
            answer = await self._session.send("Runtime.callFunctionOn", call)
        except Error:
            self._world = None  # it went with its document
            raise
        if "exceptionDetails" in answer:
            raise _NoDocument(str(answer["exceptionDetails"].get("exception", {}).get("description", "")))
        return answer["result"].get("value")

    async def _bounded(self, call: Any, seconds: float) -> Any:
        return await within(seconds, call, self._stopped, self._gone)

    def _stop(self, end: Failure | NotRendered) -> None:
        if not self._stopped.done():
            if isinstance(end, Failure):
                end.url = end.url or self._address
            self._stopped.set_exception(end)
            self._stopped.exception()  # looked at here: nobody may be waiting

    def _crashed(self, _: Page) -> None:
        self._stop(ExtractFailed("The page crashed its browser process.", reason="crash"))

    def _requested(self, request: Request) -> None:
        if request.url.startswith("http"):
            self._requests += 1
        if self._requests > self._settings.render.max_requests:
            self._lane.stop("requests")
        if request.resource_type in AWAITED and self._concerns_us(request):
            self._pending.add(request)
        if not self._is_document(request):
            return
        if self._address and self._moves + self._hops:
            self._check(request)
        if request.redirected_from is not None:
            self._hops += 1
        else:
            self._moves += 1
        self._address = request.url
        # The first move is ours. As many by script are followed as redirects by HTTP.
        if max(self._hops, self._moves - 1) > self._settings.limits.max_redirects:
            self._stop(
                UpstreamTimeout(f"Too many redirects (over {self._settings.limits.max_redirects}).", reason="redirects")
            )

    def _refused(self, event: dict[str, Any]) -> None:
        refusal = {"requestId": event["requestId"], "errorReason": "BlockedByClient"}
        task = asyncio.ensure_future(self._session.send("Fetch.failRequest", refusal))
        self._refusals.add(task)
        task.add_done_callback(self._refusal_sent)

    def _refusal_sent(self, task: asyncio.Future[Any]) -> None:
        self._refusals.discard(task)
        if not task.cancelled():
            task.exception()  # the request, or the page, is gone by itself

    def _check(self, request: Request) -> None:
        """What the guard cannot see: the scheme and user info of where the page goes."""
        try:
            hop(self._address, request.url, self._settings.egress.ports)
        except Failure as failure:
            self._stop(failure)

    def _responded(self, response: Response) -> None:
        if self._is_document(response.request):
            self._status, self._answered = response.status, True

    def _finished(self, request: Request) -> None:
        self._pending.discard(request)

    def _failed(self, request: Request) -> None:
        self._pending.discard(request)
        cut = self._lane.costs.spent or "ERR_ABORTED" in (request.failure or "ERR_ABORTED")
        if self._begun and not cut and self._is_document(request):
            self._stop(failure_of_navigation(request.failure or "", request.url, self._lane.failures))

    def _concerns_us(self, request: Request) -> bool:
        """Whether text that a reader of this page sees may depend on it: not what a stranger's frame loads."""
        if not request.url.startswith("http"):
            return False
        try:
            if request.frame.parent_frame is None:
                return True
            asking = request.url if request.is_navigation_request() else request.frame.url
        except Error:
            return True
        return not asking.startswith("http") or _origin(asking) == _origin(self._address)

    def _is_document(self, request: Request) -> bool:
        """Whether it is for the page itself, not for a frame in it."""
        if not request.is_navigation_request():
            return False
        try:
            frame: Frame = request.frame
        except Error:  # the frame of a navigation that has no document yet: no inner one navigates so early
            return True
        return frame.parent_frame is None


def _is_final(status: int) -> bool:
    """Whether this status is the answer, whatever scripts do: 403, 429 and 503 may be challenges, which they pass."""
    return status in (404, 410) or (status >= 500 and status != 503)


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


class _NoDocument(Exception):
    """There is nothing to ask just now: one document is gone and the next not there."""


async def _close(page: Page) -> None:
    """Windows a page opens are read by nobody."""
    try:
        await within(1, page.close())
    except (TimeoutError, Error) as error:
        _log.debug("a window stayed open", extra={"fields": {"error": str(error)}})


@cache
def _source(script: str) -> str:
    folder = Path(__file__).with_name("scripts")
    common, own = ((folder / name).read_text(encoding="utf-8") for name in ("dom.js", script))
    return f"function(...given) {{\n{common}\nreturn (\n{own}\n)(...given);\n}}"
