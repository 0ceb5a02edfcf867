"""Waiting for calls that may never return.

Any call into a browser can hang: `content`, `evaluate`, `page.close`, even `browser.close` were measured to.
`asyncio.wait_for` also waits for the call it has cancelled; what is used here walks away from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import Error

T = TypeVar("T")


async def within(seconds: float, call: Coroutine[Any, Any, T], *ends: asyncio.Future[Any]) -> T:
    """The call's result, unless `seconds` pass or one of `ends` comes first: then the call is abandoned.

    Raises `TimeoutError`, what the end holds, or what the call raises, which for a driver that has died is an `Error`.
    """
    task = asyncio.ensure_future(call)
    try:
        await asyncio.wait({task, *ends}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        failed = task.done() and (task.cancelled() or task.exception() is not None)
        if task.done() and not failed:
            return task.result()
        for end in ends:  # before the call's own failure, which may be no more than their consequence
            if end.done():
                end.result()
        if failed:
            return _result(task)
        raise TimeoutError
    finally:
        if not task.done():
            task.add_done_callback(_consume)
            task.cancel()


def _result(task: asyncio.Future[T]) -> T:
    try:
        return task.result()
    except Exception as error:
        # Playwright and uvloop say that the pipe to a driver is gone by exceptions of no class of their own.
        if type(error) in (Exception, RuntimeError):
            raise Error(str(error)) from error
        raise


async def readable(descriptor: int) -> None:
    """Until there is something to read, or a process that this descriptor stands for has ended."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, ready.cancel)
    try:
        await asyncio.wait({ready})
    finally:
        loop.remove_reader(descriptor)


def _consume(task: asyncio.Future[Any]) -> None:
    """Take note of what an abandoned call ended with, so that nothing complains that nobody did."""
    if not task.cancelled():
        task.exception()
