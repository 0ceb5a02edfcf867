"""Extraction in worker processes: no page can hold up another request, or cost more than its share.

Each worker limits itself in the kernel: CPU seconds a page (SIGXCPU ends it) and the size of its data
segment. A page that overruns costs its worker; the caller gets a named failure and the next page a
new worker.
"""

from __future__ import annotations

import os
import resource
from typing import Any

import anyio
import anyio.to_process
from anyio import BrokenWorkerProcess, CapacityLimiter

from service.extraction import extract
from service.failures import ExtractFailed, Failure, Overloaded
from service.page import Page
from service.settings import Settings


class Workers:
    """A bounded set of extraction processes with a bounded queue before it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.processes = settings.workers.processes or len(os.sched_getaffinity(0))
        self._limiter: CapacityLimiter | None = None
        self.waiting = 0

    async def start(self) -> None:
        """Start the processes, so that the first page does not wait for them."""
        self._limiter = CapacityLimiter(self.processes)
        async with anyio.create_task_group() as group:
            for _ in range(self.processes):
                group.start_soon(self._run, _warm_up)

    async def extract(self, body: bytes, **options: Any) -> Page:
        """`service.extract` in a worker. Raises its failures, `Overloaded` when the queue is full, `ExtractFailed`
        (`cpu`, `memory`) when the page costs too much."""
        if self.waiting >= self._settings.workers.queue + self.processes:
            raise Overloaded("Too many pages wait for extraction.", reason="extraction queue", retry_after=1)
        self.waiting += 1
        try:
            outcome: Page | Failure = await self._run(_extract, body, options, self._settings)
        except BrokenWorkerProcess:
            seconds = self._settings.limits.extract_cpu_seconds
            raise ExtractFailed(
                f"The page takes over {seconds} s of computing.", reason="cpu", url=options.get("url")
            ) from None
        finally:
            self.waiting -= 1
        if isinstance(outcome, Failure):
            raise outcome
        return outcome

    async def _run(self, function: Any, *arguments: Any) -> Any:
        # Cancelled work kills its process: there is no other way to stop a parser.
        return await anyio.to_process.run_sync(function, *arguments, cancellable=True, limiter=self._limiter)


def _warm_up() -> None:
    extract("<p>" + "warm " * 50)


def _extract(body: bytes, options: dict[str, Any], settings: Settings) -> Page | Failure:
    """In the worker: bounded, and with failures as values, so that no traceback crosses the pipe."""
    _limit(settings)
    try:
        return extract(body, settings=settings, **options)
    except Failure as failure:
        failure.__traceback__ = failure.__cause__ = failure.__context__ = None
        return failure
    except (MemoryError, RecursionError) as error:
        return ExtractFailed("The page takes too much memory.", reason=type(error).__name__, url=options.get("url"))
    except Exception as error:  # a bug of ours, which must not look like the site's fault nor stop the worker
        return ExtractFailed(
            f"The page could not be read ({type(error).__name__}).", reason="internal", url=options.get("url")
        )


def _limit(settings: Settings) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = int(used.ru_utime + used.ru_stime) + 1 + settings.limits.extract_cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (allowed if hard < 0 else min(allowed, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = settings.limits.worker_memory_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory if hard < 0 else min(memory, hard), hard))
