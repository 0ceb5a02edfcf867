"""What a page's requests tell: where it is, what it still waits for, and when it must be stopped.

Routing is not used, and nothing is held up here: these are notes of what passes, and refusals of what is no text.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from playwright.async_api import CDPSession, Error, Page, Request, Response

from service.failures import ExtractFailed, Failure, UpstreamTimeout
from service.fetch.egress import Lane
from service.fetch.url import hop
from service.render.bounded import within
from service.render.errors import NotRendered, failure_of_navigation
from service.settings import Settings

_log = logging.getLogger("bonmun.render")

AWAITED = frozenset(("document", "script", "stylesheet", "xhr", "fetch"))
"""Requests that may yet bring text. Streams (`eventsource`, `websocket`) never end and are not waited for."""

TEXTLESS = [{"resourceType": kind} for kind in ("Media", "Font", "Image")]
"""Requests that bring no text. Images and fonts in use are off by flags; these are preloads, and media, which no flag
turns off. Chromium asks about these alone (Fetch domain): every other request goes its way untouched."""


class Traffic:
    """Notes of one page's requests. `stopped` ends the page: it holds the failure that its requests led to."""

    def __init__(self, lane: Lane, settings: Settings) -> None:
        self._lane = lane
        self._ports = settings.egress.ports
        self._max_redirects = settings.limits.max_redirects
        self._max_requests = settings.render.max_requests
        self.stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.address = ""
        self.status = 200
        self.headers: dict[str, str] = {}
        self.pending: set[Request] = set()
        self.begun = False
        """Whether the document has begun: before that, and once we stop it ourselves, its failures are no news."""
        self._requests = self._hops = self._moves = 0
        self.limited = False
        """Whether the page asked for more than it may, and was refused the rest."""
        self._sending: set[asyncio.Future[Any]] = set()

    async def watch(self, page: Page, session: CDPSession) -> None:
        """Begin to take notes of this page."""
        self._session = session
        page.context.on("page", _close)
        page.on("crash", self._crashed)
        page.on("request", self._requested)
        page.on("response", self._responded)
        page.on("requestfinished", self._finished)
        page.on("requestfailed", self._failed)
        session.on("Fetch.requestPaused", self._refused)
        await session.send("Fetch.enable", {"patterns": TEXTLESS})

    @property
    def is_settled(self) -> bool:
        """Whether no header sends the page's reader on after a while."""
        return "refresh" not in self.headers

    def failure(self, message: str) -> Failure | NotRendered:
        """What a navigation to the page's address failed by, by Chromium's error `message` and the proxy's notes."""
        return failure_of_navigation(message, self.address, self._lane.failures)

    def stop(self, end: Failure | NotRendered) -> None:
        """End the page with this, unless it has been ended."""
        if not self.stopped.done():
            if isinstance(end, Failure):
                end.url = end.url or self.address
            self.stopped.set_exception(end)
            self.stopped.exception()  # looked at here: nobody may be waiting

    def _crashed(self, _: Page) -> None:
        self.stop(ExtractFailed("The page crashed its browser process.", reason="crash"))

    def _requested(self, request: Request) -> None:
        if request.url.startswith("http"):
            self._requests += 1
        if self._requests == self._max_requests + 1:
            self._refuse_all()
        if request.resource_type in AWAITED and self._concerns_us(request):
            self.pending.add(request)
        if _is_document(request):
            self._moved(request)

    def _moved(self, request: Request) -> None:
        """One more step of the page's way: ours, a redirect by HTTP, or a navigation by script."""
        if self._moves:
            try:  # what the guard cannot see: scheme and user info
                hop(self.address, request.url, self._ports)
            except Failure as failure:
                self.stop(failure)
        if request.redirected_from is not None:
            self._hops += 1
        else:
            self._moves += 1
        self.address = request.url
        # As many moves by script are followed as redirects by HTTP; the first is ours.
        if max(self._hops, self._moves - 1) > self._max_redirects:
            self.stop(UpstreamTimeout(f"Too many redirects (over {self._max_redirects}).", reason="redirects"))

    def _responded(self, response: Response) -> None:
        if _is_document(response.request):
            self.status, self.headers = response.status, response.headers

    def _finished(self, request: Request) -> None:
        self.pending.discard(request)

    def _failed(self, request: Request) -> None:
        self.pending.discard(request)
        cut = self._lane.costs.spent or "ERR_ABORTED" in (request.failure or "ERR_ABORTED")
        if self.begun and not cut and _is_document(request):
            self.stop(failure_of_navigation(request.failure or "", request.url, self._lane.failures))

    def _refuse_all(self) -> None:
        """The page has had its requests: those under way come to their end, and no other is made."""
        _log.info("a page used up its requests", extra={"fields": {"url": self.address}})
        self.limited = True
        self._send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def _refused(self, event: dict[str, Any]) -> None:
        self._send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "BlockedByClient"})

    def _send(self, method: str, parameters: dict[str, Any]) -> None:
        """Send without waiting: events are handled in turn."""
        task = asyncio.ensure_future(self._session.send(method, parameters))
        self._sending.add(task)
        task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Future[Any]) -> None:
        self._sending.discard(task)
        if not task.cancelled():
            task.exception()  # the request, or the page, is gone by itself

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
        return not asking.startswith("http") or _origin(asking) == _origin(self.address)


def _is_document(request: Request) -> bool:
    """Whether it is for the page itself, not for a frame in it."""
    if not request.is_navigation_request():
        return False
    try:
        return request.frame.parent_frame is None
    except Error:  # the frame of a navigation that has no document yet: no inner one navigates so early
        return True


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])


async def _close(page: Page) -> None:
    """Windows a page opens are read by nobody."""
    try:
        await within(1, page.close())
    except (TimeoutError, Error) as error:
        _log.debug("a window stayed open", extra={"fields": {"error": str(error)}})
