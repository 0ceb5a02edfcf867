"""Keys: asked for where they are set, and never forgotten on a public bind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

from service.api.keys import hash_of, new_key
from service.settings import Settings, load
from tests.conftest import loopback
from tests.origin import Origin
from tests.server import serving

KEY, OTHER = new_key(), new_key()
READ = {"url": "http://127.0.0.1:1/"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with Origin() as origin:
        settings = loopback(
            origin.port,
            auth={"keys": {"other": hash_of(OTHER), "app": hash_of(KEY)}},
            workers={"processes": 1},
        )
        with serving(settings) as address, httpx2.Client(base_url=address, timeout=20, trust_env=False) as running:
            yield running


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer  {OTHER}"},
        {"X-API-Key": KEY},
        {"Authorization": "Basic eA==", "X-API-Key": KEY},
    ],
)
def test_a_key_that_is_known(client: httpx2.Client, headers: dict[str, str]) -> None:
    html = "<title>T</title><p>" + "A sentence of the body, which is long enough. " * 9
    answer = client.post("/v1/extract", json={"html": html}, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "missing"),
        ({"Authorization": "Bearer"}, "missing"),
        ({"Authorization": f"Basic {KEY}"}, "missing"),
        ({"Authorization": f"Bearer {KEY}x"}, "unknown"),
        ({"X-API-Key": hash_of(KEY)}, "unknown"),
        ({"X-API-Key": b"\xff\xfe"}, "unknown"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/read", "/read/http://127.0.0.1/", "/metrics", "/nowhere"])
def test_no_key_that_is_known(client: httpx2.Client, headers: dict[str, str], reason: str, path: str) -> None:
    answer = client.request("POST" if path == "/v1/read" else "GET", path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer realm=")
    assert ("invalid_token" in answer.headers["WWW-Authenticate"]) == (reason == "unknown")
    error = answer.json()["error"]
    assert (error["code"], error["reason"], error["retryable"]) == ("UNAUTHORIZED", reason, False)
    assert answer.headers["X-Request-ID"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json"])
def test_what_needs_no_key(client: httpx2.Client, path: str) -> None:
    assert client.get(path).status_code == 200


def _bonmun(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_public_bind_is_refused_without_keys_or_a_word() -> None:
    done = _bonmun("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 78
    assert "bonmun key" in done.stderr
    assert "auth.open" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_that_is_made_is_let_in(tmp_path: Path) -> None:
    done = _bonmun("key", "my-app")
    assert done.returncode == 0
    key, (_, lines) = done.stdout.strip(), done.stderr.split("\n", 1)
    (tmp_path / "config.yaml").write_text(lines)
    settings: Settings = load(tmp_path / "config.yaml", {})
    assert settings.auth.keys == {"my-app": hash_of(key)} == yaml.safe_load(lines)["auth"]["keys"]
    assert key not in done.stderr


def test_a_key_in_clear_is_no_setting() -> None:
    done = _bonmun("config", BONMUN_AUTH__KEYS="{app: secret}")
    assert done.returncode == 78
    assert "auth.keys" in done.stderr
