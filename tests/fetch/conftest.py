from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from service.failures import Failure
from service.fetch import Guard, Response, StaticTier
from service.settings import Settings
from tests.hostile import install
from tests.origin import Origin, settings_for


@pytest.fixture(scope="session")
def shared_origin() -> Iterator[Origin]:
    with Origin() as origin:
        install(origin)
        yield origin


@pytest.fixture
def origin(shared_origin: Origin) -> Origin:
    """The hostile origin with an empty log. Routes are kept: tests use paths of their own."""
    shared_origin.wait_closed()
    shared_origin.requests.clear()
    shared_origin.connections = 0
    return shared_origin


class Fetcher:
    """A static tier for loopback: `read` fetches in one visit, `fail` gives the failure it ends in."""

    def __init__(self, settings: Settings, **parts: Any) -> None:
        self.settings = settings
        self.tier = StaticTier(settings, **parts)
        self.elapsed = 0.0

    def visit(self, seconds: float = 10) -> Any:
        return self.tier.visit(asyncio.get_running_loop().time() + seconds)

    async def read(self, url: str, seconds: float = 10) -> Response:
        started = time.monotonic()
        try:
            return await self.tier.visit(asyncio.get_running_loop().time() + seconds).get(url)
        finally:
            self.elapsed = time.monotonic() - started

    async def fail(self, url: str, seconds: float = 10) -> Failure:
        with pytest.raises(Failure) as caught:
            await self.read(url, seconds)
        return caught.value


Names = dict[str, list[str]]


def resolver_of(names: Names, seconds: float = 0) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that knows only these names."""

    async def resolve(host: str, port: int) -> list[str]:
        await asyncio.sleep(seconds)
        if host not in names:
            raise OSError(f"no such name: {host}")
        return names[host]

    return resolve


def guard_of(settings: Settings, names: Names) -> Guard:
    return Guard(settings.egress, settings.fetch, resolver_of(names))


MakeFetcher = Callable[..., Fetcher]


@pytest_asyncio.fixture
async def make_fetcher(origin: Origin) -> AsyncIterator[MakeFetcher]:
    """Builds fetchers that are closed at the end: further origins, `names` to resolve, sections of settings."""
    made: list[Fetcher] = []

    def make(*others: Origin, names: Names | None = None, ssl_context: Any = None, **sections: Any) -> Fetcher:
        settings = settings_for(origin, *others, **sections)
        guard = guard_of(settings, names) if names is not None else None
        made.append(Fetcher(settings, guard=guard, ssl_context=ssl_context))
        return made[-1]

    yield make
    for fetcher in made:
        await fetcher.tier.aclose()


@pytest.fixture
def fetcher(make_fetcher: MakeFetcher) -> Fetcher:
    return make_fetcher()
