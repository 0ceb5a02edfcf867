"""Starting Chromium so that it cannot be turned against its host: who it runs as, with which flags, in which network.

`start` makes a private folder with a control socket, and has the supervisor start Chromium. The `Leash` is the end that
the service holds: it asks for listeners inside the browser's network, and kills.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from playwright.async_api import Browser as Chromium
from playwright.async_api import Error, Playwright

from service.render.bounded import readable
from service.settings import Settings

SUPERVISOR = Path(__file__).with_name("supervisor.py")

PREFIX = "bonmun-"
"""Of the folder of each browser: its control socket and its profile."""

NOBODY = "nobody"
"""Whom Chromium runs as when the service is root: its sandbox refuses root."""

DEAD_PROXY = "http://127.0.0.1:9"
"""The browser-wide proxy, where nobody listens: what belongs to no page leads nowhere (port 9 is `discard`)."""

START_SECONDS = 15.0
"""Longest start of a browser; measured 0.05 to 0.3 s, and 2 s on a loaded machine."""

FLAGS = (
    # Images are never fetched, nor web fonts: three tenths of the time of an ordinary page, and no text.
    # UTF-8 where a page declares nothing, as the static tier finds for nearly every such page.
    "--blink-settings=imagesEnabled=false,downloadableBinaryFontsEnabled=false,defaultTextEncodingName=UTF-8",
    # WebRTC speaks UDP past any proxy. The flag's name differs between the headless shell and Chromium.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--disable-gpu",
    "--mute-audio",
    "--no-pings",
)
"""What closes each measured way around a proxy, and what is not worth paying for."""

NOT_PLAYWRIGHTS = (
    "--disable-ipc-flooding-protection",  # without that protection a flood of history entries hangs the browser
    "--disable-popup-blocking",
)
"""Defaults of Playwright's that are for testing one's own pages."""


class StartFailed(Exception):
    """Chromium did not start; the message says why."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds a browser: Chromium's own sandbox, and a network of its own. A text says why one is missing."""

    sandbox: str | None
    network: str | None

    @property
    def lines(self) -> dict[str, str]:
        """For people: `on`, or `off` and why."""
        return {
            "sandbox": "on" if self.sandbox is None else f"off: {self.sandbox}",
            "network_namespace": "on" if self.network is None else f"off: {self.network}",
        }


@dataclass(frozen=True, slots=True)
class Started:
    """A running Chromium with what holds it."""

    chromium: Chromium
    leash: Leash
    confinement: Confinement


class Leash:
    """The service's end of a supervisor: closing it kills the browser, also when the service just vanishes."""

    def __init__(self) -> None:
        _sweep()
        # Short: a Unix socket's path has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.path = self.folder / "control"
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.path))
        self._server.listen(1)
        self._server.setblocking(False)
        self._control: socket.socket | None = None
        self._asking = asyncio.Lock()
        self._leader: int | None = None
        self.network: str | None = "not entered"

    async def attach(self) -> None:
        """Wait for the supervisor's greeting."""
        loop = asyncio.get_running_loop()
        self._control, _ = await loop.sock_accept(self._server)
        greeting = b""
        while not greeting.endswith(b"\n"):
            piece = await loop.sock_recv(self._control, 4096)
            if not piece:
                raise StartFailed("the supervisor ended at once")
            greeting += piece
        told: dict[str, Any] = json.loads(greeting)
        self._leader, self.network = told["leader"], told["network"]

    @property
    def leader(self) -> int | None:
        """The process group of the browser, once it is known."""
        return self._leader

    async def listener(self) -> socket.socket:
        """A listening socket on the browser's own loopback. Raises `OSError` when the supervisor is gone."""
        async with self._asking:
            if self._control is None:
                raise ConnectionError("the browser was not started")
            await asyncio.get_running_loop().sock_sendall(self._control, b"l")
            await readable(self._control.fileno())
            _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
            if not descriptors:
                raise ConnectionError("the browser is gone")
            listener = socket.socket(fileno=descriptors[0])
            listener.setblocking(False)
            return listener

    def kill(self) -> None:
        """Kill the whole process group, frozen or not, and clean up. Can be called again."""
        if self._leader is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGKILL)
        if self._control is not None:
            self._control.close()
        self._control = self._leader = None
        self._server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.kill()


async def start(playwright: Playwright, executable: Path, settings: Settings) -> Started:
    """Start Chromium, confined as far as this system allows. Raises `StartFailed`."""
    sandbox: str | None = None
    while True:
        try:
            return await _start(playwright, executable, settings, sandbox)
        except Error as error:
            why = _sandbox_trouble(error.message, executable) if sandbox is None else None
            if why is None:
                raise StartFailed(f"{executable} does not start: {_first_line(error.message)}") from error
            if settings.render.sandbox == "required":
                raise StartFailed(f"Chromium's sandbox is required, and {why}") from error
            # Tried, not guessed: what a kernel, a seccomp profile and AppArmor allow together only Chromium knows.
            sandbox = why


async def _start(playwright: Playwright, executable: Path, settings: Settings, no_sandbox: str | None) -> Started:
    uid, gid = _identity(executable)
    with Leash() as leash:
        if uid is not None:
            os.chown(leash.folder, uid, gid or 0)
        wish = {
            "executable": str(executable),
            "control": str(leash.path),
            "memory": settings.render.process_memory_bytes,
            "uid": uid,
            "gid": gid,
            "network": settings.render.network_namespace != "never",
        }
        attaching = asyncio.ensure_future(leash.attach())
        try:
            chromium = await playwright.chromium.launch(
                executable_path=_program(leash.folder),
                args=[*FLAGS, f"--user-agent={settings.render.user_agent}"] if settings.render.user_agent else FLAGS,
                ignore_default_args=[*NOT_PLAYWRIGHTS],
                chromium_sandbox=no_sandbox is None,
                proxy={"server": DEAD_PROXY},
                env={**_environment(), "BONMUN_SUPERVISOR": json.dumps(wish)},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=1e3 * START_SECONDS,
            )
            await asyncio.wait_for(attaching, 2)
        except TimeoutError:
            raise StartFailed("the supervisor did not answer") from None
        finally:
            attaching.cancel()
        if leash.network is not None and settings.render.network_namespace == "required":
            raise StartFailed(f"no network namespace: {leash.network}")
        return Started(chromium, leash, Confinement(no_sandbox, leash.network))


def _sweep() -> None:
    """Remove the folders of services that were killed together with their supervisors."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _program(folder: Path) -> Path:
    """The supervisor as a program: an installed wheel has lost its executable bit."""
    if os.access(SUPERVISOR, os.X_OK):
        return SUPERVISOR
    copy = folder / SUPERVISOR.name
    shutil.copyfile(SUPERVISOR, copy)
    copy.chmod(0o755)
    return copy


def _identity(executable: Path) -> tuple[int | None, int | None]:
    """Whom Chromium is to become when we are root, so that its sandbox works; (None, None) to stay as we are."""
    if os.geteuid() != 0 or not _open_to_all(executable):
        return None, None
    try:
        nobody = pwd.getpwnam(NOBODY)
    except KeyError:
        return None, None
    return nobody.pw_uid, nobody.pw_gid


def _open_to_all(executable: Path) -> bool:
    """Whether somebody else may run it: Playwright's download in root's home is closed to them."""
    path = executable.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _environment() -> dict[str, str]:
    """What Chromium gets to see of our environment: where things are, not what they hold."""
    kept = ("HOME", "LANG", "TZ", "TMPDIR", "FONTCONFIG_PATH")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.defpath]),
    }


def _sandbox_trouble(message: str, executable: Path) -> str | None:
    """What Chromium says of a sandbox that cannot be had here; None when the trouble is another."""
    if "Running as root without --no-sandbox" in message and not _open_to_all(executable):
        return f"the service runs as root, and {executable} lies where nobody else may enter"
    for said, why in (
        ("No usable sandbox", "the system grants no user namespaces (see the README on the seccomp profile)"),
        ("Running as root without --no-sandbox", "the service runs as root"),
        ("sys_chroot", "the system refuses chroot inside a user namespace"),
        ("SUID sandbox helper", "the system grants no user namespaces, and the setuid helper cannot be used"),
        ("Failed to move to new namespace", "the system grants no user namespaces"),
    ):
        if said in message:
            return why
    return None


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "FATAL" in line or "error while loading" in line]
    return (telling or lines or ["no reason given"])[0][:300]
