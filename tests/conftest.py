"""Fixtures: a real origin on loopback, and settings that let the guard reach it and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.origin import Origin


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as running:
        yield running


@pytest.fixture
def settings(origin: Origin) -> Settings:
    return loopback(origin.port)


def loopback(*ports: int, **sections: dict[str, object]) -> Settings:
    """Settings whose egress policy allows these ports of 127.0.0.1."""
    return Settings.model_validate({"egress": {"allow": ["127.0.0.1/32"], "ports": list(ports)}, **sections})
