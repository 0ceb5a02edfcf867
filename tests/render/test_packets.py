"""Every packet a rendering browser sends, watched from inside a network namespace that the test makes.

The whole service runs in it, its browser in this namespace too (`network_namespace: never`), so that flags and proxy
alone hold the line; a tunnel with the default route would carry whatever got past them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.render import packets

pytestmark = pytest.mark.netns

NAME = f"bonmun-{os.getpid()}"


@pytest.fixture
def namespace() -> Iterator[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2 (apt-get install iproute2)")
    try:
        for command in (f"ip netns add {NAME}", f"ip -n {NAME} link set lo up"):
            subprocess.run(command.split(), check=True)
        yield NAME
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=False)


@pytest.mark.parametrize("flags", ["ours", "none"])
def test_nothing_but_the_proxy_is_spoken_to(namespace: str, flags: str) -> None:
    """With our flags and proxy no packet gets out; with neither, some do, so the watch can see them."""
    run = ["ip", "netns", "exec", namespace, sys.executable, "-m", packets.__name__, flags]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    strangers = done.stdout.split()
    if flags == "ours":
        assert strangers == []
    else:
        assert strangers, "a watch that sees nothing proves nothing"
