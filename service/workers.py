"""Extraction in worker processes: no page can hold up another request, or cost more than its share.

Each worker limits itself in the kernel: CPU seconds a page (SIGXCPU ends it) and the size of its data
segment. A page that overruns costs its worker; the caller gets a named failure and the next page a
new worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import BrokenWorkerProcess, to_process

from service.extraction import extract
from service.failures import ExtractFailed, Failure, Overloaded
from service.page import Page
from service.settings import Settings, cpus

_log = logging.getLogger("bonmun.workers")

_GUARD = (
    "Reader starts worker processes, and each runs the script that started it: "
    'put the script\'s own work under `if __name__ == "__main__":`.'
)


HEAVY_BYTES = 524_288
"""Bytes from which a page counts as heavy: 88 in 100 of wcxb's pages are smaller."""


@dataclass(slots=True)
class Turn:
    """Whether a page that waits for a worker has got one."""

    has_come: bool = False


class Workers:
    """A bounded set of extraction processes with a bounded queue before it.

    Heavy pages never hold all of them, where there are several: a page of usual size waits for its like alone.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.processes = settings.workers.processes or cpus()
        self._slots: anyio.Semaphore | None = None
        self._heavy: anyio.Semaphore | None = None
        self._taking: asyncio.Lock | None = None
        self.waiting = 0

    async def start(self) -> None:
        """Start the processes, so that the first page does not wait for them.

        Raises `RuntimeError` when they cannot start, as from a script without the usual guard.
        """
        if "__main__" not in sys.modules:
            raise RuntimeError(_GUARD)  # a worker runs its parent's script, which comes here again
        # No worker multiplies matrices, and OpenBLAS would reserve 40 MB of its data segment for threads (two cores).
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._slots = anyio.Semaphore(self.processes)
        self._heavy = anyio.Semaphore(max(1, self.processes - 1))
        self._taking = asyncio.Lock()
        await self._run(_nothing)  # alone, so that what keeps workers from starting is said once
        async with anyio.create_task_group() as group:
            for _ in range(self.processes):
                group.start_soon(self._run, _warm_up)

    async def aclose(self) -> None:
        """Wait for a worker that is starting: cut off half-way, it would keep the event loop from closing."""
        if self._taking is not None:
            async with self._taking:
                return

    async def extract(self, body: bytes, turn: Turn | None = None, **options: Any) -> Page:
        """`service.extract` in a worker; `turn` is told when one is had.

        Raises its failures; `Overloaded` when the queue is full or a worker was killed from outside;
        `ExtractFailed` (`cpu`, `memory`) when the page costs too much.
        """
        if self.waiting >= self._settings.workers.queue + self.processes:
            raise Overloaded("Too many pages wait for extraction.", reason="extraction queue", retry_after=1)
        self.waiting += 1
        try:
            async with self._heavy if self._heavy and len(body) >= HEAVY_BYTES else nullcontext():
                outcome: Page | Failure | _Bug = await self._run(_extract, body, options, self._settings, turn=turn)
        except Failure as failure:
            failure.url = options.get("url")
            raise
        finally:
            self.waiting -= 1
        if isinstance(outcome, _Bug):
            _log.error("extraction failed by a bug of ours", extra={"fields": {"trace": outcome.trace}})
            raise ExtractFailed("The page could not be read.", reason="internal", url=options.get("url"))
        if isinstance(outcome, Failure):
            raise outcome
        return outcome

    async def _run(self, function: Any, *arguments: Any, turn: Turn | None = None) -> Any:
        if self._slots is None or self._taking is None:
            raise RuntimeError("Workers are started with start()")
        async with self._slots:
            await self._taking.acquire()
            handover = _Handover(self._taking)
            try:
                await self._awake(handover)
                if turn is not None:
                    turn.has_come = True
                started = time.monotonic()
                # Cancelled work kills its process: there is no other way to stop a parser.
                return await to_process.run_sync(
                    function,
                    *arguments,
                    cancellable=True,
                    limiter=handover,  # type: ignore[arg-type]
                )
            except BrokenWorkerProcess:
                raise self._named(time.monotonic() - started) from None
            finally:
                handover.release()

    async def _awake(self, handover: _Handover) -> None:
        """See to it that an idle worker lives, in a task that no cancellation reaches.

        A start that is cancelled would leave its process behind. When the caller goes, the start goes on
        and holds the lock until its worker is idle, so that nobody starts one more meanwhile.
        """
        waking = asyncio.ensure_future(self._wake())
        try:
            await asyncio.shield(waking)
        except asyncio.CancelledError:
            handover.release_after(waking)
            raise

    async def _wake(self) -> None:
        for attempt in range(self.processes + 1):
            try:
                await to_process.run_sync(_nothing, limiter=anyio.CapacityLimiter(1))
                return
            except BrokenWorkerProcess as error:  # an idle one was killed from outside; the next may live, or starts
                if isinstance(error.__cause__, RuntimeError):
                    raise error.__cause__ from None
                _log.warning("an idle worker had ended", extra={"fields": {"attempt": attempt + 1}})
        raise Overloaded("No extraction process can be started.", reason="workers", retry_after=1)

    def _named(self, seconds: float) -> Failure:
        """Why a worker ended over a page: its CPU time was spent, which takes that long at least, or it was killed."""
        limit = self._settings.limits.extract_cpu_seconds
        if seconds >= limit:
            return ExtractFailed(f"The page takes over {limit} s of computing.", reason="cpu")
        return Overloaded("The extraction process ended unexpectedly.", reason="worker ended", retry_after=1)


class _Handover:
    """Stands for `run_sync`'s limiter, which is entered right before an idle worker is taken: the lock may go then."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._held = True

    def release_after(self, waking: asyncio.Future[None]) -> None:
        """Release once the start is over, whether it succeeds or not."""
        if self._held:
            self._held = False
            waking.add_done_callback(self._over)

    def _over(self, waking: asyncio.Future[None]) -> None:
        if not waking.cancelled() and waking.exception() is not None:
            _log.warning("no worker could be started", extra={"fields": {"error": str(waking.exception())}})
        self._lock.release()

    def release(self) -> None:
        """Release now, unless that was done or promised."""
        if self._held:
            self._held = False
            self._lock.release()

    async def __aenter__(self) -> None:
        self.release()

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _Bug:
    """What a worker says of an exception that nobody foresaw: it has no standard error of its own."""

    trace: str


def _nothing() -> None:
    """A worker's first task. Ctrl-C and a stop of the whole group are the service's to answer: it ends its workers."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _warm_up() -> None:
    extract("<p>" + "warm " * 50)


def _extract(body: bytes, options: dict[str, Any], settings: Settings) -> Page | Failure | _Bug:
    """In the worker: bounded, and with failures as values, so that no traceback crosses the pipe."""
    _limit(settings)
    try:
        return extract(body, settings=settings, **options)
    except Failure as failure:
        failure.__traceback__ = failure.__cause__ = failure.__context__ = None
        return failure
    except (MemoryError, RecursionError) as error:
        return ExtractFailed("The page takes too much memory.", reason=type(error).__name__, url=options.get("url"))
    except Exception:  # a bug of ours, which must not stop the worker
        return _Bug(traceback.format_exc())


def _limit(settings: Settings) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    allowed = int(used.ru_utime + used.ru_stime) + 1 + settings.limits.extract_cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (allowed if hard < 0 else min(allowed, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = settings.limits.worker_memory_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory if hard < 0 else min(memory, hard), hard))
