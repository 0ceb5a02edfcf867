"""One reader, and so one browser, for a module of tests, on that module's event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from inspect import iscoroutinefunction

import pytest
import pytest_asyncio

from service import Reader
from service.render.executable import NoChromium, find
from tests.conftest import loopback
from tests.origin import Origin
from tests.render.hostile import app


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of a module's tests run on one loop, where its browser lives."""
    for item in items:
        if "tests/render" in item.path.as_posix() and iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest.fixture(scope="session", autouse=True)
def chromium() -> None:
    """`make test` installs one: a suite without is a broken set-up, not a skip."""
    try:
        find(None)
    except NoChromium as error:
        pytest.fail(str(error))


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with Origin() as running:
        running.route("/normal", app(""))
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader(origin: Origin) -> AsyncIterator[Reader]:
    async with Reader(loopback(origin.port)) as running:
        yield running
