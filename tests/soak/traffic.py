"""What is asked for: honest pages that have one right answer, hostile ones that have a named failure or an honest end.

Each kind says what it may be answered with. `Traffic` asks over HTTP as callers do, and keeps what came.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.pages import app, article
from tests.hostile import BROKEN, HEAD, bomb, coded, repeats, sends
from tests.origin import Origin
from tests.render.hostile import BUSY

PAGES = 40
"""Different honest pages of each kind."""

SECONDS = 6.0
"""The budget each request gives."""

PATIENCE = SECONDS + 5
"""After which a request without an answer is lost."""

ANY_TIME = {"OVERLOADED"}
"""What an honest request may be answered with when the service is full or a part of it was just killed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: how often of 100, its addresses, the failures that are right, and whether a page is."""

    share: int
    urls: list[str]
    failures: frozenset[str] = frozenset()
    page: bool = True
    render: bool = False
    holds: Callable[[str, str], bool] = lambda url, markdown: True


def kinds(origin: Origin, chance: random.Random) -> dict[str, Kind]:
    """Every kind, its routes put up at the origin."""
    said: dict[str, str] = {}

    def honest(path: str, body: bytes, status: int = 200) -> str:
        url = origin.route(path, body, status)
        text = body.partition(b"<article>")[2].partition(b"</article>")[0].decode()
        said[url] = text.rpartition("<p>")[2].partition("</p>")[0][-80:]
        return url

    def whole(url: str, markdown: str) -> bool:
        return said[url] in markdown

    articles = [honest(f"/a/{n}", article(chance.choice((10_000, 30_000, 120_000)), n)) for n in range(PAGES)]
    apps = [honest(f"/s/{n}", app(n)) for n in range(PAGES)]
    gone = [origin.route(f"/gone/{n}", "<p>Gone", 404) for n in range(3)]
    moved = [origin.route(f"/moved/{n}", b"", 302, headers={"Location": f"/a/{n}"}) for n in range(PAGES)]
    said.update({url: said[articles[n]] for n, url in enumerate(moved)})
    broken = [origin.raw(f"/broken/{n}", sends(data)) for n, (data, _) in enumerate(BROKEN.values())]
    slow = [
        origin.raw("/slow/head", sends(b"HTTP/1.1 200 OK\r\n", then="stall")),
        origin.raw("/slow/body", repeats(HEAD + b"\r\n", b"<p>a", pause=0.5)),
        origin.raw("/slow/reset", sends(HEAD + b"Content-Length: 900\r\n\r\n<p>a", then="reset")),
    ]
    endless = [
        origin.raw("/endless/body", repeats(HEAD + b"\r\n", b"<p>lamp and rope. " * 4_000)),
        origin.raw("/endless/hops", sends(b"HTTP/1.1 302 X\r\nLocation: /endless/hops\r\nContent-Length: 0\r\n\r\n")),
        *(origin.raw(f"/bomb/{coding}", coded(coding, bomb(coding))) for coding in ("gzip", "br", "zstd")),
    ]
    heavy = [
        origin.route("/heavy/deep", "<div>" * 60_000 + "x"),
        origin.route("/heavy/wide", "<p>lamp <b>rope</b>" * 60_000),
        origin.route("/heavy/attributes", "<p " + "a=b " * 400_000),
        origin.route("/heavy/table", "<table>" + "<tr>" + "<td rowspan=999 colspan=999>x" * 3_000),
    ]
    busy = [origin.route(f"/busy/{n}", page) for n, page in enumerate(BUSY.values())]
    hostile = frozenset(
        {"UPSTREAM_ERROR", "UPSTREAM_TIMEOUT", "EXTRACT_FAILED", "UNSUPPORTED_CONTENT", "OVERLOADED", "BLOCKED_BY_SITE"}
    )
    return {
        "article": Kind(58, articles, holds=whole),
        "moved": Kind(8, moved, holds=whole),
        "gone": Kind(6, gone, frozenset({"PAGE_NOT_FOUND"}), page=False),
        # A page whose process is killed under it has crashed, as far as anybody can tell: EXTRACT_FAILED.
        "app": Kind(8, apps, frozenset({"UPSTREAM_TIMEOUT", "EXTRACT_FAILED"}), render=True, holds=whole),
        "broken": Kind(5, broken, hostile, page=False),
        "slow": Kind(3, slow, hostile),
        "endless": Kind(5, endless, hostile),
        "heavy": Kind(3, heavy, hostile),
        "busy": Kind(4, busy, hostile, render=True),
    }


@dataclass
class Record:
    """What came of the requests."""

    answered: Counter[str] = field(default_factory=Counter)
    """By kind and code, `article 200` or `slow UPSTREAM_TIMEOUT`."""
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    latencies: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """By kind: the moment and the milliseconds."""


class Traffic:
    """Callers in a loop; a few of them hang up in the middle."""

    def __init__(self, port: int, chosen: dict[str, Kind], seed: int) -> None:
        self.port = port
        self.record = Record()
        self.until = 0.0
        self._kinds = chosen
        self._chance = random.Random(seed)

    async def run(self, callers: int, seconds: float) -> None:
        """Ask for so many seconds."""
        self.until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for _ in range(callers):
                group.create_task(self._caller())

    async def _caller(self) -> None:
        names = list(self._kinds)
        shares = [kind.share for kind in self._kinds.values()]
        while time.monotonic() < self.until:
            name = self._chance.choices(names, shares)[0]
            kind = self._kinds[name]
            url = self._chance.choice(kind.urls)
            hangs_up = self._chance.random() < 0.03
            started = time.monotonic()
            try:
                async with asyncio.timeout(self._chance.uniform(0, 0.5) if hangs_up else PATIENCE):
                    status, answer = await _post(self.port, {"url": url, "render": kind.render, "timeout": SECONDS})
            except TimeoutError:
                if not hangs_up:
                    self.record.lost.append(f"{name} {url}: no answer in {PATIENCE:.0f} s")
                continue
            except (OSError, EOFError, ValueError) as error:
                self.record.lost.append(f"{name} {url}: {error!r}")
                continue
            self.record.latencies[name].append((started, 1e3 * (time.monotonic() - started)))
            self._judge(name, kind, url, status, answer)

    def _judge(self, name: str, kind: Kind, url: str, status: int, answer: dict[str, Any]) -> None:
        if status == 200:
            self.record.answered[f"{name} 200"] += 1
            if not kind.page:
                self.record.wrong.append(f"{name} {url}: a page where there is none")
            elif not kind.holds(url, str(answer["markdown"])):
                self.record.wrong.append(f"{name} {url}: not its text, {str(answer['markdown'])[-200:]!r}")
            return
        code = answer["error"]["code"]
        self.record.answered[f"{name} {code}"] += 1
        if code not in kind.failures | ANY_TIME:
            self.record.wrong.append(f"{name} {url}: {answer['error']}")


async def _post(port: int, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        data = json.dumps(body).encode()
        head = f"POST /v1/read HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + data)
        answer = await reader.read(-1)
    finally:
        writer.close()
    head_, _, rest = answer.partition(b"\r\n\r\n")
    found: dict[str, Any] = json.loads(rest)
    return int(head_.split()[1]), found
