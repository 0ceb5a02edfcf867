"""Failures: one code, status and exit status each, alike in the README, and whole after a worker's pipe."""

import pickle
from pathlib import Path

import pytest

from service.extraction import NoBody
from service.failures import ALL, Failure

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_names_are_distinct() -> None:
    assert len({failure.code for failure in ALL}) == len(ALL) == 11
    assert len({failure.exit_status for failure in ALL}) == len(ALL)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.code)
def test_the_readme_says_the_same(kind: type[Failure]) -> None:
    retry = "yes" if kind.retryable else "no"
    assert f"| `{kind.code}` | {kind.status} | {retry} | {kind.exit_status} |" in README


@pytest.mark.parametrize("kind", [*ALL, NoBody], ids=lambda kind: kind.__name__)
def test_a_failure_survives_a_pipe(kind: type[Failure]) -> None:
    failure = kind("Because.", reason="r", url="http://a.test/", upstream_status=503, retry_after=9)
    again = pickle.loads(pickle.dumps(failure))
    assert type(again) is kind
    assert again.as_dict() == failure.as_dict()
    assert set(again.as_dict()) == {"code", "message", "retryable", "retry_after", "upstream_status", "reason", "url"}


def test_where_a_page_refreshes_to_survives_a_pipe() -> None:
    assert pickle.loads(pickle.dumps(NoBody("x", refresh="http://b.test/"))).refresh == "http://b.test/"
