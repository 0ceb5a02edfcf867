"""The command line as a process: what goes where, exit statuses, pipes, capture folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.hostile import PAGE
from tests.origin import Origin

ROOT = Path(__file__).parent.parent


def bonmun(
    *arguments: str, origin: Origin | None = None, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    allowed = {"BONMUN_EGRESS__ALLOW": '["127.0.0.1/32"]', "BONMUN_EGRESS__PORTS": f"[{origin.port}]"} if origin else {}
    env = {**os.environ, "BONMUN_WORKERS__PROCESSES": "1", **allowed, **environ}
    command = [sys.executable, "-m", "service", *arguments]
    return subprocess.run(command, cwd=ROOT, input=stdin, env=env, capture_output=True, timeout=60, check=False)


def test_read(origin: Origin) -> None:
    run = bonmun("read", origin.route("/a", PAGE), origin=origin)
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.startswith(b"The keeper counts")
    answer = json.loads(bonmun("read", "--json", "--include", "text", origin.url("/a"), origin=origin).stdout)
    assert answer["title"] == "A page"
    assert answer["text"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "exit_status"),
    [
        ("/gone", b"gone", 410, "PAGE_NOT_FOUND", 5),
        ("/pdf", b"%PDF-1.7", 200, "UNSUPPORTED_CONTENT", 6),
        ("/empty", b"", 200, "EXTRACT_FAILED", 7),
        ("/down", b"", 500, "UPSTREAM_ERROR", 9),
    ],
)
def test_each_failure_has_its_exit_status(
    origin: Origin, path: str, body: bytes, status: int, code: str, exit_status: int
) -> None:
    run = bonmun("read", origin.route(path, body, status=status), origin=origin)
    assert (run.returncode, run.stdout) == (exit_status, b"")
    assert code.encode() in run.stderr
    assert b"Traceback" not in run.stderr


def test_forbidden_and_wrong_addresses() -> None:
    assert bonmun("read", "http://10.0.0.1/").returncode == 3
    assert bonmun("read", "file:///etc/passwd").returncode == 3
    assert bonmun("read", "example.org").returncode == 2
    assert bonmun("nothing").returncode == 2


def test_extract_from_file_and_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(PAGE)
    assert bonmun("extract", str(file)).stdout == bonmun("extract", "-", stdin=PAGE).stdout
    euc = f"<article>{'<p>국회는 오늘 본회의를 열고 예산안을 처리했다.</p>' * 6}</article>".encode("euc-kr")
    run = bonmun("extract", "-", "--content-type", "text/html; charset=euc-kr", stdin=euc)
    assert "본회의를" in run.stdout.decode()
    missing = bonmun("extract", str(tmp_path / "no.html"))
    assert (missing.returncode, b"cannot be read" in missing.stderr) == (2, True)


def test_explain_shows_who_won() -> None:
    run = bonmun("explain", "captures/br-article/page.html")
    lines = run.stdout.decode().splitlines()
    assert lines[0].split()[0] == "score"
    assert lines[1].startswith("won")
    assert b"body from: body" in run.stderr


def test_capture_writes_a_folder_that_the_tests_run(origin: Origin, tmp_path: Path) -> None:
    run = bonmun("capture", origin.route("/a", PAGE), "--into", str(tmp_path), origin=origin)
    assert run.returncode == 0, run.stderr
    folder = Path(run.stdout.decode().strip())
    assert (folder / "page.html").read_bytes() == PAGE
    assert yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))["expect"]["title"] == "A page"
    tests = [sys.executable, "-m", "pytest", "-q", "tests/test_captures.py", "-k", folder.name]
    again = subprocess.run(
        tests, cwd=ROOT, env={**os.environ, "BONMUN_CAPTURES": str(tmp_path)}, capture_output=True, check=False
    )
    assert again.returncode == 0, again.stdout
    assert b"." in again.stdout
    assert bonmun("capture", origin.url("/a"), "--into", str(tmp_path), origin=origin).returncode == 2


def test_config_and_wrong_settings() -> None:
    run = bonmun("config", BONMUN_LIMITS__TOTAL_SECONDS="5")
    assert yaml.safe_load(run.stdout)["limits"]["total_seconds"] == 5
    wrong = bonmun("config", BONMUN_LIMITS__SPEED="5")
    assert (wrong.returncode, b"BONMUN_LIMITS__SPEED" in wrong.stderr) == (78, True)
    assert bonmun("--config", "/nowhere.yaml", "config").returncode == 78


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m service extract captures/br-article/page.html --json --include html | head -c 10"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert run.stderr == b""


def test_serve_answers_and_stops(origin: Origin) -> None:
    import socket
    import time

    import httpx2

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "BONMUN_WORKERS__PROCESSES": "1"}
    command = [sys.executable, "-m", "service", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            try:
                answer = httpx2.get(f"http://127.0.0.1:{port}/readyz", trust_env=False)
                break
            except httpx2.HTTPError:
                time.sleep(0.05)
        assert answer.json()["components"]["workers"] == "ok"
        assert "server" not in answer.headers
        process.terminate()
        assert process.wait(10) in (0, -15)
    finally:
        process.kill()
    assert process.stderr is not None
    assert all(json.loads(line)["level"] for line in process.stderr.read().decode().splitlines())
