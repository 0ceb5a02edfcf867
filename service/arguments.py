"""The grammar of the command line: commands, their options, and what is a value of each."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

import ada_url

SECTIONS = ("html", "text", "links", "images", "media", "metadata", "outline", "explain")
"""What `--include` takes, as the HTTP answer has it."""

MOST = 999_999_999
"""Largest whole number of an option that has no limit of its own; no body has as many characters."""


def parser() -> argparse.ArgumentParser:
    """Every command with its options; which one it is ends up in `command`."""
    root = argparse.ArgumentParser(prog="bonmun", description="The main content of a web page, as Markdown.")
    root.add_argument(
        "--config", metavar="FILE", help="settings file (default: $BONMUN_CONFIG, else ./config.yaml if there)"
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run the HTTP service")
    serve.add_argument("--host", help="address to listen on (default: server.host)")
    serve.add_argument("--port", type=_whole(0, 65_535), help="port to listen on (default: server.port)")
    serve.set_defaults(command="serve")

    read = commands.add_parser("read", help="read a page by its address")
    read.add_argument("url", metavar="URL")
    read.add_argument("--render", action="store_true", help="use a browser where the static page has no body")
    read.add_argument("--always", action="store_true", help="use a browser in any case")
    read.add_argument("--wait-for", metavar="SELECTOR", help="in the browser: wait for an element")
    read.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="budget for everything")
    read.set_defaults(command="read")

    from_file = commands.add_parser("extract", help="extract from a file, or - for standard input")
    from_file.add_argument("file", metavar="FILE")
    from_file.add_argument("--url", type=_address, help="the page's address, to resolve links against")
    from_file.add_argument("--content-type", metavar="TYPE", help="the page's Content-Type header")
    from_file.set_defaults(command="extract")

    for command in (read, from_file):
        command.add_argument("--json", action="store_true", help="the whole answer as JSON instead of Markdown")
        command.add_argument(
            "--include", action="append", default=[], choices=SECTIONS, help="extra section for --json"
        )
        command.add_argument("--selector", metavar="CSS", help="take this element as the body")
        command.add_argument(
            "--tables", choices=("markdown", "html"), default="markdown", help="how tables are written"
        )
        command.add_argument("--offset", type=_whole(0), default=0, metavar="N", help="begin at a character")
        command.add_argument("--limit", type=_whole(1), metavar="N", help="most characters, cut between blocks")

    explain = commands.add_parser("explain", help="show the candidates for the body, and how every block was judged")
    explain.add_argument("source", metavar="FILE|URL")
    explain.add_argument("--url", type=_address, help="the page's address, for a file")
    explain.set_defaults(command="explain")

    capture = commands.add_parser("capture", help="write bytes, headers and answer of a page into a capture folder")
    capture.add_argument("url", metavar="URL")
    capture.add_argument("--into", metavar="DIR", default="captures", help="folder of captures (default: captures)")
    capture.set_defaults(command="capture")

    tuning = commands.add_parser("tune", help="fit the models to labelled pages")
    tuning.add_argument("corpus", metavar="CORPUS", nargs="+", help="folder with truth.jsonl.gz and pages/")
    tuning.add_argument(
        "--output", "-o", metavar="DIR", default="weights", help="folder of the weights (default: weights)"
    )
    tuning.add_argument("--folds", type=_whole(2, 20), default=5, help="parts of the cross-validation (default: 5)")
    tuning.set_defaults(command="tune")

    key = commands.add_parser("key", help="make an API key, and the line of config.yaml that lets it in")
    key.add_argument("name", metavar="NAME", type=_name, help="who will use it: letters, digits, `.`, `_`, `-`")
    key.set_defaults(command="key")

    config = commands.add_parser("config", help="check the settings and show them as they are in force")
    config.set_defaults(command="config")

    for command in (serve, read, from_file, explain, capture, tuning, key, config):
        # Also after the command; left out there, the one before it stays.
        command.add_argument("--config", metavar="FILE", default=argparse.SUPPRESS, help="settings file")
    return root


def _whole(low: int, high: int = MOST) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            bounds = f"from {low} to {high}" if high != MOST else f"of at least {low}"
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}, not {text!r}")
        return int(text)

    return read


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text):
        raise argparse.ArgumentTypeError(f"must be up to 64 letters, digits, `.`, `_` or `-`, not {text!r}")
    return text


def _address(text: str) -> str:
    if text.partition(":")[0].lower() not in ("http", "https") or not ada_url.check_url(text):
        raise argparse.ArgumentTypeError(f"must be an http or https address, not {text!r}")
    return text


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be a number over 0, not {text!r}")
    return value
