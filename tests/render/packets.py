"""Run inside a network namespace: render a page that tries every way out, and print every packet that is a stranger.

A stranger is any packet on an interface other than loopback, and any on loopback that belongs neither to the test's
own origin nor to a listener of the service's proxy.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading

from playwright.async_api import Error, async_playwright

from service import Reader
from service.fetch import Guard, StaticTier, egress
from service.render.executable import find
from tests.conftest import loopback
from tests.origin import Origin
from tests.render import vectors
from tests.render.hostile import BODY

OUTSIDE = "198.51.100.7"
"""An address behind the tunnel (RFC 5737): packets to it go nowhere, and are seen."""

ALL = 0x0003  # ETH_P_ALL
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # if_tun.h
TCP, UDP, ICMPV6 = 6, 17, 58


class Watch:
    """Reads every packet of the namespace until it is told to stop."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL))
        self._socket.settimeout(0.2)
        self._on = True
        self._seen: set[tuple[str, str, int, int]] = set()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def stop(self) -> set[tuple[str, str, int, int]]:
        """What was seen: interface, protocol, and the two ports."""
        self._on = False
        self._thread.join()
        return self._seen

    def _read(self) -> None:
        while self._on:
            try:
                data, (interface, kind, *_) = self._socket.recvfrom(200)
            except TimeoutError:
                continue
            if kind == IPV4:
                protocol, start = data[9], (data[0] & 15) * 4
            elif kind == IPV6:
                protocol, start = data[6], 40
            else:
                self._seen.add((interface, "arp" if kind == ARP else hex(kind), 0, 0))
                continue
            if protocol == ICMPV6:
                continue  # the kernel's own neighbour discovery on a new interface
            ports = struct.unpack("!HH", data[start : start + 4]) if protocol in (TCP, UDP) else (0, 0)
            self._seen.add((interface, {TCP: "tcp", UDP: "udp"}.get(protocol, str(protocol)), *ports))


def outside() -> int:
    """A tunnel that the default route leads into, and out of which nobody reads; its descriptor holds it open."""
    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH22x", b"out", IFF_TUN | IFF_NO_PI))
    for command in ("addr add 198.51.100.1/24 dev out", "link set out up", "route add default dev out"):
        subprocess.run(["ip", *command.split()], check=True)
    return tunnel


async def ours(origin: Origin) -> set[int]:
    """Render through the service; the ports that belong to it."""
    ports: set[int] = set()
    start = egress.Lane.start

    async def noted(lane: egress.Lane, listener: socket.socket) -> None:
        await start(lane, listener)
        ports.add(lane.port)

    egress.Lane.start = noted  # type: ignore[method-assign]
    settings = loopback(origin.port, 80, 9000, render={"network_namespace": "never"})

    async def resolver(name: str, port: int) -> list[str]:  # in the service's own hands: its look-ups are no leak
        return [OUTSIDE]

    tier = StaticTier(settings, Guard(settings.egress, settings.fetch, resolver))
    async with Reader(settings, tier) as reader:
        await reader.read(origin.url("/warm"), render="always")
        watch = Watch()
        for target in (
            f"http://{OUTSIDE}:9000/",
            "http://127.0.0.2:9000/",
            "http://[::1]:9000/",
            "http://name.test:9000/",
        ):
            await reader.read(origin.route("/vectors", vectors.page(target)), render="always", timeout=6)
        await asyncio.sleep(1)
    return report(watch, {origin.port, *ports})


async def none(origin: Origin) -> set[int]:
    """The same page in a Chromium with nothing around it."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=find(None), args=["--no-sandbox"])
        page = await browser.new_page()
        watch = Watch()
        try:
            await page.goto(origin.route("/vectors", vectors.page(f"http://{OUTSIDE}:9000/")), timeout=5000)
        except Error as error:
            print(error, file=sys.stderr)
        await asyncio.sleep(1)
        await browser.close()
    return report(watch, {origin.port})


def report(watch: Watch, own: set[int]) -> set[int]:
    """Print who is a stranger."""
    for interface, protocol, source, target in sorted(watch.stop()):
        if not (interface == "lo" and protocol == "tcp" and {source, target} & own):
            print(f"{interface}/{protocol}/{source}/{target}")
    return own


async def main(flags: str) -> None:
    """Watch one or the other."""
    outside()
    with Origin() as origin:
        origin.route("/warm", BODY)
        await (ours(origin) if flags == "ours" else none(origin))


if __name__ == "__main__":
    os.environ.pop("BONMUN_CONFIG", None)
    asyncio.run(main(sys.argv[1]))
