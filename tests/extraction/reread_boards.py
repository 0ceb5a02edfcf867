"""Parses the Markdown of every page of the boards back and compares its words with the page's text.

python -m tests.extraction.reread_boards [EVERY]    every page, or every Nth; exits 1 where one differs or raises
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from service import Failure, extract
from tests.extraction.reread import text_of_markdown, words, words_of_markdown

BOARDS = Path(__file__).parents[3] / "shared" / "boards"


@dataclass(slots=True)
class Report:
    """What was read of one board."""

    pages: int = 0
    failed: int = 0
    """Pages that are a named failure."""
    signs: list[str] = field(default_factory=list)
    """Pages whose words agree and some other sign does not."""
    wrong: list[str] = field(default_factory=list)
    """Pages whose words do not agree, or that raised what is no named failure."""


def differing(board: str, every: int = 1) -> Report:
    """Read every Nth page of a board."""
    report = Report()
    with gzip.open(BOARDS / board / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        truths = [json.loads(line) for number, line in enumerate(lines) if number % every == 0]
    for truth in truths:
        page = gzip.decompress((BOARDS / board / "pages" / f"{truth['id']}.html.gz").read_bytes())
        header = f"text/html; charset={truth['charset']}" if truth.get("charset") else None
        report.pages += 1
        try:
            found = extract(page, url=truth.get("url"), content_type=header)
        except Failure:
            report.failed += 1
            continue
        except Exception as error:  # what this looks for: any other exception is a mistake
            report.wrong.append(f"{truth['id']}: {error!r}")
            continue
        if words(found.text) != words_of_markdown(found.markdown):
            report.wrong.append(truth["id"])
        elif "".join(found.text.split()) != text_of_markdown(found.markdown):
            report.signs.append(truth["id"])
    return report


def main() -> int:
    """Print what differs; 1 where anything does."""
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    wrong = 0
    for board in ("wcxb", "aeb", "cjk", "snippets"):
        report = differing(board, every)
        wrong += len(report.wrong)
        signs = f"{len(report.signs)} by signs only ({' '.join(report.signs[:8])})"
        print(f"{board:9} {report.pages} pages, {report.failed} failures, {len(report.wrong)} differ in words, {signs}")
        print("".join(f"   {name}\n" for name in report.wrong), end="", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
