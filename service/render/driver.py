"""Playwright's driver: the Node process between us and Chromium. One for each browser: its memory is not given back."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from typing import Self

from playwright.async_api import Playwright, async_playwright

from service.render.bounded import within
from service.render.launch import StartFailed

_log = logging.getLogger("bonmun.render")

START_SECONDS = 15.0
"""Longest start; measured 0.3 s, and 2 s on a loaded machine."""

STOP_SECONDS = 2.0
"""Longest stop, after which the process is killed."""


class Driver:
    """A running driver, its `playwright` and its `pid`."""

    def __init__(self) -> None:
        self._manager = async_playwright()
        self.playwright: Playwright

    async def start(self) -> Self:
        """Start it. Raises `StartFailed`."""
        try:
            self.playwright = await within(START_SECONDS, self._manager.start())
        except Exception as error:  # Playwright says so by a bare one when Node does not run, for want of a library
            raise StartFailed(f"Playwright's driver does not start: {error or 'no answer'}") from error
        return self

    @property
    def pid(self) -> int | None:
        """The process, while it runs: not in Playwright's interface, whose version is pinned."""
        return self._process.pid if self._process.returncode is None else None

    @property
    def _process(self) -> asyncio.subprocess.Process:
        return self._manager._client._transport._proc  # type: ignore[union-attr]

    async def stop(self) -> None:
        """Stop it; kill it when it does not."""
        pid = self.pid
        try:
            await within(STOP_SECONDS, self._manager.__aexit__(None, None, None))
            await within(STOP_SECONDS, self._process.wait())
        except Exception as error:  # whatever it is, the process must go
            _log.warning("the driver did not stop", extra={"fields": {"error": str(error) or type(error).__name__}})
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
