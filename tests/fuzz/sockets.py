"""What speaks HTTP to strangers, fuzzed over real sockets: the browser's proxy and the service's own face.

Both are told to reach nothing, by a policy that denies every address, so that no input makes them call out.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from service.fetch.egress import Egress
from service.fetch.guard import Guard
from service.fetch.network import PinnedBackend
from service.settings import Egress as Policy
from service.settings import Server, Settings, Workers
from tests.server import serving

NOWHERE = Settings(
    egress=Policy(deny=("0.0.0.0/0", "::/0")), workers=Workers(processes=1), server=Server(log_level="error")
)
SECONDS = 10
"""Longest wait for an answer or the end of a connection."""


def answer_of_proxy(data: bytes) -> None:
    """The proxy answers HTTP or closes; nothing that is said to it is left unhandled."""
    _is_http(_said(_proxy(), data))
    assert not _TROUBLES, _TROUBLES


def answer_of_service(data: bytes) -> None:
    """The service answers HTTP or closes, never with a bug's answer."""
    answer = _said(_service(), data)
    _is_http(answer)
    assert b"INTERNAL_ERROR" not in answer, answer


def _said(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        parts = []
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65_536):
                parts.append(part)
        except ConnectionError:  # it closed first
            return b"".join(parts)
        return b"".join(parts)


def _is_http(answer: bytes) -> None:
    assert not answer or answer.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")), answer[:80]


_TROUBLES: list[dict[str, Any]] = []


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, context: _TROUBLES.append(context))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@cache
def _proxy() -> int:
    async def start() -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        render = NOWHERE.render.model_copy(update={"max_requests": 1 << 60, "max_hosts": 1 << 60, "max_bytes": 1 << 60})
        settings = NOWHERE.model_copy(update={"render": render})

        async def resolver(name: str, port: int) -> list[str]:
            return ["127.0.0.1"]

        backend = PinnedBackend(Guard(settings.egress, settings.fetch, resolver))
        lane = await Egress(settings, backend).open(listener)
        _KEPT.append(lane)
        return lane.port

    return _done(start())


@cache
def _service() -> int:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a line for everything that is no HTTP
    context = serving(NOWHERE)
    _KEPT.append(context)
    return urlsplit(context.__enter__()).port or 0


_KEPT: list[object] = []
"""What must not be collected while it serves."""


def _done(work: Coroutine[Any, Any, int]) -> int:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result(SECONDS)
