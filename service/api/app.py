"""The HTTP face: routes, failures and limits put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from service.api import routes
from service.api.errors import on_client_gone, on_failure, on_http_error
from service.api.keys import KeyRequired
from service.api.metrics import registry_of
from service.api.middleware import BodyLimit, RequestContext
from service.failures import Failure
from service.reader import Reader
from service.settings import Settings


def create_app(settings: Settings | None = None) -> Starlette:
    """The ASGI application. Its reader starts and stops with it."""
    settings = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with Reader(settings) as reader:
            app.state.reader = reader
            app.state.metrics = registry_of(reader)
            app.state.slots = anyio.Semaphore(settings.server.max_concurrent)
            yield
            # A stop that ran out of patience has cancelled its requests: let them unwind, and write their log lines.
            with anyio.move_on_after(1):
                for _ in range(settings.server.max_concurrent):
                    await app.state.slots.acquire()

    app = Starlette(
        routes=[
            Route("/v1/read", routes.read, methods=["POST"]),
            Route("/v1/extract", routes.extract, methods=["POST"]),
            Route("/read/{url:path}", routes.read_path, methods=["GET"]),
            Route("/healthz", routes.healthz, methods=["GET"]),
            Route("/readyz", routes.readyz, methods=["GET"]),
            Route("/metrics", routes.metrics, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
            Route("/docs", routes.docs, methods=["GET"]),
        ],
        middleware=[
            Middleware(RequestContext),
            Middleware(KeyRequired, keys=settings.auth.keys),
            Middleware(BodyLimit, limit=settings.server.max_request_bytes),
        ],
        exception_handlers={
            Failure: on_failure,
            HTTPException: on_http_error,
            ClientDisconnect: on_client_gone,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a wrong path is a wrong path, also with a slash
    return app
