"""The command line as a process: what goes where, exit statuses, pipes, capture folders."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

from service.cli import main
from tests.hostile import HEAD, PAGE, sends
from tests.origin import Origin, Request

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
    run = bonmun("read", "--json", "--include", "text", "--timeout", "3", origin.url("/a"), origin=origin)
    answer = json.loads(run.stdout)
    assert (answer["title"], answer["timeout"], answer["url"]) == ("A page", 3, origin.url("/a"))
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
    assert bonmun("read", "example.org").returncode == 2
    with pytest.raises(SystemExit, match="2"):
        main(["nothing"])


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


def test_explain_tells_what_kept_or_dropped_every_block() -> None:
    run = bonmun("explain", "captures/widget-articles/page.html")
    _, *blocks = run.stdout.decode().split("\n\n")
    first = blocks[0].splitlines()
    assert (first[0].split()[0], "The Fenland Courier" in first[0]) == ("left", True)
    assert sum(block.startswith("kept") for block in blocks) >= 15
    assert any("rule: a teaser" in block for block in blocks)
    for block in blocks:
        name, value = block.splitlines()[-1].split()[1].split("=")
        assert name.isprintable()
        assert float(value) == float(value)  # a number, and not NaN


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


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m service extract captures/br-article/page.html --json --include html | head -c 10"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert run.stderr == b""


@pytest.mark.parametrize(
    ("redirection", "status", "says"),
    [(">&-", 0, b""), ("2>&-", 0, b""), ("> /dev/full", 74, b"bonmun: No space left on device\n")],
)
def test_output_that_cannot_be_written(redirection: str, status: int, says: bytes) -> None:
    for command in ("config", "extract captures/br-article/page.html"):
        run = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m service {command} {redirection}"],
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        assert (run.returncode, run.stderr) == (status, says)


def test_a_port_in_use_has_a_status_of_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = bonmun("serve", "--port", str(taken.getsockname()[1]))
    assert (run.returncode, run.stdout) == (69, b"")
    assert b"address already in use" in run.stderr
    assert b"Traceback" not in run.stderr


def test_serve_answers_and_stops(origin: Origin) -> None:
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


@pytest.fixture
def serving(origin: Origin, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`bonmun serve --config FILE` as a process, once it listens, and its base address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = tmp_path / "config.yaml"
    egress = {"allow": ["127.0.0.0/8"], "ports": [origin.port]}
    file.write_text(yaml.safe_dump({"server": {"port": port}, "workers": {"processes": 1}, "egress": egress}))
    command = [sys.executable, "-m", "service", "serve", "--config", str(file)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


def test_a_stop_lets_the_work_at_hand_finish(origin: Origin, serving: tuple[subprocess.Popen[bytes], str]) -> None:
    async def slow(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE)
        await writer.drain()

    process, base = serving
    answers: list[httpx2.Response] = []
    body = {"url": origin.raw("/slow", slow)}

    def ask() -> None:
        answers.append(httpx2.post(f"{base}/v1/read", json=body, trust_env=False, timeout=10))

    thread = threading.Thread(target=ask)
    thread.start()
    while "/slow" not in origin.paths():
        time.sleep(0.01)
    process.terminate()
    thread.join(10)
    assert [answer.status_code for answer in answers] == [200]
    out, log = process.communicate(timeout=10)
    assert process.returncode in (0, -signal.SIGTERM)
    assert out == b""
    requests = [line for line in map(json.loads, log.decode().splitlines()) if line["logger"] == "bonmun.access"]
    assert [(line["route"], line["status"], line["host"]) for line in requests] == [("/v1/read", 200, "127.0.0.1")]


def test_an_interrupt_is_130(origin: Origin) -> None:
    url = origin.raw("/stall", sends(HEAD + b"Content-Length: 100\r\n\r\n", then="stall"))
    env = {**os.environ, "BONMUN_EGRESS__ALLOW": '["127.0.0.0/8"]', "BONMUN_EGRESS__PORTS": f"[{origin.port}]"}
    command = [sys.executable, "-m", "service", "read", url]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not origin.requests:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == (b"", b"")
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["serve", "--port", "99999"], "--port"),
        (["serve", "--port", "x"], "--port"),
        (["read", "--timeout", "nan", "http://a.test/"], "--timeout"),
        (["read", "--timeout", "soon", "http://a.test/"], "--timeout"),
        (["extract", "--tables", "csv", "-"], "--tables"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], names: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out, names in err) == (2, "", True)


def test_the_settings_file_may_be_named_before_or_after_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("limits: {total_seconds: 7}")
    for arguments in (["--config", str(file), "config"], ["config", "--config", str(file)]):
        assert main(arguments) == 0
        assert yaml.safe_load(capsys.readouterr().out)["limits"]["total_seconds"] == 7
    assert main(["config", "--config", "/nowhere.yaml"]) == 78


def test_the_output_is_utf_8_whatever_the_locale() -> None:
    page = f"<article>{'<p>국회는 오늘 본회의를 열고 예산안을 처리했다.</p>' * 6}</article>".encode()
    run = bonmun("extract", "-", stdin=page, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (run.returncode, run.stderr) == (0, b"")
    assert "본회의를" in run.stdout.decode()


def test_explain_of_an_address(origin: Origin) -> None:
    run = bonmun("explain", origin.route("/a", PAGE), origin=origin)
    assert run.stdout.decode().splitlines()[1].startswith("won")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["extract", "-", "--url", "foo"], "must be an http or https address, not 'foo'"),
        (["extract", "-", "--url", "ftp://a.test/x"], "must be an http or https address"),
        (["extract", "-", "--include", "links"], "--include needs --json"),
        (["extract", "-", "--limit", "0"], "must be a whole number of at least 1, not '0'"),
        (["serve", "--port", "70000"], "must be a whole number from 0 to 65535"),
    ],
)
def test_a_wrong_option_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert said in capsys.readouterr().err
