"""The real service under a real uvicorn on loopback, in a thread, for tests that speak HTTP to it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from service.api import create_app
from service.api.server import server as server_of
from service.settings import Settings


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Serve with these settings; the base address."""
    here = settings.server.model_copy(update={"host": "127.0.0.1", "port": 0})
    server = server_of(create_app(settings), here)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        assert time.monotonic() < deadline, "the service did not start in time"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    logging.getLogger("bonmun.access").handlers.clear()
