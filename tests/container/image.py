"""Carries out a Dockerfile without an engine: its stages are folders, its RUN lines run in them.

What differs from a build: the base is debootstrap's Debian 12 with Debian's own Python 3.11, slimmed as the official
images are, in place of Docker Official Images' Python (its patch release, and `/usr/local` for `/usr`). Layers are
not kept apart, so what a later line removes costs nothing here. A RUN line sees this machine's package sources,
certificates and pip settings, mounted for its time: they are no part of the result.

Every mount is made in a mount namespace that ends with the command: a failure leaves none behind.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.container.dockerfile import Context, Instruction, Stage, expand

SLIM = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian", "usr/share/groff")
"""What the official slim images leave out, of every package."""

PYTHON = ("ca-certificates", "python3", "python3-venv")
"""Debian's packages with what is in the base image."""

BUILD_SECONDS = 540
"""Longest debootstrap or RUN line."""

MACHINES = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/xdg/pip", "/etc/ssl/certs", "/opt/pypi", "/opt/pypi-more")
"""What of this machine a RUN line needs to reach the registries, where it is there; and `ENVIRONMENT`."""

ENVIRONMENT = ("PIP_", "SSL_", "REQUESTS_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy")


@dataclass
class Image:
    """A root folder with what a container's start needs to know."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    ports: list[str] = field(default_factory=list)


def base(root: Path) -> Path:
    """What stands for the base image."""
    mirror = _output(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Codename: bookworm"]).splitlines()[0]
    packages = ",".join(PYTHON)
    _run(["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", str(root), mirror])
    excluded = [f"path-exclude /{folder}/*" for folder in SLIM] + ["path-include /usr/share/doc/*/copyright"]
    (root / "etc/dpkg/dpkg.cfg.d/slim").write_text("\n".join(excluded) + "\n")
    for folder in (*SLIM, "var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir()
    (root / "etc/apt/sources.list").unlink(missing_ok=True)
    return root


def build(stages: Sequence[Stage], context: Context, folder: Path, start: Path) -> Image:
    """Carry out every stage from `start`; the last one's image."""
    images: dict[str, Image] = {}
    for stage in stages:
        image = Image(folder / stage.name)
        _run(["cp", "--archive", "--reflink=auto", str(start), str(image.root)])
        images[stage.name] = image
        _Builder(image, images, context).carry_out(stage)
    return image


class _Builder:
    def __init__(self, image: Image, images: dict[str, Image], context: Context) -> None:
        self._image = image
        self._images = images
        self._context = context
        self._arguments: dict[str, str] = {}

    def carry_out(self, stage: Stage) -> None:
        for instruction in stage.instructions:
            getattr(self, instruction.name.lower())(instruction)

    def _expanded(self, instruction: Instruction) -> Instruction:
        text = expand(instruction.text, self._arguments | self._image.environment)
        return Instruction(instruction.name, text, instruction.flags)

    def arg(self, instruction: Instruction) -> None:
        self._arguments |= self._expanded(instruction).pairs

    def env(self, instruction: Instruction) -> None:
        self._image.environment |= self._expanded(instruction).pairs

    def label(self, instruction: Instruction) -> None:
        self._image.labels |= self._expanded(instruction).pairs

    def workdir(self, instruction: Instruction) -> None:
        self._image.workdir = instruction.text
        self._path(instruction.text).mkdir(parents=True, exist_ok=True)

    def user(self, instruction: Instruction) -> None:
        self._image.user = instruction.text

    def expose(self, instruction: Instruction) -> None:
        self._image.ports = instruction.words

    def entrypoint(self, instruction: Instruction) -> None:
        self._image.entrypoint, self._image.command = instruction.words, []

    def cmd(self, instruction: Instruction) -> None:
        self._image.command = instruction.words

    def healthcheck(self, instruction: Instruction) -> None:
        self._image.healthcheck = json.loads(instruction.text.removeprefix("CMD "))

    def copy(self, instruction: Instruction) -> None:
        """Files into a folder, a folder's content into a folder, or one file to a name."""
        *sources, target = instruction.words
        for source in sources:
            if "from" in instruction.flags:
                origin, destination = (
                    self._images[instruction.flags["from"]].root / source.lstrip("/"),
                    self._path(target),
                )
                destination.parent.mkdir(parents=True, exist_ok=True)
                _run(["cp", "--archive", str(origin), str(destination)])
                continue
            is_folder = (self._context.folder / source).is_dir()
            for file in self._context.files(source):
                inside = file.relative_to(source) if is_folder else Path(file.name if target.endswith("/") else "")
                destination = self._path(target) / inside
                destination.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self._context.folder / file, destination)
                if "chmod" in instruction.flags:
                    destination.chmod(int(instruction.flags["chmod"], 8))

    def run(self, instruction: Instruction) -> None:
        """In the root, as root, with this machine's way to the registries mounted over it."""
        root = self._image.root
        mounts = [f"mount -t proc proc {root}/proc"]
        sources = [*Path("/etc/apt/sources.list.d").glob("*.sources"), *Path("/etc/apt/apt.conf.d").glob("9*")]
        here = [path for path in (*map(Path, MACHINES), *sources) if path.exists()]
        made = [path for path in here if not (root / path.relative_to("/")).exists()]
        for path in made:
            inside = root / path.relative_to("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.mkdir() if path.is_dir() else inside.touch()
        mounts += [f"mount --bind {path} {root}{path}" for path in here]
        own = {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT)}
        own.pop("PIP_FIND_LINKS", None)
        environment = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"} | own
        environment |= self._arguments | self._image.environment
        inside = ["env", "--ignore-environment", f"--chdir={self._image.workdir}"]
        inside += [*(f"{name}={value}" for name, value in environment.items()), "/bin/sh", "-c", instruction.text]
        script = "\n".join(["set -e", *mounts, f"exec chroot {root} {shlex.join(inside)}"])
        try:
            _run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script])
        finally:
            for path in made:
                inside_path = root / path.relative_to("/")
                inside_path.rmdir() if inside_path.is_dir() else inside_path.unlink()

    def _path(self, inside: str) -> Path:
        return self._image.root / (Path("/") / self._image.workdir / inside).relative_to("/")


def size(root: Path) -> int:
    """Bytes on disk."""
    return int(_output(["du", "--summarize", "--block-size=1", "--one-file-system", str(root)]).split()[0])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)[:2000]}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
