"""`python -m benchmarks`: requests a second, latencies and growth, ours and our peers', as tables of Markdown.

Everything runs on this machine at once (origin, server, callers), so that figures of one run compare with each other
and with nothing else. `--seconds` is how long each row is loaded.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable
from statistics import fmean

from benchmarks import servers
from benchmarks.load import Result, load

ARTICLE_BYTES = 30_000
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 4_000_000)
CONCURRENCY = (1, 4, 16, 64, 256)
CALLERS = 16
"""Callers at once where peers are compared."""

PAGES = 200
"""Different pages of one size, asked for in turn."""


def _articles(origin: int, size: int, pages: int = PAGES) -> Callable[[int], str]:
    return lambda number: f"http://127.0.0.1:{origin}/article/{size}/{number % pages}"


def _run(port: int, path: str, urls: Callable[[int], str], callers: int, seconds: float, least: int = 1) -> Result:
    return asyncio.run(load(port, path, urls, callers, seconds, least))


def _row(name: object, result: Result, *more: str) -> str:
    lost = sum(n for status, n in result.statuses.items() if status != 200)
    shown = (f"{result.rate:.1f}", *(f"{result.percentile(share):.0f}" for share in (0.5, 0.99)), str(lost), *more)
    return f"| {name} | {' | '.join(shown)} |"


def peers(origin: int, seconds: float) -> None:
    """The static tier beside its peers: the same pages, in turn, warm."""
    urls = _articles(origin, ARTICLE_BYTES)
    print(
        f"\n| {CALLERS} callers, {ARTICLE_BYTES // 1000} KB articles | a second | p50 ms | p99 ms | not 200 | ours is |"
    )
    print("|---|---|---|---|---|---|")
    ours = 0.0
    for name, path, start in (
        ("Bonmun", "/v1/read", lambda: servers.service(origin)),
        ("Trafilatura, one process", "/", lambda: servers.trafilatura_app(1)),
        ("Trafilatura, a process a CPU", "/", lambda: servers.trafilatura_app(len(os.sched_getaffinity(0)))),
        ("article-extractor's server", "/", servers.article_extractor),
    ):
        with start() as port:
            _run(port, path, urls, CALLERS, seconds / 3)
            result = _run(port, path, urls, CALLERS, seconds)
        ours = ours or result.rate
        print(_row(name, result, f"{ours / result.rate:.1f} times" if result.rate else "-"), flush=True)


def concurrency(origin: int, seconds: float) -> None:
    """The static tier from one caller to 256."""
    urls = _articles(origin, ARTICLE_BYTES)
    print("\n| callers | a second | p50 ms | p99 ms | not 200 |\n|---|---|---|---|---|")
    with servers.service(origin) as port:
        _run(port, "/v1/read", urls, 4, seconds / 3)
        for callers in CONCURRENCY:
            print(_row(callers, _run(port, "/v1/read", urls, callers, seconds)), flush=True)


def sizes(origin: int, seconds: float) -> None:
    """What a page of each size costs, by stage, one at a time."""
    print("\n| page | p50 ms | ms a 100 KB | fetch | extract | convert |\n|---|---|---|---|---|---|")
    with servers.service(origin) as port:
        for size in SIZES:
            urls = _articles(origin, size, 4)
            _run(port, "/v1/read", urls, 1, 0, least=4)
            result = _run(port, "/v1/read", urls, 1, seconds / 2, least=3)
            stages = (f"{fmean(result.stages.get(stage, [0])):.1f}" for stage in ("fetch", "extract", "convert"))
            middle = result.percentile(0.5)
            print(
                f"| {size // 1000} KB | {middle:.1f} | {middle * 1e5 / size:.1f} | {' | '.join(stages)} |", flush=True
            )


def rendered(origin: int, seconds: float) -> None:
    """The render tier: a page whose article its script writes."""
    print("\n| callers, rendered | a second | p50 ms | p99 ms | not 200 |\n|---|---|---|---|---|")

    def urls(number: int) -> str:
        return f"http://127.0.0.1:{origin}/app/{number % PAGES}"

    with servers.service(origin, RENDER__DEFAULT="true", RENDER__START="boot") as port:
        _run(port, "/v1/read", urls, 2, seconds / 3)
        for callers in (1, 4, 8):
            print(_row(callers, _run(port, "/v1/read", urls, callers, seconds)), flush=True)


PARTS = {"peers": peers, "concurrency": concurrency, "sizes": sizes, "rendered": rendered}


def main() -> None:
    """Run the parts that were asked for, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; none: all of them")
    parser.add_argument("--seconds", type=float, default=12)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    servers.install_peers()
    with servers.origin() as origin:
        for name in given.parts or PARTS:
            PARTS[name](origin, given.seconds)


if __name__ == "__main__":
    main()
