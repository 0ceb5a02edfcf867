"""The command line: `bonmun serve`, `read`, `extract`, `explain`, `capture`, `tune`, `key`, `config`.

Markdown goes to standard output, everything else to standard error. Each failure has its own exit
status (`Failure.exit_status`); sysexits name the rest: a wrong setting is 78, output that cannot be
written 74, a server that cannot start 69.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import ipaddress
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from service.arguments import parser
from service.capture import write_capture
from service.extraction import extract
from service.failures import Failure, InvalidRequest
from service.page import Candidate, Page
from service.reader import Reader
from service.settings import Settings, SettingsError, load

EX_DATAERR, EX_UNAVAILABLE, EX_IOERR, EX_CONFIG = 65, 69, 74, 78


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    grammar = parser()
    options = grammar.parse_args(arguments)
    if getattr(options, "include", None) and not options.json:
        grammar.error("--include needs --json")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8 whatever the locale; no page can break the output
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        settings = load(options.config)
        status = COMMANDS[options.command](options, settings)
        if sys.stdout is not None:  # closed by the caller (`>&-`)
            sys.stdout.flush()
        return status
    except SettingsError as error:
        print(f"bonmun: {error}", file=sys.stderr)
        return EX_CONFIG
    except Failure as failure:
        print(
            f"bonmun: {failure.code}: {failure.message}" + (f" [{failure.reason}]" if failure.reason else ""),
            file=sys.stderr,
        )
        return failure.exit_status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output is gone (`| head`): not an error, and nothing more can be written.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        print(f"bonmun: {error.strerror or error}", file=sys.stderr)
        return EX_IOERR


def _drop_output() -> None:
    """What is left in the buffer goes nowhere, or the interpreter would fail on it once more at its end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _serve(options: argparse.Namespace, settings: Settings) -> int:
    # A server's imports, which the other commands do not wait for.
    from service.api.app import create_app
    from service.api.logs import configure
    from service.api.server import server as server_of

    overrides = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
    server = settings.server.model_copy(update=overrides)
    settings = settings.model_copy(update={"server": server})
    configure(server.log_level)
    if not _is_loopback(server.host) and not settings.auth.keys:
        if not settings.auth.open:
            raise SettingsError(
                f"auth: {server.host} is reached from other machines, and no keys are set. Make one with `bonmun key`, "
                "or say that whoever reaches it may use it: auth.open: true (BONMUN_AUTH__OPEN=true)"
            )
        logging.getLogger("bonmun").warning("listening on %s: anyone who reaches it may use it", server.host)
    running = server_of(create_app(settings), server)
    try:
        running.run()
    except SystemExit:  # uvicorn has logged why, with a status that is one of our failures'
        return EX_UNAVAILABLE
    return 0 if running.started else EX_UNAVAILABLE


def _read(options: argparse.Namespace, settings: Settings) -> int:
    async def read() -> tuple[Page, float]:
        async with Reader(settings) as reader:
            page = await reader.read(
                options.url,
                render="always" if options.always else True if options.render or options.wait_for else None,
                wait_for=options.wait_for,
                selector=options.selector,
                tables=options.tables,
                timeout=options.timeout,
            )
            return page, reader.effective_timeout(options.timeout)

    page, timeout = asyncio.run(read())
    _print(page, options, timeout)
    return 0


def _extract(options: argparse.Namespace, settings: Settings) -> int:
    page = extract(
        _input(options.file),
        options.url,
        options.content_type,
        selector=options.selector,
        tables=options.tables,
        settings=settings,
    )
    _print(page, options)
    return 0


def _explain(options: argparse.Namespace, settings: Settings) -> int:
    if options.source.lower().startswith(("http://", "https://")):

        async def read() -> Page:
            async with Reader(settings) as reader:
                return await reader.read(options.source, explain=True)

        page = asyncio.run(read())
    else:
        page = extract(_input(options.source), options.url, explain=True, settings=settings)
    print(_table(page.explain, settings))
    for block in page.blocks:
        print(f"\n{'kept' if block.kept else 'left'}  {block.likely:.3f}  {block.element[:60]}  {block.text}")
        if block.rule:
            print(f"      rule: {block.rule}")
        print("      " + "  ".join(f"{e.weight:+.2f} {e.name}={e.value:g}" for e in block.evidence))
    print(f"\nbody from: {page.source}   kind: {page.kind}   characters: {len(page.text)}", file=sys.stderr)
    return 0


def _capture(options: argparse.Namespace, settings: Settings) -> int:
    folder = asyncio.run(write_capture(options.url, Path(options.into), settings))
    print(folder)
    return 0


def _tune(options: argparse.Namespace, settings: Settings) -> int:
    try:
        from service.tune import CorpusError, tune  # its libraries are no part of the service
    except ModuleNotFoundError as error:
        print(f"bonmun: `tune` needs {error.name}: install the extra, `pip install bonmun[tune]`", file=sys.stderr)
        return EX_UNAVAILABLE
    try:
        report = tune(
            [Path(folder) for folder in options.corpus],
            Path(options.output),
            folds=options.folds,
            settings=settings,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except CorpusError as error:
        print(f"bonmun: {error}", file=sys.stderr)
        return EX_DATAERR
    for corpus, kinds in report.f1.items():
        print(f"{corpus}: F1 on unseen sites {kinds['all'][0]:.4f}, spread between folds {report.spread[corpus]:.4f}")
        print("   " + "  ".join(f"{kind} {f1:.3f} ({pages})" for kind, (f1, pages) in kinds.items() if kind != "all"))
        print(f"   kind named right on {report.agreement[corpus]['all'][0]:.1%}")
    return 0


def _key(options: argparse.Namespace, settings: Settings) -> int:
    from service.api.keys import hash_of, new_key

    key = new_key()
    print(key)
    print(
        "bonmun: the key is shown only now. The service knows it by these lines of its config.yaml:\n"
        f"auth:\n  keys:\n    {options.name}: {hash_of(key)}",
        file=sys.stderr,
    )
    return 0


def _config(options: argparse.Namespace, settings: Settings) -> int:
    print(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True), end="")
    return 0


def _table(rows: Sequence[Candidate], settings: Settings) -> str:
    """Candidates as an aligned table: what each holds, the two factors, the score."""
    weights = settings.extraction
    head = ("", "score", "chars", "p share", "× paragraphs", "link share", "× links", "element")
    lines = [
        (
            "won" if row.won else "",
            f"{row.score:.1f}",
            str(row.chars),
            f"{row.p_share:.3f}",
            f"{weights.p_floor + weights.p_weight * row.p_share:.3f}",
            f"{row.link_share:.3f}",
            f"{max(0.0, 1 - weights.link_discount * row.link_share):.3f}",
            row.element[:80],
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in [head, *lines]) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, 7) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [head, *lines]
    )


def _print(page: Page, options: argparse.Namespace, timeout: float | None = None) -> None:
    if options.json:
        from service.api.schema import Options, answer_of

        wanted = Options.model_validate({"include": options.include, "offset": options.offset, "limit": options.limit})
        answer = answer_of(page, wanted, sum(page.timings.values()), timeout)
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        part = page.piece(options.offset, options.limit)
        print(part.markdown)
        if part.next_offset is not None:
            print(f"bonmun: more from --offset {part.next_offset}", file=sys.stderr)


def _input(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{name} cannot be read: {error.strerror}", reason="file") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


COMMANDS: dict[str, Callable[[argparse.Namespace, Settings], int]] = {
    "serve": _serve,
    "read": _read,
    "extract": _extract,
    "explain": _explain,
    "capture": _capture,
    "tune": _tune,
    "key": _key,
    "config": _config,
}
