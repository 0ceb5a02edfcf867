"""The Dockerfile carried out, and its image run as compose.yaml says: reads, renders, stops, and is closed.

Needs root, debootstrap and runc (Debian's packages), and the package registries; takes about two minutes.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import load
from tests.container.dockerfile import Context, parse
from tests.container.image import Image, base, build, size
from tests.container.runtime import Container, in_bytes, running

pytestmark = pytest.mark.container

ROOT = Path(__file__).parents[2]
PORT = 9000
EGRESS = {"BONMUN_EGRESS__ALLOW": '["127.0.0.1/32"]', "BONMUN_EGRESS__PORTS": f"[{PORT}]"}
LARGEST = 800_000_000
"""Bytes that the image may have on disk; measured: 737 MB."""

STATIC = "밤골 어판장은 새벽 두 시에 깨어난다. " * 20
LATE = "The market wakes long before the town does. " * 10

PAGES = {
    "static.html": f"<!doctype html><meta charset=utf-8><title>어판장</title><article><p>{STATIC}</article>",
    "late.html": "<!doctype html><meta charset=utf-8><title>Late</title><article></article><script>"
    f"const p = document.createElement('p'); p.textContent = {json.dumps(LATE)};"
    "setTimeout(() => document.querySelector('article').append(p), 50)</script>",
}

CLIENT = """
import http.client, json, sys
connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=30)
connection.request("POST", "/v1/read", sys.argv[1], {"Content-Type": "application/json"})
print(connection.getresponse().read().decode())
"""

READY = """
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:8000/readyz", timeout=5).read().decode())
"""

ATTEMPTS = """
import ctypes, errno, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    return "done" if getattr(libc, name)(*arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
def opened(family, kind, protocol=0):
    try:
        socket.socket(family, kind, protocol).close()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
def written(path):
    try:
        open(path, "w").close()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
print(json.dumps({
    "root": written("/opt/bonmun/x"), "tmp": written("/tmp/x"), "sysctl": written("/proc/sys/kernel/hostname"),
    "AF_ALG": opened(38, socket.SOCK_SEQPACKET), "AF_PACKET": opened(17, socket.SOCK_RAW),
    "netfilter": opened(16, socket.SOCK_RAW, 12), "routes": opened(16, socket.SOCK_RAW, 0),
    "mount": call("mount", b"x", b"/tmp", b"tmpfs", 0, None), "ptrace": call("ptrace", 0, 0, 0, 0),
    "setns": call("setns", 0, 0), "mounts": call("unshare", 0x20000), "mounts with user": call("unshare", 0x10020000),
    "user and network": call("unshare", 0x50000000), "raw in it": opened(17, socket.SOCK_RAW),
}))
"""
"""Each with its outcome; the last but one enters the namespaces of the browser, where every capability is had."""

Start = Callable[..., AbstractContextManager[Container]]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    missing = [name for name in ("debootstrap", "runc", "nsenter", "unshare") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.fail(f"needs root and apt-get install debootstrap runc util-linux (missing: {missing})")
    with tempfile.TemporaryDirectory(prefix="bonmun-container-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture(scope="module")
def image(folder: Path) -> Image:
    start = base(folder / "base")
    built = build(parse((ROOT / "Dockerfile").read_text(encoding="utf-8")), Context(ROOT), folder, start)
    print(f"\nbase {size(start) / 1e6:.0f} MB, image {size(built.root) / 1e6:.0f} MB")
    return built


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["bonmun"]


@pytest.fixture(scope="module")
def seccomp() -> dict[str, Any]:
    return json.loads((ROOT / "docker/seccomp.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def start(folder: Path, image: Image, compose: dict[str, Any], seccomp: dict[str, Any]) -> Start:
    """Start a container, with pages to read on its loopback; other settings or another filter where they are given."""
    pages = folder / "pages"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, encoding="utf-8")

    @contextmanager
    def started(
        environment: dict[str, str] | None = None, profile: dict[str, Any] | None = None
    ) -> Iterator[Container]:
        bundle = Path(tempfile.mkdtemp(dir=folder)) / "bundle"
        with running(image, compose, profile or seccomp, bundle, EGRESS | (environment or {})) as container:
            server = [sys.executable, "-m", "http.server", str(PORT), "--bind", "127.0.0.1", "--directory", str(pages)]
            origin = subprocess.Popen(
                container.beside(server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
            )
            try:
                _until_healthy(container, image)
                yield container
            finally:
                origin.kill()
                origin.wait(10)

    return started


@pytest.fixture(scope="module")
def container(start: Start) -> Iterator[Container]:
    with start() as started:
        yield started


def _until_healthy(container: Container, image: Image) -> None:
    deadline = time.monotonic() + 30
    while container.exec(image.healthcheck).returncode != 0:
        assert time.monotonic() < deadline, container.logs()
        assert container.process.poll() is None, container.logs()
        time.sleep(0.2)


def _read(container: Container, page: str, **options: object) -> dict[str, Any]:
    request = {"url": f"http://127.0.0.1:{PORT}/{page}", **options}
    done = container.exec(["python", "-c", CLIENT, json.dumps(request)])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestImage:
    def test_size(self, image: Image) -> None:
        assert size(image.root) < LARGEST

    def test_nothing_for_developers_is_in_it(self, image: Image) -> None:
        packages = {path.name.partition("-")[0] for path in image.root.glob("opt/bonmun/lib/python3*/site-packages/*")}
        assert {"service", "lxml", "playwright"} <= packages
        assert not {"pip", "setuptools", "pytest", "ruff", "mypy", "hypothesis", "trafilatura", "tests"} & packages
        assert not list(image.root.glob("var/lib/apt/lists/*_Packages*"))
        assert not list(image.root.glob("root/.cache"))
        assert not list((image.root / "tmp").iterdir())

    def test_nothing_in_it_is_writable_to_the_service(self, image: Image) -> None:
        found = ["find", str(image.root), "-xdev", "(", "-uid", "10001", "-o", "-perm", "-2", "-not", "-type", "l", ")"]
        listed = subprocess.run(found, capture_output=True, text=True, timeout=60, check=True).stdout.split()
        inside = {path.removeprefix(str(image.root)) for path in listed if "/dev/" not in path}
        assert inside <= {"/tmp", "/var/tmp", "/run/lock", "/var/lock"}


class TestContainer:
    def test_reads(self, container: Container) -> None:
        answer = _read(container, "static.html")
        assert (answer["title"], answer["tier"]) == ("어판장", "static")
        assert STATIC.strip() in answer["markdown"]

    def test_renders_in_chromiums_sandbox(self, container: Container) -> None:
        answer = _read(container, "late.html", render="always")
        assert LATE.strip() in answer["markdown"], answer
        render = json.loads(container.exec(["python", "-c", READY]).stdout)["render"]
        assert (render["sandbox"], render["network_namespace"]) == ("on", "on")

    def test_who_it_is(self, container: Container) -> None:
        status = container.exec(["cat", "/proc/1/status"]).stdout
        fields = {name: value.split() for name, _, value in (line.partition(":") for line in status.splitlines())}
        assert fields["Name"] == ["tini"]
        assert fields["Uid"] == fields["Gid"] == ["10001"] * 4
        assert {int(fields[f"Cap{kind}"][0], 16) for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == (["1"], ["2"])

    def test_what_is_refused(self, container: Container) -> None:
        done = container.exec(["python", "-c", ATTEMPTS])
        assert done.returncode == 0, done.stderr
        outcomes = json.loads(done.stdout)
        assert {name for name, outcome in outcomes.items() if outcome == "done"} == {
            "tmp",
            "routes",
            "user and network",
        }
        assert outcomes.pop("root") == "EROFS"
        assert outcomes["raw in it"] == outcomes["mounts with user"] == outcomes["netfilter"] == "EPERM"

    def test_its_limits_hold_it(self, container: Container, compose: dict[str, Any]) -> None:
        if not container.bounded:
            pytest.skip("this machine has no control groups that can be written")
        groups = {path.name: path for path in Path("/sys/fs/cgroup").glob(f"**/{container.name}/*") if path.is_file()}
        memory = groups.get("memory.limit_in_bytes") or groups["memory.max"]
        assert int(memory.read_text()) == in_bytes(compose["mem_limit"])
        assert int(groups["pids.max"].read_text()) == compose["pids_limit"]
        done = container.exec(["python", "-c", "bytearray(5 << 30)"])
        assert done.returncode == 137  # killed, and nobody else
        assert container.process.poll() is None


class TestLife:
    def test_a_stop_is_answered_within_its_grace(self, start: Start, compose: dict[str, Any]) -> None:
        grace = float(compose["stop_grace_period"].removesuffix("s"))
        assert grace > load(ROOT / "config.yaml", {}).server.shutdown_seconds
        with start() as container:
            _read(container, "late.html", render="always")
            container.stop(grace)

    def test_the_health_check_fails_without_a_service(self, start: Start, image: Image) -> None:
        with start() as container:
            assert container.exec(["env", "BONMUN_SERVER__PORT=8001", *image.healthcheck]).returncode == 1

    def test_without_the_profile_it_refuses_to_render(self, start: Start, seccomp: dict[str, Any]) -> None:
        with start(profile=_without_namespaces(seccomp)) as container:
            assert _read(container, "static.html")["title"] == "어판장"
            assert _read(container, "late.html", render="always")["error"]["code"] == "OVERLOADED"


def _without_namespaces(profile: dict[str, Any]) -> dict[str, Any]:
    """As Docker's own profile treats a container without capabilities: no new namespaces, no chroot."""
    strict = copy.deepcopy(profile)
    strict["syscalls"] = [rule for rule in strict["syscalls"] if not {"unshare", "chroot"} & set(rule["names"])]
    for rule in strict["syscalls"]:
        if rule["names"] == ["clone"]:
            rule["args"][0]["value"] |= 0x70000000
    return strict
