"""`python -m tests.fuzz [TARGET…] [--thousands N]`: N thousand times each target's share, 2 million executions for 1.

Inputs are guided by coverage where atheris is installed (`--guided`), else mutated blindly, which is quicker by far. An
input that is not answered as it should is written to the current folder, and the run goes on: 1 at the end.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
import traceback
from itertools import islice
from pathlib import Path

from tests.fuzz.mutation import MOST_BYTES, mutants
from tests.fuzz.targets import TARGETS, Target


def blind(name: str, target: Target, runs: int, seed: int) -> int:
    """Run mutated inputs; how many were wrong."""
    wrong = 0
    started = time.monotonic()
    for data in islice(mutants(target.seeds, seed), runs):
        try:
            target.run(data)
        except Exception:
            wrong += 1
            file = Path(f"wrong-{name}-{hashlib.sha256(data).hexdigest()[:12]}")
            file.write_bytes(data)
            print(f"{file}:\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
    seconds = time.monotonic() - started
    print(f"{name:16} {runs:>9,} executions, {wrong} wrong, {seconds:.0f} s", flush=True)
    return wrong


def guided(target: Target, runs: int, seed: int) -> None:
    """Let atheris choose the inputs; it ends the process, with a crash file where something was wrong."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

    atheris.instrument_all()
    corpus = Path("fuzz-corpus")
    corpus.mkdir(exist_ok=True)
    for number, data in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(data[:MOST_BYTES])
    options = [f"-runs={runs}", f"-max_len={MOST_BYTES}", f"-seed={seed}", str(corpus)]
    atheris.Setup([sys.argv[0], *options], target.run)
    atheris.Fuzz()


def main() -> int:
    """Run the targets."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; none: all of them")
    parser.add_argument("--thousands", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--guided", action="store_true", help="by coverage, one target, with atheris")
    given = parser.parse_args()
    if unknown := set(given.targets) - TARGETS.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    names = given.targets or list(TARGETS)
    runs = {name: int(1_000 * given.thousands * TARGETS[name].share) for name in names}
    if given.guided:
        if len(names) != 1:
            parser.error("--guided takes one target")
        guided(TARGETS[names[0]], runs[names[0]], given.seed)
        return 0
    wrong = sum(blind(name, TARGETS[name], runs[name], given.seed) for name in names)
    print(f"{sum(runs.values()):,} executions, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
