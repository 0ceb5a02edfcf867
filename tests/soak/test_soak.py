"""`BONMUN_SOAK_SECONDS=1200 python -m pytest -m slow tests/soak -s`: no wrong answer, none lost, nothing that grows."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.servers import service
from service.settings import cpus
from tests.origin import Origin
from tests.render.processes import children, command, private_bytes
from tests.soak.faults import FAULTS
from tests.soak.traffic import SECONDS, Traffic, kinds

LONG = float(os.environ.get("BONMUN_SOAK_SECONDS", "1200"))
CALLERS = 12
WARM_UP = 0.1
"""Share of the time after which memory is taken as what it stays at."""

SETTLE = SECONDS + 2
"""Seconds without traffic before anything is measured."""


@dataclass(frozen=True)
class Size:
    """What the service holds when nothing is asked of it."""

    memory: int
    """Private bytes of it and its workers; a browser is replaced by its own rules and counted apart."""
    browser: int
    descriptors: int
    processes: int


async def soak(seconds: float, pid: int, port: int, traffic: Traffic) -> tuple[Size, Size]:
    """Traffic with a fault every few seconds; sizes after warming up, and at the end."""
    await traffic.run(CALLERS, seconds * WARM_UP)
    await asyncio.sleep(SETTLE)
    first = _size(pid)
    chance = random.Random(5)
    task = asyncio.create_task(traffic.run(CALLERS, seconds * (1 - WARM_UP)))
    names = list(FAULTS)
    while not task.done():
        await asyncio.wait([task], timeout=chance.uniform(2, 6))
        if not task.done():
            await FAULTS[names[chance.randrange(len(names))]](pid, port, chance)
    await task
    await asyncio.sleep(SETTLE)
    return first, _size(pid)


def _size(pid: int) -> Size:
    family = [pid, *children(pid)]
    browsers = [child for child in family if "chrom" in command(child) or "playwright" in command(child)]
    own = [child for child in family if child not in browsers]
    return Size(
        sum(map(private_bytes, own)),
        sum(map(private_bytes, browsers)),
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        len(own),
    )


def _pid_of(port: int) -> int:
    return next(child for child in children(os.getpid()) if f"service serve --port {port}" in command(child))


def _report(traffic: Traffic, first: Size, last: Size) -> None:
    print(f"\nafter warming up {first}\nat the end       {last}")
    for name, found in sorted(traffic.record.latencies.items()):
        ordered = sorted(ms for _, ms in found)
        print(f"{name:8} {len(ordered):6} answers, p50 {ordered[len(ordered) // 2]:6.0f} ms,"
              f" p99 {ordered[int(0.99 * len(ordered))]:6.0f} ms")  # fmt: skip
    print({key: traffic.record.answered[key] for key in sorted(traffic.record.answered)})


def _check(seconds: float, grown: float) -> None:
    with Origin() as origin, service(origin.port, SERVER__MAX_CONCURRENT="64", WORKERS__QUEUE="64") as port:
        pid = _pid_of(port)
        traffic = Traffic(port, kinds(origin, random.Random(1)), 2)
        first, last = asyncio.run(soak(seconds, pid, port, traffic))
        _report(traffic, first, last)
        assert (traffic.record.wrong, traffic.record.lost) == ([], [])
        honest = sum(n for key, n in traffic.record.answered.items() if key.startswith(("article", "moved")))
        refused = sum(n for key, n in traffic.record.answered.items() if key.endswith("OVERLOADED"))
        assert honest > 0
        assert refused < 0.05 * honest, (refused, honest)
        assert last.memory < grown * first.memory
        assert last.descriptors <= first.descriptors + 8
        assert last.processes <= 1 + cpus()


@pytest.mark.slow
def test_a_minute_of_everything() -> None:
    """The same in short: too short for leaks to show, long enough for every kind and fault."""
    _check(40, grown=8)  # its workers are young: any page may be their largest so far


@pytest.mark.slow
def test_twenty_minutes_of_everything() -> None:
    _check(LONG, grown=1.1)
