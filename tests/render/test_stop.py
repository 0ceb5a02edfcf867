"""Stopping the service while it renders: the page under way is answered, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.origin import Origin
from tests.render.hostile import TEXT, app
from tests.render.processes import children, everyone

SLOW = app(f"setTimeout(() => {{ root.innerHTML = '<p>' + {TEXT!r}.repeat(4) + '</p>' }}, 1500)", "")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def service(origin: Origin) -> Any:
    """The real command, in a process group of its own; its address and its process."""
    with Origin() as spare:
        port = spare.port
    own = {
        "BONMUN_EGRESS__ALLOW": '["127.0.0.1/32"]',
        "BONMUN_EGRESS__PORTS": f"[{origin.port}]",
        "BONMUN_SERVER__PORT": str(port),
    }
    process = subprocess.Popen(
        [ROOT / ".venv" / "bin" / "bonmun", "serve"],
        env={**os.environ, **own},
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with suppress(httpx2.TransportError):
            if httpx2.get(f"{base}/healthz", trust_env=False).status_code == 200:
                break
        time.sleep(0.1)
    yield base, process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


@pytest.mark.parametrize(
    ("number", "group"), [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGTERM, True)], ids=str
)
def test_a_page_under_way_is_answered(service: Any, origin: Origin, number: signal.Signals, group: bool) -> None:
    """Also when the whole group gets the signal, as from Ctrl-C or a service manager, and the driver ends by it."""
    base, process = service
    body = {"url": origin.route("/slow", SLOW), "render": True}
    assert httpx2.post(f"{base}/v1/read", json=body, timeout=20, trust_env=False).status_code == 200
    statuses: list[int] = []

    def reads() -> None:
        statuses.append(httpx2.post(f"{base}/v1/read", json=body, timeout=20, trust_env=False).status_code)

    reading = threading.Thread(target=reads)
    reading.start()
    time.sleep(0.8)
    family = children(process.pid)
    os.killpg(process.pid, number) if group else process.send_signal(number)
    process.wait(20)
    reading.join(20)
    assert statuses == [200]
    time.sleep(1)
    assert not set(family) & set(everyone())
