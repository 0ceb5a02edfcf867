"""One service and one origin for the tests of the HTTP face."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.conftest import loopback
from tests.hostile import PAGE
from tests.origin import Origin
from tests.server import serving


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with Origin() as running:
        running.route("/a", PAGE)
        yield running


@pytest.fixture(scope="module")
def base(origin: Origin) -> Iterator[str]:
    settings = loopback(
        origin.port,
        limits={"total_seconds": 8, "max_body_bytes": 1_000_000},
        server={"max_request_bytes": 300_000, "max_concurrent": 4},
        workers={"processes": 1},
    )
    with serving(settings) as address:
        yield address


@pytest.fixture
def client(base: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=base, timeout=20, trust_env=False) as running:
        yield running
