"""The self-test: it finds a browser that leaks, and passes one that does not."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext

from service import Failure, Reader
from service.render.browser import Browser
from service.render.executable import find
from service.render.keeper import Keeper
from service.render.selftest import Leak, check
from service.settings import Settings
from tests.conftest import loopback
from tests.origin import Origin

OPEN = Settings.model_validate({"render": {"network_namespace": "never"}})


class Leaky(Browser):
    """A browser whose pages may go around their proxy to this machine, in this machine's own network."""

    async def context(self, lane_port: int) -> BrowserContext:
        return await self._chromium.new_context(
            proxy={"server": f"http://127.0.0.1:{lane_port}", "bypass": "127.0.0.1"}
        )


async def test_a_leak_is_found() -> None:
    browser = await Leaky.start(OPEN, find(None))
    try:
        with pytest.raises(Leak, match="TCP"):
            await check(browser, OPEN)
    finally:
        await browser.aclose()


@pytest.mark.parametrize("mode", ["required", "never"])
async def test_a_tight_browser_passes(mode: str) -> None:
    settings = Settings.model_validate({"render": {"network_namespace": mode}})
    browser = await Browser.start(settings, find(None))
    try:
        await check(browser, settings)
    finally:
        await browser.aclose()


async def test_a_reader_whose_browser_leaks_renders_nothing(origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.render.keeper.Browser", Leaky)
    settings = loopback(origin.port, render={"network_namespace": "never"})
    async with Reader(settings) as reader:
        with pytest.raises(Failure) as caught:
            await reader.read(origin.url("/normal"), render="always")
        assert caught.value.code == "OVERLOADED"
        assert not reader.render_state.sound
        assert "forbidden address" in reader.render_state.status
        assert (
            await reader.read(origin.route("/a", "<article><p>" + "words of it " * 20), render=True)
        ).tier == "static"
        assert origin.paths().count("/normal") == 0
    boot = loopback(origin.port, render={"network_namespace": "never", "start": "boot"})
    with pytest.raises(Failure, match="forbidden address"):
        async with Reader(boot):
            pytest.fail("a service must not start with a browser that leaks")


def test_the_keeper_waits_longer_after_each_failure() -> None:
    keeper = Keeper(Settings())
    waits = []
    for _ in range(9):
        before = keeper._again_at
        keeper._note(Leak("x"))
        waits.append(keeper._again_at - before)
    assert keeper.leaked
    assert keeper.counts.start_failed == 9
