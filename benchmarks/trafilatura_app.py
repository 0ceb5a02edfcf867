"""The peer: Trafilatura behind the least Starlette app that does the same work, `POST /` with `{"url": …}`.

Fetched by httpx2 with a pool of connections, extracted in a thread, answered as JSON with Markdown and metadata.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
import httpx2
import trafilatura
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def read(request: Request) -> JSONResponse:
    """The main content of the page at an address."""
    url = (await request.json())["url"]
    response = await request.app.state.client.get(url)
    markdown = await anyio.to_thread.run_sync(_extract, response.content, url)
    return JSONResponse({"url": url, "markdown": markdown}, 200 if markdown else 422)


def _extract(body: bytes, url: str) -> str | None:
    markdown: str | None = trafilatura.extract(
        body, url=url, output_format="markdown", with_metadata=True, include_links=True, include_images=True
    )
    return markdown


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with httpx2.AsyncClient(follow_redirects=True, timeout=30) as client:
        app.state.client = client
        yield


app = Starlette(routes=[Route("/", read, methods=["POST"])], lifespan=_lifespan)
