"""Runs an image as compose.yaml says, with runc, the runtime under Docker: no engine, the same kernel features.

A container's network is a new one with a loopback only, so whatever runs inside reaches nobody. Its control groups
are made where this machine lets runc make them, else left out (`Container.bounded`).
"""

from __future__ import annotations

import json
import platform
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.container.image import Image

ARCHITECTURES = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}

SPECIAL = (
    ("/proc", "proc", "proc", ()),
    ("/dev", "tmpfs", "tmpfs", ("nosuid", "strictatime", "mode=755", "size=65536k")),
    ("/dev/pts", "devpts", "devpts", ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")),
    ("/sys", "sysfs", "sysfs", ("nosuid", "noexec", "nodev", "ro")),
)
"""What every engine mounts: where, which file system, from what, how."""

MASKED = ("/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi", "/sys/firmware")
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
"""What every engine hides of these, or lets nobody write."""


@dataclass
class Container:
    """A running container."""

    name: str
    bundle: Path
    process: subprocess.Popen[bytes]
    pid: int
    bounded: bool
    """Whether limits on memory and processes are in force."""

    def exec(self, command: Sequence[str], timeout: float = 30) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as `docker exec` does: same user, no capabilities, same filter."""
        path = self.bundle / f"exec-{uuid.uuid4().hex}.json"
        process = json.loads((self.bundle / "config.json").read_text())["process"]
        path.write_text(json.dumps({**process, "args": list(command)}))
        return subprocess.run(
            [*_runc(self.bundle), "exec", "--process", str(path), self.name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def beside(self, command: Sequence[str]) -> list[str]:
        """The command in the container's network, with everything else this machine's."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]

    def logs(self) -> str:
        """What the service wrote."""
        return (self.bundle / "log").read_text(encoding="utf-8", errors="replace")

    def stop(self, timeout: float) -> int:
        """As `docker stop`: SIGTERM to the first process; its exit status."""
        subprocess.run([*_runc(self.bundle), "kill", self.name, "TERM"], capture_output=True, timeout=30, check=True)
        return self.process.wait(timeout)


@contextmanager
def running(
    image: Image, compose: dict[str, Any], seccomp: dict[str, Any], bundle: Path, environment: dict[str, str]
) -> Iterator[Container]:
    """A container of the image, until the end of the block."""
    bundle.mkdir()
    name = f"bonmun-{uuid.uuid4().hex[:12]}"
    config = config_of(image, compose, seccomp, environment)
    process = _start(config, bundle, name)
    bounded = True
    if process is None:
        config["linux"].pop("resources")
        process, bounded = _start(config, bundle, name), False
    try:
        assert process is not None, (bundle / "log").read_text()
        yield Container(name, bundle, process, int((bundle / "pid").read_text()), bounded)
    finally:
        _end(process, bundle, name)


def _start(config: dict[str, Any], bundle: Path, name: str) -> subprocess.Popen[bytes] | None:
    """The container's `runc run` once there is a first process; None when it did not come to that."""
    (bundle / "config.json").write_text(json.dumps(config, indent=1))
    (bundle / "pid").unlink(missing_ok=True)
    with (bundle / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_runc(bundle), "run", "--bundle", str(bundle), "--pid-file", str(bundle / "pid"), name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if (bundle / "pid").exists() and (bundle / "pid").read_text():
            return process
        time.sleep(0.02)
    _end(process, bundle, name)
    return None


def _end(process: subprocess.Popen[bytes] | None, bundle: Path, name: str) -> None:
    """The container and the `runc` that waits for it, whatever state they are in."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run([*_runc(bundle), "delete", "--force", name], capture_output=True, timeout=60, check=False)
    if process is not None:
        process.kill()
        process.wait(10)


def _runc(bundle: Path) -> list[str]:
    return ["runc", "--root", str(bundle / "state")]


def config_of(
    image: Image, compose: dict[str, Any], seccomp: dict[str, Any], environment: dict[str, str]
) -> dict[str, Any]:
    """The runtime's configuration (the Open Container Initiative's runtime-spec) for this service."""
    uid, gid = (int(number) for number in compose.get("user", image.user).split(":"))
    capabilities = [] if compose["cap_drop"] == ["ALL"] else ["CAP_SYS_CHROOT"]
    variables = image.environment | compose.get("environment", {}) | environment
    memory = in_bytes(compose["mem_limit"])
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": uid, "gid": gid},
            "args": [*image.entrypoint, *image.command],
            "env": [f"{name}={value}" for name, value in variables.items()],
            "cwd": image.workdir,
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), capabilities),
            "noNewPrivileges": "no-new-privileges:true" in compose["security_opt"],
        },
        "root": {"path": str(image.root), "readonly": compose["read_only"]},
        "hostname": "bonmun",
        "mounts": [
            *(
                {"destination": to, "type": kind, "source": source, "options": list(how)}
                for to, kind, source, how in SPECIAL
            ),
            _tmpfs(f"/dev/shm:size={compose['shm_size']},mode=1777,nosuid,noexec,nodev"),
            *map(_tmpfs, compose["tmpfs"]),
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")],
            "maskedPaths": list(MASKED),
            "readonlyPaths": list(READ_ONLY),
            "resources": {
                "memory": {"limit": memory},
                "pids": {"limit": compose["pids_limit"]},
                "devices": [{"allow": False, "access": "rwm"}],
            },
            "seccomp": filter_of(seccomp),
        },
    }


def filter_of(profile: dict[str, Any]) -> dict[str, Any]:
    """Docker's form of a filter in the runtime's, for this machine: as the engine makes it."""
    ours, architecture = ARCHITECTURES[platform.machine()]
    kept = ("names", "action", "errnoRet", "args")
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": [
            entry["architecture"] for entry in profile["archMap"] if entry["architecture"] == architecture
        ],
        "syscalls": [
            {key: rule[key] for key in kept if key in rule}
            for rule in profile["syscalls"]
            if ours in rule.get("includes", {}).get("arches", [ours])
        ],
    }


def _tmpfs(text: str) -> dict[str, Any]:
    destination, _, options = text.partition(":")
    return {"destination": destination, "type": "tmpfs", "source": "tmpfs", "options": options.split(",")}


def in_bytes(text: str) -> int:
    """`4g` and the like, as compose.yaml has sizes."""
    return int(text[:-1]) << {"k": 10, "m": 20, "g": 30}[text[-1]]
