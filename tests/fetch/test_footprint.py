"""What a hostile body costs in memory, measured in a process that does nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import HEAD, PAGE, bomb, coded, repeats
from tests.origin import Origin

FOOTPRINT = """
import asyncio, re, sys
from pathlib import Path
from service.fetch import StaticTier
from service.settings import Settings

async def main(port, path):
    tier = StaticTier(Settings.model_validate({"egress": {"allow": ["127.0.0.1/32"], "ports": [int(port)]}}))
    peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
    get = lambda path: tier.visit(asyncio.get_running_loop().time() + 10).get(f"http://127.0.0.1:{port}{path}")
    await get("/warm")
    before = peak()
    answer = await get(path)
    print(len(answer.body), answer.truncated, (peak() - before) // 1024)
    await tier.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "100 MB"])
def test_memory_of_bombs_and_big_bodies(origin: Origin, name: str) -> None:
    """In a process of its own: this one's high-water mark already holds what made the bomb.

    VmHWM, because `ru_maxrss` of a process begins at the mark of the one that started it.
    """
    origin.route("/warm", PAGE)
    if name == "100 MB":
        origin.raw("/big", repeats(HEAD + b"Content-Length: 100000000\r\n\r\n", b"a" * 100_000, times=1_000))
    else:
        origin.raw("/big", coded(name, bomb(name)))
    command = [sys.executable, "-c", FOOTPRINT, str(origin.port), "/big"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=True)
    size, truncated, grown = done.stdout.split()
    assert (int(size), truncated) == (4 << 20, "True")
    # What was kept is 4 MiB: a growth under that would say that nothing was measured.
    assert 4 <= int(grown) < 64, f"{grown} MiB"
