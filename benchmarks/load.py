"""A closed loop of callers, each with a connection of its own that it keeps: requests, latencies, statuses."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

TIMEOUT_SECONDS = 120
"""After which an answer counts as lost."""


@dataclass(slots=True)
class Result:
    """What a load found. Latencies in milliseconds, in the order of their ends."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    """0 stands for a request without an answer."""
    stages: dict[str, list[float]] = field(default_factory=dict)
    """What `Server-Timing` said, by stage."""

    @property
    def rate(self) -> float:
        """Requests answered with 200, a second."""
        return self.statuses[200] / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """The latency that `share` of the requests did not exceed."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


async def load(
    port: int, path: str, urls: Callable[[int], str], callers: int, seconds: float, least: int = 1
) -> Result:
    """Ask for `urls(0)`, `urls(1)`, … for so many seconds, and for at least `least` answers."""
    result = Result()
    numbers = count()
    started = time.perf_counter()
    end = started + seconds

    def wanted() -> Iterator[int]:
        while time.perf_counter() < end or result.statuses.total() < least:
            yield next(numbers)

    async def caller() -> None:
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        for number in wanted():
            asked = time.perf_counter()
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    connection = connection or await asyncio.open_connection("127.0.0.1", port)
                    status, timing = await _ask(*connection, path, urls(number))
            except (OSError, EOFError, TimeoutError):
                status, timing = 0, ""
            if status != 200 and connection is not None:
                connection[1].close()
                connection = None
            result.statuses[status] += 1
            if status == 200:
                result.latencies.append(1e3 * (time.perf_counter() - asked))
                for stage, ms in _stages(timing):
                    result.stages.setdefault(stage, []).append(ms)
        if connection is not None:
            connection[1].close()

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(caller())
    result.seconds = time.perf_counter() - started
    return result


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, url: str) -> tuple[int, str]:
    body = json.dumps({"url": url}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
    if "content-length" in fields:
        await reader.readexactly(int(fields["content-length"]))
    else:
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return int(lines[0].split()[1]), fields.get("server-timing", "")


def _stages(timing: str) -> Iterator[tuple[str, float]]:
    for part in timing.split(","):
        name, _, duration = part.strip().partition(";dur=")
        if duration:
            yield name, float(duration)
