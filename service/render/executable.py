"""Finding Chromium: the setting, else the system's headless shell, Chromium or Chrome, else Playwright's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

SYSTEM = (
    "chromium-headless-shell",
    "headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""Names looked for on PATH, best first: a headless shell renders 2 to 5 times the pages of a full Chromium in half
the memory, and has no traffic, no `chrome://` and no devtools of its own."""

DOWNLOADED = (
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium-*/chrome-*/chrome",
)
"""Where Playwright puts what `playwright install` fetches, inside its browsers folder."""

INSTALL = "`apt-get install chromium-headless-shell` (Debian) or `python -m playwright install --only-shell chromium`"
"""What a person can do about it."""


class NoChromium(Exception):
    """There is none; the message says what to install."""


def find(setting: str | None) -> Path:
    """The Chromium to run. Raises `NoChromium`."""
    if setting:
        named = shutil.which(setting)
        if named is None:
            raise NoChromium(f"render.executable is {setting!r}, which is no program here.")
        return Path(named)
    for path in _candidates():
        if os.access(path, os.X_OK):
            return path
    raise NoChromium(f"No Chromium is installed: {INSTALL}.")


def _candidates() -> Iterator[Path]:
    for name in SYSTEM:
        if found := shutil.which(name):
            yield Path(found)
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    for pattern in DOWNLOADED:
        yield from sorted(Path(cache).glob(pattern), key=_revision, reverse=True)


def _revision(path: Path) -> int:
    digits = "".join(char for char in path.parts[-3].rpartition("-")[2] if char.isdigit())
    return int(digits or 0)
