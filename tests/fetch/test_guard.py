"""The guard: names, resolved addresses, allow and deny, look-ups that never end."""

import asyncio
import time

import pytest

from service.failures import AddressForbidden, Failure, UpstreamError, UpstreamTimeout
from service.fetch.guard import Guard
from service.settings import Egress, Fetch


def guard(answers: list[str] | Exception | None = None, **egress: object) -> Guard:
    async def resolver(name: str, port: int) -> list[str]:
        if isinstance(answers, Exception):
            raise answers
        return answers or ["8.8.8.8"]

    return Guard(Egress.model_validate(egress), Fetch(), resolver)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost.", "x.localhost", "intranet", "a.internal", "a.local", "b.home.arpa"]
)
async def test_private_names(host: str) -> None:
    with pytest.raises(AddressForbidden) as caught:
        await guard().resolve(host, 80)
    assert caught.value.reason == "hostname"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "192.0.0.192", "0.0.0.0", "ff02::1"]
)
async def test_literals(host: str) -> None:
    with pytest.raises(AddressForbidden) as caught:
        await guard().resolve(host, 80)
    assert caught.value.reason == "address"


@pytest.mark.parametrize(
    "answers", [["8.8.8.8", "10.0.0.1"], ["::1"], ["172.16.0.5"], ["::ffff:127.0.0.1"], ["fe80::1%2"], ["junk"]]
)
async def test_every_resolved_address_must_be_public(answers: list[str]) -> None:
    with pytest.raises(AddressForbidden) as caught:
        await guard(answers).resolve("a.test", 80)
    assert caught.value.reason == "address"


async def test_public_answers_come_back_once_and_in_order() -> None:
    assert await guard(["9.9.9.9", "8.8.8.8", "9.9.9.9"]).resolve("a.test", 80) == ("9.9.9.9", "8.8.8.8")


async def test_allow_opens_and_deny_wins() -> None:
    assert await guard(["10.0.0.1"], allow=["10.0.0.0/8"]).resolve("a.test", 80) == ("10.0.0.1",)
    assert await guard(["10.0.0.1"], allow=["*.corp.test"]).resolve("x.corp.test", 80) == ("10.0.0.1",)
    assert await guard(["10.0.0.1"], allow=["intranet"]).resolve("intranet", 80) == ("10.0.0.1",)
    for denied in (["10.0.0.1/32"], ["*.corp.test"]):
        with pytest.raises(AddressForbidden):
            await guard(["10.0.0.1"], allow=["*.corp.test", "10.0.0.0/8"], deny=denied).resolve("x.corp.test", 80)
    with pytest.raises(AddressForbidden):
        await guard(["8.8.8.8"], deny=["8.8.8.0/24"]).resolve("a.test", 80)


@pytest.mark.parametrize(("answers", "kind", "reason"), [(OSError("no such name"), UpstreamError, "dns")])
async def test_no_address(answers: Exception, kind: type[Failure], reason: str) -> None:
    with pytest.raises(kind) as caught:
        await guard(answers).resolve("a.test", 80)
    assert caught.value.reason == reason


async def test_silent_look_ups_end_and_hold_up_nobody() -> None:
    async def silent(name: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    watched = Guard(Egress(), Fetch(dns_seconds=0.3), silent)
    started = time.perf_counter()
    outcomes = await asyncio.gather(*(watched.resolve("a.test", 80) for _ in range(50)), return_exceptions=True)
    assert time.perf_counter() - started < 2
    assert all(isinstance(outcome, UpstreamTimeout) and outcome.reason == "dns_timeout" for outcome in outcomes)


async def test_system_look_ups_run_in_a_pool_of_their_own() -> None:
    """A full pool of look-ups must not hold up other work in the loop's default executor."""
    own = Guard(Egress(allow=("127.0.0.0/8", "::1/128")), Fetch(dns_threads=1))
    block = own._pool.submit(time.sleep, 1.0)
    started = time.perf_counter()
    await asyncio.get_running_loop().run_in_executor(None, int)
    assert time.perf_counter() - started < 0.5
    assert "127.0.0.1" in await own.resolve("localhost", 80)
    block.result()
    own.close()
