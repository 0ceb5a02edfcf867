"""Faults put into a running service: parts of it killed, callers that stall, names that do not resolve, a full disk."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tests.render.processes import children, command

Fault = Callable[[int, int, random.Random], Awaitable[None]]
"""Of the service's process and port."""


async def kill_a_worker(pid: int, port: int, chance: random.Random) -> None:
    """As the kernel does when memory runs out."""
    workers = [child for child in children(pid) if "anyio.to_process" in command(child)]
    if workers:
        _kill(chance.choice(workers))


async def kill_the_browser(pid: int, port: int, chance: random.Random) -> None:
    """Its main process, or any of its others."""
    parts = [child for child in children(pid) if "chrom" in command(child)]
    if parts:
        _kill(min(parts) if chance.random() < 0.5 else chance.choice(parts))


async def stop_and_go_on(pid: int, port: int, chance: random.Random) -> None:
    """A worker that hangs for two seconds, as on a machine that swaps."""
    workers = [child for child in children(pid) if "anyio.to_process" in command(child)]
    if workers:
        worker = chance.choice(workers)
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGSTOP)
            await asyncio.sleep(2)
            os.kill(worker, signal.SIGCONT)


async def half_open_callers(pid: int, port: int, chance: random.Random) -> None:
    """Connections that say nothing, half a head, or half a body, and stay."""
    writers = []
    for beginning in (b"", b"POST /v1/read HTTP/1.1\r\nHost: a\r\n", b"POST /v1/read HTTP/1.1\r\nHost: a\r\n"
                      b"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{") * 10:  # fmt: skip
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(beginning)
            writers.append(writer)
    await asyncio.sleep(4)
    for writer in writers:
        writer.transport.abort()


async def callers_that_do_not_read(pid: int, port: int, chance: random.Random) -> None:
    """A request whose answer nobody takes."""
    body = b'{"url":"http://127.0.0.1:1/"}'
    request = b"POST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
    writers = []
    for _ in range(10):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
            writer.write(request % (len(body), body) * 20)
            writers.append(writer)
    await asyncio.sleep(3)
    for writer in writers:
        writer.transport.abort()


FAULTS: dict[str, Fault] = {
    "worker killed": kill_a_worker,
    "browser killed": kill_the_browser,
    "worker stopped": stop_and_go_on,
    "half-open callers": half_open_callers,
    "callers that do not read": callers_that_do_not_read,
}


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
