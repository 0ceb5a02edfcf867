"""The service and its peers as processes of their own, each with one port on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".venv-peers"
"""Where peers that must not share our environment are installed (`benchmarks/peers.txt`)."""


@contextmanager
def origin() -> Iterator[int]:
    """A running origin; its port."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.origin"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        _end(process)


@contextmanager
def service(origin_port: int, **settings: str) -> Iterator[int]:
    """Bonmun, allowed to call the origin; its port. `settings` are `SECTION__KEY` of its environment."""
    environment = {
        "BONMUN_EGRESS__ALLOW": "['127.0.0.0/8']",
        "BONMUN_EGRESS__PORTS": f"[{origin_port}]",
        "BONMUN_SERVER__LOG_LEVEL": "error",
        "BONMUN_SERVER__MAX_CONCURRENT": "512",
        "BONMUN_WORKERS__QUEUE": "512",
        **{f"BONMUN_{key}": value for key, value in settings.items()},
    }
    with _running(lambda port: [sys.executable, "-m", "service", "serve", "--port", str(port)], environment) as port:
        yield port


@contextmanager
def trafilatura_app(processes: int) -> Iterator[int]:
    """The peer of `trafilatura_app`, in one process or several."""
    arguments = [sys.executable, "-m", "uvicorn", "benchmarks.trafilatura_app:app", "--log-level", "error"]
    workers = ["--workers", str(processes)] if processes > 1 else []
    with _running(lambda port: [*arguments, *workers, "--port", str(port)], {}) as port:
        yield port


@contextmanager
def article_extractor() -> Iterator[int]:
    """The server of the package `article-extractor`, as it comes."""
    python = PEERS / "bin" / "python"
    arguments = [str(python), "-m", "uvicorn", "article_extractor.server:app", "--log-level", "error"]
    with _running(lambda port: [*arguments, "--port", str(port)], {}) as port:
        yield port


def install_peers() -> None:
    """Make the environment of the peers, once."""
    if (PEERS / ".installed").is_file():
        return
    shutil.rmtree(PEERS, ignore_errors=True)
    venv.create(PEERS, with_pip=True)
    requirements = str(Path(__file__).with_name("peers.txt"))
    pip = [str(PEERS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", requirements], check=True)
    (PEERS / ".installed").touch()


@contextmanager
def _running(command: Callable[[int], list[str]], environment: Mapping[str, str]) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(command(port), cwd=ROOT, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    try:
        _wait(process, port)
        yield port
    finally:
        _end(process)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode} before it served")
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} did not serve within a minute")


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
