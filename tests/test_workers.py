"""Worker processes: a page that costs too much costs its worker, and nobody else notices."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.failures import ExtractFailed, Failure, Overloaded, UpstreamTimeout
from service.reader import Reader
from service.settings import Settings
from service.workers import Workers
from tests.hostile import PAGE

# 90,000 lists inside each other, which the standard's parser must build: some seconds of work.
SLOW = b"<table><tr><td>" * 60_000 + b"<p>text</p>" * 20_000


def settings(**sections: object) -> Settings:
    return Settings.model_validate({"workers": {"processes": 1, "queue": 1}, **sections})


async def test_a_page_over_its_cpu_time_is_named_and_the_next_is_read() -> None:
    workers = Workers(settings(limits={"extract_cpu_seconds": 1}))
    await workers.start()
    with pytest.raises(ExtractFailed) as caught:
        await workers.extract(SLOW * 4, url="http://a.test/")
    assert caught.value.reason in ("cpu", "nodes")
    assert (await workers.extract(PAGE, url="http://a.test/")).title == "A page"


async def test_a_page_over_its_memory_is_named_and_the_next_is_read() -> None:
    workers = Workers(settings(limits={"worker_memory_bytes": 134_217_728, "max_nodes": 10_000_000}))
    await workers.start()
    with pytest.raises(ExtractFailed):
        await workers.extract(b"<p a=b>x" * 2_000_000, url="http://a.test/")
    assert (await workers.extract(PAGE, url="http://a.test/")).title == "A page"


async def test_the_deadline_ends_a_worker() -> None:
    async with Reader(settings(limits={"total_seconds": 0.2})) as reader:
        started = time.perf_counter()
        with pytest.raises(UpstreamTimeout) as caught:
            await reader.extract(b"<article>" + b"<p>The keeper counts the boats again and again.</p>" * 80_000)
        assert caught.value.reason == "deadline"
        assert time.perf_counter() - started < 1.5
    async with Reader(settings()) as reader:
        assert (await reader.extract(PAGE)).title == "A page"


async def test_a_full_queue_answers_at_once() -> None:
    workers = Workers(settings())
    await workers.start()
    page = b"<article>" + b"<p>The keeper counts the boats again and again.</p>" * 10_000
    outcomes = await asyncio.gather(*(workers.extract(page) for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(outcome, Overloaded) for outcome in outcomes) == 2
    assert workers.waiting == 0


async def test_heavy_pages_leave_a_worker_to_the_others() -> None:
    workers = Workers(settings(workers={"processes": 2, "queue": 9}))
    await workers.start()
    heavy = b"<article>" + b"<p>The keeper counts the boats again and again.</p>" * 40_000
    slow = [asyncio.ensure_future(workers.extract(heavy)) for _ in range(3)]
    await asyncio.sleep(0.2)
    page = await workers.extract(PAGE)
    assert page.title == "A page"
    assert not any(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_budget_spent_in_the_queue_is_no_fault_of_the_page() -> None:
    async with Reader(settings(workers={"processes": 1, "queue": 9}, limits={"total_seconds": 1})) as reader:
        slow = [asyncio.ensure_future(reader.extract(SLOW)) for _ in range(3)]
        outcomes = await asyncio.gather(*slow, return_exceptions=True)
    assert any(isinstance(outcome, Overloaded) and outcome.reason == "extraction queue" for outcome in outcomes)


async def test_failures_cross_the_pipe_with_their_evidence() -> None:
    workers = Workers(settings())
    await workers.start()
    with pytest.raises(ExtractFailed) as caught:
        await workers.extract(b"<div id=root></div>", url="http://a.test/")
    assert caught.value.url == "http://a.test/"


def children() -> set[int]:
    """Process ids of this process's children."""
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text().split()}


async def test_cancelled_pages_leave_no_process_behind() -> None:
    before = children()
    workers = Workers(settings(workers={"processes": 2, "queue": 64}))
    await workers.start()
    page = b"<article>" + b"<p>The keeper counts the boats again and again.</p>" * 40_000
    for number in range(24):
        task = asyncio.create_task(workers.extract(page))
        await asyncio.sleep(0.01 * (number % 6))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(children() - before) <= 2
    assert (await workers.extract(PAGE)).title == "A page"


async def test_idle_workers_killed_from_outside_cost_no_page() -> None:
    before = children()
    workers = Workers(settings(workers={"processes": 2, "queue": 4}))
    await workers.start()
    for _ in range(3):
        for pid in children() - before:
            os.kill(pid, signal.SIGKILL)
        assert (await workers.extract(PAGE)).title == "A page"


async def test_a_worker_killed_over_a_page_is_no_fault_of_the_page() -> None:
    before = children()
    workers = Workers(settings())
    await workers.start()
    page = b"<article>" + b"<p>The keeper counts the boats again and again.</p>" * 40_000
    task = asyncio.create_task(workers.extract(page))
    await asyncio.sleep(0.3)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(Overloaded) as caught:
        await task
    assert (caught.value.reason, caught.value.retryable) == ("worker ended", True)
    assert (await workers.extract(PAGE)).title == "A page"


SCRIPT = """
import asyncio
from service import Reader

async def main():
    async with Reader() as reader:
        print((await reader.extract(b"<title>A page</title><p>" + b"word " * 50)).title)

"""


@pytest.mark.parametrize("guarded", [True, False])
def test_a_script_without_the_usual_guard_is_told_so(tmp_path: Path, guarded: bool) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT + ('if __name__ == "__main__":\n    ' if guarded else "") + "asyncio.run(main())\n")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=30, check=False
    )
    if guarded:
        assert (run.stdout, run.stderr) == ("A page\n", "")
    else:
        assert run.returncode == 1
        assert run.stderr.rstrip().splitlines()[-1].startswith("RuntimeError: Reader starts worker processes")
        assert "__main__" in run.stderr


async def test_a_reader_closes_while_a_worker_starts() -> None:
    async def cut_short() -> None:
        workers = Workers(settings())
        await workers.start()
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        task = asyncio.create_task(workers.extract(PAGE))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await workers.aclose()

    ended = asyncio.to_thread(asyncio.run, cut_short())
    await asyncio.wait_for(ended, 10)


async def test_a_bug_of_ours_is_logged_whole_and_told_short(caplog: pytest.LogCaptureFixture) -> None:
    workers = Workers(settings())
    await workers.start()
    with pytest.raises(ExtractFailed) as caught:
        await workers.extract(PAGE, url="http://a.test/", tables=["no", "such", "option"], selector=5)
    assert (caught.value.reason, caught.value.url) == ("internal", "http://a.test/")
    assert "Traceback" not in caught.value.message
    assert "Traceback" in caplog.records[-1].fields["trace"]  # type: ignore[attr-defined]


async def test_what_ends_a_worker_names_the_page() -> None:
    before = children()
    workers = Workers(settings())
    await workers.start()
    task = asyncio.create_task(workers.extract(SLOW, url="http://a.test/"))
    await asyncio.sleep(0.3)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(Failure) as caught:
        await task
    assert caught.value.url == "http://a.test/"
