"""One browser's life: confined, replaced, killed, frozen, not to be had; and nothing is lost or left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from service import Failure, Page, Reader
from tests.conftest import loopback
from tests.hostile import HEAD, sends
from tests.origin import Origin
from tests.render.hostile import BUSY, TEXT, app
from tests.render.processes import children, command, everyone, group

SLOW = app(
    f"setTimeout(() => {{ document.getElementById('root').innerHTML = '<p>' + {TEXT!r}.repeat(4) + '</p>' }}, 1200)", ""
)


@asynccontextmanager
async def reading(origin: Origin, **render: object) -> AsyncIterator[Reader]:
    """A reader with these render settings, and proof that nothing of its browsers is left after it."""
    async with Reader(loopback(origin.port, render=render)) as running:
        yield running
    left = [pid for pid in children(os.getpid()) if "chrom" in command(pid) or "playwright" in command(pid)]
    assert left == [], [command(pid) for pid in left]


async def render(reader: Reader, url: str, timeout: float = 8) -> Page | Failure:
    try:
        return await reader.read(url, render="always", timeout=timeout)
    except Failure as failure:
        return failure


def leader() -> int:
    """The supervisor of the browser that runs now."""
    found = [pid for pid in children(os.getpid()) if "supervisor.py" in command(pid)]
    assert len(found) == 1, found
    return found[0]


def driver() -> int:
    """Playwright's driver, the supervisor's parent."""
    return next(pid for pid in children(os.getpid()) if "run-driver" in command(pid))


def chromium() -> int:
    """The browser's own process, the supervisor's child."""
    supervisor = leader()
    return next(pid for pid in group(supervisor) if pid != supervisor and "--type=" not in command(pid))


def stop(pids: list[int]) -> None:
    """Freeze these processes."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)


def folders() -> set[Path]:
    """What browsers have in the folder for temporary files."""
    temporary = Path(tempfile.gettempdir())
    return {folder for folder in temporary.glob("bonmun-*") if any(folder.iterdir())}


def proc(pid: int, name: str) -> str:
    """A file of a process's in /proc."""
    return Path(f"/proc/{pid}/{name}").read_text()


def status(pid: int, name: str) -> str:
    lines = proc(pid, "status").splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(name + ":"))


async def test_what_confines_a_renderer(origin: Origin) -> None:
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
        slow = asyncio.ensure_future(render(reader, origin.route("/slow", SLOW)))
        await asyncio.sleep(0.8)
        family = group(leader())
        renderers = [pid for pid in family if "--type=renderer" in command(pid)]
        assert renderers
        for pid in renderers:
            assert status(pid, "Seccomp") == "2", "Chromium's sandbox is on"
            assert status(pid, "Uid").split()[0] != "0", "nobody renders strangers' pages as root"
        for pid in family:
            limits = proc(pid, "limits")
            assert f"{'Max data size':<26}{reader.settings.render.process_memory_bytes}" in limits
            devices = proc(pid, "net/dev").splitlines()[2:]
            assert [line.split(":")[0].strip() for line in devices] == ["lo"], "there is no other network"
            assert "BONMUN" not in proc(pid, "environ") or pid == leader(), "our settings are none of its business"
        assert isinstance(await slow, Page)
        assert reader.render_state.details["sandbox"] == reader.render_state.details["network_namespace"] == "on"


@pytest.mark.parametrize("victim", [chromium, leader, driver], ids=lambda victim: victim.__name__)
async def test_a_request_whose_browser_is_killed_is_tried_again(origin: Origin, victim: Callable[[], int]) -> None:
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
        slow = [asyncio.ensure_future(render(reader, origin.route(f"/slow/{n}", SLOW))) for n in range(3)]
        await asyncio.sleep(0.5)
        os.kill(victim(), signal.SIGKILL)
        answers = await asyncio.gather(*slow)
        assert all(isinstance(answer, Page) for answer in answers), answers
        assert isinstance(await render(reader, origin.url("/normal")), Page)


async def test_a_frozen_browser_is_killed_and_replaced(origin: Origin) -> None:
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
        old = group(leader())
        slow = asyncio.ensure_future(render(reader, origin.route("/slow", SLOW), timeout=4))
        await asyncio.sleep(0.4)
        stop(old)
        started = time.monotonic()
        answer = await slow
        assert time.monotonic() - started < 4 + 1
        assert isinstance(answer, Failure)
        assert answer.retryable, answer
        assert isinstance(await render(reader, origin.url("/normal")), Page)
        assert not set(old) & set(everyone()), "the frozen ones are gone"


async def test_a_browser_frozen_between_pages_costs_one_retry(origin: Origin) -> None:
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
        stop(group(leader()))
        assert isinstance(await render(reader, origin.url("/normal"), timeout=9), Page)


@pytest.mark.parametrize("limit", [{"browser_pages": 5}, {"browser_seconds": 1.0}, {"browser_memory_bytes": 1_000_000}])
async def test_a_worn_browser_is_replaced_and_no_page_lost(origin: Origin, limit: dict[str, object]) -> None:
    async with reading(origin, **limit, pages=2, queue=50) as reader:
        urls = [origin.url("/normal")] * 16
        answers = await asyncio.gather(*(render(reader, url, 10) for url in urls))
        assert all(isinstance(answer, Page) for answer in answers), answers
        await render(reader, origin.url("/normal"))
        await asyncio.sleep(1.5)
        assert reader.render_counts["browsers_replaced"] >= 1
        assert reader.render_counts["browsers_died"] == 0
        leader()  # one is left


async def test_the_queue_is_bounded_and_a_refusal_immediate(origin: Origin) -> None:
    async with reading(origin, pages=1, queue=1) as reader:
        await render(reader, origin.url("/normal"))
        await asyncio.sleep(0.3)
        slow = [asyncio.ensure_future(render(reader, origin.route(f"/slow/{n}", SLOW))) for n in range(2)]
        await asyncio.sleep(0.1)
        started = time.monotonic()
        refused = await render(reader, origin.url("/normal"))
        assert isinstance(refused, Failure)
        assert (refused.code, refused.reason) == ("OVERLOADED", "render_queue")
        assert refused.retry_after
        assert time.monotonic() - started < 0.1
        assert all(isinstance(answer, Page) for answer in await asyncio.gather(*slow))
        static = await reader.read(origin.route("/static", f"<article><p>{TEXT * 5}</p></article>"), render=True)
        assert static.tier == "static"


async def test_one_page_that_waits_does_not_hold_up_the_rest(origin: Origin) -> None:
    origin.raw("/stall", sends(HEAD, then="stall"))
    async with reading(origin, pages=2) as reader:
        await render(reader, origin.url("/normal"))
        stalled = asyncio.ensure_future(render(reader, origin.url("/stall"), timeout=5))
        for _ in range(3):
            started = time.monotonic()
            assert isinstance(await render(reader, origin.url("/normal")), Page)
            assert time.monotonic() - started < 2
        answer = await stalled
        assert isinstance(answer, Failure)
        assert answer.code == "UPSTREAM_TIMEOUT"


@pytest.mark.parametrize("executable", ["/bin/false", "/bin/true", "/nowhere"])
async def test_without_a_working_browser_the_static_tier_goes_on(origin: Origin, executable: str) -> None:
    async with reading(origin, executable=executable) as reader:
        first = await render(reader, origin.url("/normal"))
        started = time.monotonic()
        second = await render(reader, origin.url("/normal"))
        assert time.monotonic() - started < 0.5, "a start that failed is not tried again at once"
        for failure in (first, second):
            assert isinstance(failure, Failure)
            assert (failure.code, failure.reason) == ("OVERLOADED", "browser")
            assert failure.retry_after
        page = await reader.read(origin.route("/static", f"<article><p>{TEXT * 5}</p></article>"), render=True)
        assert page.tier == "static"
        assert reader.render_state.status not in ("ok", "not started")


async def test_no_browser_is_started_for_who_did_not_ask(origin: Origin) -> None:
    async with reading(origin) as reader:
        with pytest.raises(Failure):
            await reader.read(origin.url("/normal"))
        await reader.read(origin.route("/static", f"<article><p>{TEXT * 5}</p></article>"), render=True)
        for path, code in (("/none", "PAGE_NOT_FOUND"), ("/pdf", "UNSUPPORTED_CONTENT")):
            origin.route("/pdf", b"%PDF-1.7")
            with pytest.raises(Failure) as caught:
                await reader.read(origin.url(path), render=True)
            assert caught.value.code == code
        with pytest.raises(Failure):
            await reader.read(f"http://127.0.0.2:{origin.port}/", render=True)
        assert not [pid for pid in children(os.getpid()) if "supervisor.py" in command(pid)]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_nothing_is_left_however_the_service_ends(origin: Origin, tmp_path: Path, how: signal.Signals) -> None:
    before = folders()
    script = tmp_path / "service_of_its_own.py"
    script.write_text(
        "import asyncio, sys\n"
        "from service import Reader\n"
        "from tests.conftest import loopback\n"
        "async def main():\n"
        f"    async with Reader(loopback({origin.port})) as reader:\n"
        f"        await reader.read({origin.url('/normal')!r}, render='always')\n"
        "        print('ready', flush=True)\n"
        f"        await reader.read({origin.route('/slow', SLOW)!r}, render='always')\n"
        "        await asyncio.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    own = {**os.environ, "PYTHONPATH": "."}
    service = subprocess.Popen(  # noqa: ASYNC220 (it must not belong to this loop)
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=own
    )
    assert service.stdout is not None
    assert await asyncio.to_thread(service.stdout.readline) == b"ready\n"
    await asyncio.sleep(0.8)  # into the slow page
    family = children(service.pid)
    assert [pid for pid in family if "--type=renderer" in command(pid)]
    service.send_signal(how)
    await asyncio.to_thread(service.wait, 20)
    await asyncio.sleep(2)
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
    assert folders() <= before
    left = set(family) & set(everyone())
    assert not left, [command(pid) for pid in left]


async def test_a_request_with_no_time_left_costs_nobody_the_browser(origin: Origin) -> None:
    async with reading(origin, pages=2) as reader:
        await render(reader, origin.url("/normal"))
        slow = asyncio.ensure_future(render(reader, origin.route("/slow", SLOW)))
        for timeout in (0.001, 0.01, 0.03, 0.1):
            answer = await render(reader, origin.url("/normal"), timeout)
            assert isinstance(answer, Failure)
            assert answer.code in ("UPSTREAM_TIMEOUT", "OVERLOADED")
        assert isinstance(await slow, Page)
        assert reader.render_counts["pages_retried"] == reader.render_counts["browsers_died"] == 0


async def test_requests_that_are_given_up_leave_nothing_in_the_browser(origin: Origin) -> None:
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))
        for number in range(60):
            task = asyncio.ensure_future(render(reader, origin.route("/slow", SLOW)))
            await asyncio.sleep(0.002 + number % 20 / 500)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(1)
        assert reader.render_state.details["active"] == 0
        renderers = [pid for pid in group(leader()) if "--type=renderer" in command(pid)]
        assert len(renderers) <= 2, "one spare at most, beside what is just ending"
        assert isinstance(await render(reader, origin.url("/normal")), Page)
        assert reader.render_counts["browsers_started"] == 1


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.5, 0.9])
async def test_a_stop_while_the_browser_starts(origin: Origin, seconds: float) -> None:
    async with reading(origin) as reader:
        task = asyncio.ensure_future(render(reader, origin.url("/normal")))
        await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_page_that_floods_the_driver_spoils_no_other(origin: Origin) -> None:
    flood = origin.route("/flood", BUSY["worker floods"])
    async with reading(origin) as reader:
        await render(reader, origin.url("/normal"))

        async def floods() -> None:
            for _ in range(2):
                await render(reader, flood, 4)

        flooding = asyncio.ensure_future(floods())
        for _ in range(4):
            answer = await render(reader, origin.route("/slow", SLOW), 8)
            assert isinstance(answer, Page), answer
        await flooding
