"""How often title, author and date agree with the truths of the wcxb board.

    metadata_score.py                 agreement on the pages that have a truth, of both halves
    metadata_score.py --worst 40      and the misses, with what was wanted and what was found
    metadata_score.py --half even     one half only: rules are chosen on even, checked on odd

A half is the parity of the first byte of SHA-256 of the site (host of the page's address), so that no site is in both.

Normalisation. All texts: NFKC, case folded, letters and digits only. A title agrees when it is equal, or equal once a
part after or before a separator that names the site (its declared name, or a label of its host) is cut from either
side. Authors agree when the sets of names are equal, in whatever order, joined by commas, "and", "&", "|" or ";", and
without "by", academic degrees after a comma, or an affiliation in brackets. A date agrees when the calendar day as the
page writes it, in its own time zone, is the truth's.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from service import Failure, Page, extract

BOARD = Path(os.environ.get("BOARDS", Path(__file__).resolve().parent.parent.parent / "shared" / "boards")) / "wcxb"
FIELDS = ("title", "author", "published")
_SEPARATOR = re.compile(r"\s+[|–—·•»«›<>/:-]+\s+|\s*[|｜]\s*|:\s+")
_JOINED = re.compile(r"\s*(?:[,;|/]|\s&\s|\band\b|\bund\b|\bet\b|\by\b)\s*", re.I)
_DEGREE = re.compile(
    r"^(?:m\.?d|ph\.?\s?d|m\.?s\.?c?|b\.?s\.?c?|r\.?d\.?n?|r\.?n|mba|mph|ms|ma|ba|jr|sr|cpa|esq|dds|dvm|ldn?|cscs|fand|do|pt"
    r"|dpt|pharmd|apr|cfp|llm|jd)\.?$",
    re.I,
)


def key(text: str) -> str:
    """Letters and digits, case folded."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def sites(page: Page, url: str) -> set[str]:
    """Keys that name the site."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    labels = host.split(".")
    return {key(name) for name in (page.site or "", host, *labels[:-1], "".join(labels[:-1])) if name}


def without_site(title: str, brands: set[str]) -> set[str]:
    """The keys of a title as it is and without parts that name the site."""
    keys = {key(title)}
    for cut in _SEPARATOR.finditer(title):
        before, after = title[: cut.start()], title[cut.end() :]
        for rest, part in ((before, after), (after, before)):
            name = key(part)
            if name and any(name == b or (len(b) >= 4 and (b in name or name in b) and len(name) >= 4) for b in brands):
                keys.add(key(rest))
    return keys - {""}


def names(text: str) -> frozenset[str]:
    """The keys of the names in a byline."""
    text = re.sub(r"\([^)]*\)|^\s*by\b", "", text, flags=re.I)
    parts = [part.strip() for part in _JOINED.split(text)]
    return frozenset(key(part) for part in parts if part and not _DEGREE.match(part)) - {""}


def agree(field: str, found: str | None, wanted: str, brands: set[str]) -> bool:
    """Whether what was found is what was wanted."""
    if not found:
        return False
    if field == "title":
        return not without_site(found, brands).isdisjoint(without_site(wanted, brands))
    if field == "author":
        return key(found) == key(wanted) or names(found) == names(wanted)
    return found[:10] == wanted[:10]


def truths() -> Iterator[dict[str, Any]]:
    """The board's pages, with the half that each is in."""
    with gzip.open(BOARD / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            truth = json.loads(line)
            site = (urlsplit(truth["url"]).hostname or "").removeprefix("www.")
            truth["half"] = ("even", "odd")[hashlib.sha256(site.encode()).digest()[0] % 2]
            yield truth


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="show N misses of each field")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth page only")
    options = parser.parse_args()
    right: dict[tuple[str, str], int] = {}
    total: dict[tuple[str, str], int] = {}
    invented: dict[str, int] = {}
    misses: dict[str, list[str]] = {field: [] for field in FIELDS}
    spent = 0.0
    for number, truth in enumerate(truths()):
        if number % options.every or options.half not in (None, truth["half"]):
            continue
        html = gzip.decompress((BOARD / "pages" / f"{truth['id']}.html.gz").read_bytes())
        started = time.perf_counter()
        try:
            page = extract(html, url=truth["url"])
        except Failure as failure:
            page = Page(
                url=None, title=None, site=None, kind="page", markdown="", text="", html="", source=failure.code
            )
        spent += time.perf_counter() - started
        found = {"title": page.title, "author": page.metadata.author, "published": page.metadata.published}
        for field in FIELDS:
            wanted = truth.get(field)
            if not wanted:
                invented[field] = invented.get(field, 0) + bool(found[field])
                continue
            place = field, truth["half"]
            total[place] = total.get(place, 0) + 1
            if agree(field, found[field], wanted, sites(page, truth["url"])):
                right[place] = right.get(place, 0) + 1
            else:
                note = f" [{page.source}]" if page.source.isupper() else ""
                misses[field].append(
                    f"  {truth['id']} {truth['kind']:<13} {wanted[:90]!r} <- {found[field]!r:.120}{note}"
                )
    for field in FIELDS:
        for half in ("even", "odd"):
            if pages := total.get((field, half)):
                hits = right.get((field, half), 0)
                print(f"{field:<10} {half:<5} {hits / pages:.3f}  ({hits} of {pages})")
        print(f"{'':<10} found on {invented.get(field, 0)} pages whose truth has none")
    print(f"{1e3 * spent / max(1, sum(v for (f, _), v in total.items() if f == 'title')):.1f} ms a page")
    for field in FIELDS if options.worst else ():
        print(f"\n{field}: {len(misses[field])} misses")
        print("\n".join(misses[field][: options.worst]))


if __name__ == "__main__":
    main()
