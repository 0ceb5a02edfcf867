"""A real origin on loopback: `/article/SIZE/NUMBER` and `/app/NUMBER`, HTTP/1.1 with connections kept open.

`python -m benchmarks.origin` prints its port and serves until it is ended. It does next to nothing for a request, so
that what is measured is who asks.
"""

from __future__ import annotations

import asyncio
import sys
from functools import lru_cache

from benchmarks.pages import app, article


@lru_cache(maxsize=512)
def _answer(target: str) -> bytes:
    kind, *numbers = target.strip("/").split("/")
    try:
        body = article(int(numbers[0]), int(numbers[1])) if kind == "article" else app(int(numbers[0]))
    except (IndexError, ValueError):
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_answer(head.split(b" ", 2)[1].decode("ascii", "replace")))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(_main())
    except KeyboardInterrupt:
        sys.exit(0)
