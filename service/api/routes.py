"""The routes: read an address, extract from bytes in hand, and how the service is."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from service.api.docs import CONTENT_SECURITY_POLICY, PAGE
from service.api.errors import JSONAnswer
from service.api.negotiation import prefers_json
from service.api.openapi import document
from service.api.schema import ExtractRequest, Options, ReadRequest, answer_of, parse_json, validate
from service.api.target import target_of
from service.extraction.escape import titled
from service.failures import Failure, InvalidRequest, Overloaded
from service.page import Page
from service.reader import Reader

_MAX_HOST = 253  # of a name in DNS: what is longer must not fill the log


async def read(request: Request) -> Response:
    """`POST /v1/read`: the main content of the page at an address."""
    _require_json(request)
    wanted = parse_json(ReadRequest, await request.body())
    reader: Reader = request.app.state.reader
    started = time.perf_counter()
    page = await _admitted(request, wanted.url, lambda: reader.read(wanted.url, **_read_options(wanted)))
    return _answer(page, wanted, started, reader.effective_timeout(wanted.timeout))


async def read_path(request: Request) -> Response:
    """`GET /read/<url>`: the same, as Markdown, or as JSON where `Accept` prefers it."""
    url = target_of(request)
    reader: Reader = request.app.state.reader
    started = time.perf_counter()
    page = await _admitted(request, url, lambda: reader.read(url))
    if prefers_json(",".join(request.headers.getlist("accept"))):
        response = _answer(page, Options(), started, reader.effective_timeout(None))
    else:
        text = f"{titled(page.title, page.markdown)}\n".encode("utf-8", "replace")
        response = Response(text, media_type="text/markdown; charset=utf-8")
        response.headers["Server-Timing"] = _server_timing(page)
    response.headers["Vary"] = "Accept"
    return response


async def extract(request: Request) -> Response:
    """`POST /v1/extract`: the main content of a page sent along, as JSON or as it is with its Content-Type."""
    content_type = request.headers.get("content-type", "")
    body = await request.body()
    if content_type.partition(";")[0].strip().lower() == "application/json":
        wanted = parse_json(ExtractRequest, body)
        source, declared = wanted.html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    else:
        wanted = validate(ExtractRequest, {"html": "", **_query_options(request)})
        source, declared = body, content_type
        if not content_type:
            raise InvalidRequest("Send a Content-Type: application/json, or the page's own.", reason="Content-Type")
    reader: Reader = request.app.state.reader
    started = time.perf_counter()
    options = {"url": wanted.url, "content_type": declared, "selector": wanted.selector, "tables": wanted.tables}
    page = await _admitted(request, wanted.url, lambda: reader.extract(source, **options))  # type: ignore[arg-type]
    return _answer(page, wanted, started, None)


async def healthz(request: Request) -> Response:
    """`GET /healthz`: the process is alive."""
    return PlainTextResponse("ok\n")


async def readyz(request: Request) -> Response:
    """`GET /readyz`: every component; 503 when one that every read needs cannot serve, or the browser leaks."""
    reader: Reader = request.app.state.reader
    state, render = reader.state, reader.render_state
    ready = all(value == "ok" for value in state.values()) and render.sound
    answer = {"components": {**state, "render": render.status}, "render": render.details}
    return JSONAnswer(answer, 200 if ready else 503)


async def metrics(request: Request) -> Response:
    """`GET /metrics`: the same and more for Prometheus."""
    return Response(generate_latest(request.app.state.metrics), media_type=CONTENT_TYPE_LATEST)


async def openapi(request: Request) -> Response:
    """`GET /openapi.json`: this interface, described."""
    return JSONAnswer(document())


async def docs(request: Request) -> Response:
    """`GET /docs`: the same for people."""
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})


async def _admitted(request: Request, url: str | None, work: Callable[[], Awaitable[Page]]) -> Page:
    """Do the work inside the service's limit of reads at once, and stop it when the caller goes."""
    request.state.host = _host(url)
    slots: anyio.Semaphore = request.app.state.slots
    try:
        slots.acquire_nowait()
    except anyio.WouldBlock:
        raise Overloaded("The service reads as many pages as it can.", reason="max_concurrent", retry_after=1) from None
    pages: list[Page] = []
    failures: list[Exception] = []
    try:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                try:
                    pages.append(await work())
                except Exception as error:
                    failures.append(error)
                group.cancel_scope.cancel()

            group.start_soon(run)
            try:
                while (await request.receive())["type"] != "http.disconnect":
                    continue
            except Failure as failure:  # a body over the limit, where none was asked for
                failures.append(failure)
            group.cancel_scope.cancel()
    finally:
        slots.release()
    if failures:
        raise failures[0]
    if not pages:
        raise ClientDisconnect
    return pages[0]


def _answer(page: Page, options: Options, started: float, timeout: float | None) -> Response:
    elapsed = 1e3 * (time.perf_counter() - started)
    return JSONAnswer(answer_of(page, options, elapsed, timeout), headers={"Server-Timing": _server_timing(page)})


def _server_timing(page: Page) -> str:
    return ", ".join(f"{stage};dur={ms:.1f}" for stage, ms in page.timings.items())


def _read_options(wanted: ReadRequest) -> dict[str, Any]:
    return {name: getattr(wanted, name) for name in ("render", "selector", "wait_for", "tables", "timeout")}


def _query_options(request: Request) -> dict[str, Any]:
    """Options of a raw body, from the query string: numbers as numbers, `include` by commas."""
    options: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name == "include":
            options["include"] = [
                *options.get("include", []),
                *(part.strip() for part in value.split(",") if part.strip()),
            ]
        elif name in ("offset", "limit"):
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                raise InvalidRequest(f"`{name}` must be a whole number.", reason=name)
            options[name] = int(value)
        elif name == "html":
            raise InvalidRequest("`html` is no option here: the body is the page.", reason=name)
        else:
            options[name] = value
    return options


def _require_json(request: Request) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in ("application/json", ""):
        raise InvalidRequest(f"Content-Type must be application/json, not {given!r}.", reason="Content-Type")


def _host(url: str | None) -> str | None:
    try:
        host = urlsplit(url).hostname if url else None
    except ValueError:
        return None
    return host[:_MAX_HOST] if host else None
