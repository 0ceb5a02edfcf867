"""Private names: into a network that the operator allows, and nowhere else."""

from __future__ import annotations

import pytest

from service.failures import AddressForbidden, Failure
from service.fetch import Guard
from service.settings import Egress, Fetch


def guard(answers: list[str], **egress: object) -> Guard:
    async def resolver(name: str, port: int) -> list[str]:
        if not answers:
            raise OSError("no such name")
        return answers

    return Guard(Egress.model_validate(egress), Fetch(), resolver)


@pytest.mark.parametrize("host", ["intranet", "wiki.internal", "x.localhost", "printer.local."])
async def test_into_an_allowed_network(host: str) -> None:
    assert await guard(["10.1.2.3"], allow=["10.0.0.0/8"]).resolve(host, 80) == ("10.1.2.3",)


@pytest.mark.parametrize(
    "answers", [["8.8.8.8"], ["192.168.0.1"], ["10.1.2.3", "8.8.8.8"], []], ids=["public", "private", "mixed", "none"]
)
async def test_nowhere_else(answers: list[str]) -> None:
    with pytest.raises(AddressForbidden) as caught:
        await guard(answers, allow=["10.0.0.0/8"]).resolve("wiki.internal", 80)
    assert caught.value.reason == "hostname"


async def test_a_private_name_is_not_even_looked_up_where_no_network_is_allowed() -> None:
    asked: list[str] = []

    async def resolver(name: str, port: int) -> list[str]:
        asked.append(name)
        return ["8.8.8.8"]

    with pytest.raises(AddressForbidden):
        await Guard(Egress(), Fetch(), resolver).resolve("intranet", 80)
    assert asked == []


@pytest.mark.parametrize("deny", [["::ffff:10.1.2.0/120"], ["10.1.2.3"], ["0.0.0.0/0"], ["WIKI.internal."]])
async def test_deny_wins(deny: list[str]) -> None:
    with pytest.raises(AddressForbidden):
        await guard(["::ffff:10.1.2.3"], allow=["10.0.0.0/8", "wiki.internal"], deny=deny).resolve("wiki.internal", 80)


async def test_no_ports_is_no_way_out() -> None:
    with pytest.raises(Failure) as caught:
        await guard(["8.8.8.8"], ports=[]).resolve("a.test", 80)
    assert caught.value.reason == "port"
