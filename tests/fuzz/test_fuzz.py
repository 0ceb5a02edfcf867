"""Every target for a second or two; `python -m tests.fuzz` runs them long."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from tests.fuzz.mutation import mutants
from tests.fuzz.targets import TARGETS

SECONDS = 1.5
LEAST = 30


@pytest.mark.parametrize("name", TARGETS)
def test_target(name: str) -> None:
    target = TARGETS[name]
    end = time.monotonic() + SECONDS
    for number, data in enumerate(islice(mutants(target.seeds, 1), 20_000)):
        if number >= LEAST and time.monotonic() > end:
            break
        try:
            target.run(data)
        except Exception as error:
            pytest.fail(f"{name}, input {number}: {error!r} for {data[:2_000]!r}")


def test_what_is_wrong_is_found() -> None:
    """A target that accepts anything would prove nothing."""
    from tests.fuzz.targets import _check_text

    with pytest.raises(AssertionError):
        _check_text("a\x01b")
