"""Playwright's driver: the Node process between us and Chromium. One for each browser: its memory is not given back."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from typing import Any, Self

from playwright.async_api import Playwright, async_playwright

from service.render.bounded import readable, within
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
        self._silence()
        return self

    @property
    def pid(self) -> int | None:
        """The process, while it runs."""
        return self._process.pid if self._process.returncode is None else None

    def _silence(self) -> None:
        """Playwright keeps an error for whoever waits for its connection; when a driver is killed, nobody does."""
        error = self._transport.on_error_future
        error.add_done_callback(lambda future: future.cancelled() or future.exception())

    async def ended(self) -> None:
        """Until the process has ended, which Playwright does not tell those who wait for its answers."""
        pid = self.pid
        if pid is None:
            return
        process = os.pidfd_open(pid)  # asyncio's own wait also waits for the pipes
        try:
            await readable(process)
        finally:
            os.close(process)

    @property
    def _process(self) -> asyncio.subprocess.Process:
        process: asyncio.subprocess.Process = self._transport._proc
        return process

    @property
    def _transport(self) -> Any:
        """Not in Playwright's interface, whose version is pinned."""
        return self._manager._client._transport  # type: ignore[union-attr]

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
