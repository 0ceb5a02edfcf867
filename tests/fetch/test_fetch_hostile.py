"""Origins that never end, break HTTP or lie about a coding, over real sockets."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from service.failures import UpstreamError, UpstreamTimeout
from tests.fetch.conftest import Fetcher, MakeFetcher
from tests.hostile import BOMBS, BROKEN, CODED, MISCODED, PAGE
from tests.origin import Origin, certificate

SLACK_SECONDS = 0.5
"""How late an answer may come after its deadline."""


@pytest.mark.parametrize("path", ["/drip/head", "/drip/body", "/silent", "/stall"])
async def test_a_deadline_cuts_and_drops_the_connection(fetcher: Fetcher, origin: Origin, path: str) -> None:
    failure = await fetcher.fail(origin.url(path), seconds=0.6)
    assert (type(failure), failure.reason, failure.url) == (UpstreamTimeout, "deadline", origin.url(path))
    assert 0.5 < fetcher.elapsed < 0.6 + SLACK_SECONDS
    assert origin.wait_closed()
    assert fetcher.tier.pool.connections == []
    assert (await fetcher.read(origin.url("/hop/0"))).body == PAGE


async def test_a_spent_deadline_fetches_nothing(fetcher: Fetcher, origin: Origin) -> None:
    failure = await fetcher.fail(origin.url("/drip/body"), seconds=-1)
    assert failure.reason == "deadline"
    assert fetcher.elapsed < SLACK_SECONDS


async def test_one_deadline_holds_for_the_whole_chain(fetcher: Fetcher, origin: Origin) -> None:
    origin.redirect("/to-drip", "/drip/body")
    assert (await fetcher.fail(origin.url("/to-drip"), seconds=0.6)).reason == "deadline"
    assert fetcher.elapsed < 0.6 + SLACK_SECONDS


@pytest.mark.parametrize("path", ["/silent", "/stall"])
async def test_silence_is_cut_by_the_read_timeout(make_fetcher: MakeFetcher, origin: Origin, path: str) -> None:
    fetcher = make_fetcher(fetch={"read_seconds": 0.3})
    failure = await fetcher.fail(origin.url(path))
    assert (type(failure), failure.reason) == (UpstreamTimeout, "read_timeout")
    assert fetcher.elapsed < 0.3 + SLACK_SECONDS
    assert origin.paths == [path]
    assert origin.wait_closed()


@pytest.mark.parametrize(("seconds", "reason"), [(5, "connect_timeout"), (0.3, "deadline")])
async def test_tls_that_never_answers(make_fetcher: MakeFetcher, seconds: float, reason: str) -> None:
    with Origin(mute=True) as mute:
        fetcher = make_fetcher(mute, fetch={"connect_seconds": 0.6})
        failure = await fetcher.fail(f"https://127.0.0.1:{mute.port}/", seconds)
        assert (type(failure), failure.reason) == (UpstreamTimeout, reason)
        assert fetcher.elapsed < min(seconds, 0.6) + SLACK_SECONDS
        assert mute.wait_closed()


@pytest.mark.parametrize("path", ["/endless/head", "/endless/field", "/endless/hints"])
async def test_an_endless_head_ends_at_the_limit(fetcher: Fetcher, origin: Origin, path: str) -> None:
    failure = await fetcher.fail(origin.url(path))
    assert (type(failure), failure.reason) == (UpstreamError, "headers")
    assert fetcher.elapsed < 1
    assert origin.wait_closed()


@pytest.mark.parametrize(("size", "reason"), [(60_000, None), (66_000, "headers"), (120_000, "headers")])
async def test_the_head_limit(fetcher: Fetcher, origin: Origin, size: int, reason: str | None) -> None:
    url = origin.route(f"/head-{size}", "ok", headers=[("X-Long", "a" * size)])
    if reason is None:
        assert (await fetcher.read(url)).body == b"ok"
    else:
        assert (await fetcher.fail(url)).reason == reason


async def test_a_head_limit_over_the_parsers_own(make_fetcher: MakeFetcher, origin: Origin) -> None:
    fetcher = make_fetcher(limits={"max_header_bytes": 1_000_000})
    assert (await fetcher.fail(origin.url("/endless/field"))).reason == "headers"


async def test_framing_without_a_body_ends_at_the_wire_budget(fetcher: Fetcher, origin: Origin) -> None:
    failure = await fetcher.fail(origin.url("/endless/extensions"))
    assert (type(failure), failure.reason) == (UpstreamError, "wire_bytes")
    assert fetcher.elapsed < 3
    assert origin.wait_closed()


@pytest.mark.parametrize("path", ["/endless/body", "/big"])
async def test_a_long_body_is_kept_to_the_cap(fetcher: Fetcher, origin: Origin, path: str) -> None:
    response = await fetcher.read(origin.url(path))
    assert response.truncated
    assert len(response.body) == fetcher.settings.limits.max_body_bytes
    assert origin.wait_closed()


async def test_a_body_of_just_the_cap_is_whole(make_fetcher: MakeFetcher, origin: Origin) -> None:
    fetcher = make_fetcher(limits={"max_body_bytes": 1000})
    exact, over = origin.route("/1000", b"a" * 1000), origin.route("/1001", b"a" * 1001)
    assert [len(r.body) for r in (await fetcher.read(exact), await fetcher.read(over))] == [1000, 1000]
    assert [r.truncated for r in (await fetcher.read(exact), await fetcher.read(over))] == [False, True]


@pytest.mark.parametrize("path", [*BROKEN, "/broken/reset"])
async def test_broken_http(fetcher: Fetcher, origin: Origin, path: str) -> None:
    failure = await fetcher.fail(origin.url(path))
    assert (type(failure), failure.reason, failure.retryable) == (UpstreamError, "fetch", True)
    assert fetcher.elapsed < 1
    # On a fresh connection the fault is the origin's: it is not asked twice.
    assert origin.paths == [path]
    assert origin.wait_closed()


@pytest.mark.parametrize("path", CODED)
async def test_codings(fetcher: Fetcher, origin: Origin, path: str) -> None:
    response = await fetcher.read(origin.url(path))
    assert (response.body, response.truncated) == (PAGE, False)


async def test_a_coding_of_nothing_is_nothing(fetcher: Fetcher, origin: Origin) -> None:
    assert (await fetcher.read(origin.url("/coded/gzip-empty"))).body == b""


async def test_repeated_coding_fields_are_stacked_codings(fetcher: Fetcher, origin: Origin) -> None:
    url = origin.route("/twice", CODED["/coded/gzip"][1], headers=[("Content-Encoding", "gzip")] * 2)
    assert (await fetcher.fail(url)).reason == "encoding"


@pytest.mark.parametrize("path", MISCODED)
async def test_miscoded(fetcher: Fetcher, origin: Origin, path: str) -> None:
    failure = await fetcher.fail(origin.url(path))
    assert (type(failure), failure.reason) == (UpstreamError, "encoding")


BOMB_SCRIPT = """
import asyncio, resource, sys
from service.fetch import StaticTier
from service.settings import Settings

async def read(url, port):
    tier = StaticTier(Settings.model_validate({"egress": {"allow": ["127.0.0.0/8"], "ports": [port]}}))
    await tier.visit(asyncio.get_running_loop().time() + 10).get(url + "/hop/0")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = await tier.visit(asyncio.get_running_loop().time() + 10).get(url + sys.argv[3])
    print(len(response.body), response.truncated, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    await tier.aclose()

asyncio.run(read(sys.argv[1], int(sys.argv[2])))
"""


@pytest.mark.parametrize("path", [*BOMBS, "/big"])
def test_a_bomb_costs_no_memory(origin: Origin, path: str) -> None:
    # A process of its own: the high-water mark of this one holds what other tests took.
    command = [sys.executable, "-c", BOMB_SCRIPT, f"http://127.0.0.1:{origin.port}", str(origin.port), path]
    root = Path(__file__).parents[2]
    out = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=30, check=True).stdout
    size, truncated, growth = out.split()
    assert (int(size), truncated) == (4_194_304, "True")
    assert int(growth) * resource_unit() < 64 << 20, f"grew by {int(growth) / 1024:.0f} MiB"


def resource_unit() -> int:
    """Bytes of one `ru_maxrss` unit: kibibytes on Linux, bytes on macOS."""
    return 1 if sys.platform == "darwin" else 1024


async def test_slow_origins_do_not_hold_up_others(make_fetcher: MakeFetcher, origin: Origin) -> None:
    fetcher = make_fetcher()
    slow = [asyncio.create_task(fetcher.fail(origin.url("/drip/body"), seconds=1)) for _ in range(20)]
    await asyncio.sleep(0.1)
    started = asyncio.get_running_loop().time()
    assert (await fetcher.tier.visit(started + 5).get(origin.url("/hop/0"))).body == PAGE
    assert asyncio.get_running_loop().time() - started < SLACK_SECONDS
    assert {failure.reason for failure in await asyncio.gather(*slow)} == {"deadline"}


async def test_cancelling_a_visit_is_no_failure(fetcher: Fetcher, origin: Origin) -> None:
    task = asyncio.create_task(fetcher.read(origin.url("/drip/body")))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert origin.wait_closed()


async def test_a_dripping_tls_origin_is_dropped_too(make_fetcher: MakeFetcher) -> None:
    server, client = certificate("127.0.0.1")
    with Origin(tls=server) as secure:
        secure.raw("/drip", _drip)
        fetcher = make_fetcher(secure, ssl_context=client)
        assert (await fetcher.fail(secure.url("/drip"), seconds=0.6)).reason == "deadline"
        assert fetcher.elapsed < 0.6 + SLACK_SECONDS
        assert secure.wait_closed()


async def _drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: object) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.05)
