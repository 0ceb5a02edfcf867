"""Before a browser reads strangers' pages: proof, from inside it, that a forbidden address cannot be reached.

A canary listens on this machine's loopback, for TCP and UDP. A page tries every way out that was measured to pass
a proxy in some configuration. One packet at the canary, and the browser is not used.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

from playwright.async_api import Error

from service.fetch.egress import Egress
from service.fetch.guard import Guard
from service.fetch.network import PinnedBackend
from service.render.bounded import within
from service.render.browser import Browser
from service.render.launch import StartFailed
from service.settings import Settings

PROBE_SECONDS = 0.3
"""How long the canary is watched after the last probe; a leak on loopback arrives within milliseconds."""

PROBES = """
async ({host, port}) => {
  const url = `http://${host}:${port}/`;
  const tries = [
    () => fetch(url, {mode: "no-cors"}),
    () => navigator.sendBeacon(url, "x"),
    () => new WebSocket(`ws://${host}:${port}/`),
    () => new EventSource(url),
    () => new Worker(URL.createObjectURL(new Blob([`fetch("${url}", {mode: "no-cors"})`]))),
    () => { const frame = document.createElement("iframe"); frame.src = url; document.body.append(frame); },
    () => {
      const link = document.createElement("link");
      link.rel = "preconnect"; link.href = url; document.head.append(link);
    },
    async () => {
      const peer = new RTCPeerConnection({iceServers: [
        {urls: `stun:${host}:${port}`},
        {urls: `turn:${host}:${port}?transport=udp`, username: "a", credential: "b"},
        {urls: `turn:${host}:${port}?transport=tcp`, username: "a", credential: "b"},
      ]});
      peer.createDataChannel("x");
      await peer.setLocalDescription(await peer.createOffer());
    },
    () => new WebTransport(`https://${host}:${port}/`).ready,
  ];
  for (const one of tries) { try { Promise.resolve(one()).catch(() => 0); } catch { continue; } }
}
"""


class Leak(Exception):
    """A forbidden address was reached from inside the browser. The message says by what."""


class _Canary(asyncio.DatagramProtocol):
    """Counts whoever comes."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.hit = asyncio.Event()

    def datagram_received(self, data: bytes, address: Any) -> None:
        """One packet."""
        self._count("UDP")

    def accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self._count("TCP")
        writer.close()

    def _count(self, how: str) -> None:
        self.hits.append(how)
        self.hit.set()


async def check(browser: Browser, settings: Settings) -> None:
    """Raises `Leak` when anything gets out of this browser; `StartFailed`, `TimeoutError` or `OSError` when nobody can
    say.
    """
    canary = _Canary()
    server = await asyncio.start_server(canary.accepted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: canary, local_addr=("127.0.0.1", port)
    )
    try:
        await _control(canary, port)
        proxied = await _probe(browser, settings, port)
    finally:
        transport.close()
        server.close()
    if canary.hits:
        raise Leak(f"a forbidden address was reached from inside the browser, by {', '.join(sorted(set(canary.hits)))}")
    if not proxied:
        raise StartFailed("the self-test failed: a page's requests do not come to its proxy")


async def _control(canary: _Canary, port: int) -> None:
    """The canary can be reached: else its silence would prove nothing."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("127.0.0.1", port))
    async with asyncio.timeout(1):
        while not {"TCP", "UDP"} <= set(canary.hits):
            canary.hit.clear()
            await canary.hit.wait()
    canary.hits.clear()


async def _probe(browser: Browser, settings: Settings, port: int) -> bool:
    """Try every way out; whether requests came to the proxy, where they belong."""
    policy = settings.egress.model_copy(update={"ports": (port,), "allow": (), "deny": ("0.0.0.0/0", "::/0")})
    guard = Guard(policy, settings.fetch)
    lane = await Egress(settings, PinnedBackend(guard)).open(await browser.listener())
    context = await within(5, browser.context(lane.port), browser.gone)
    try:
        page = await within(5, context.new_page(), browser.gone)
        await within(5, page.evaluate(PROBES, {"host": "127.0.0.1", "port": port}), browser.gone)
        await asyncio.sleep(PROBE_SECONDS)
        with suppress(Error):
            await within(5, page.goto(f"http://127.0.0.1:{port}/", timeout=2000), browser.gone)
    finally:
        await lane.aclose()
        guard.close()
        await within(5, context.close(), browser.gone)
    return bool(lane.failures)
