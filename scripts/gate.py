"""The boards as a gate: fails when a board's F1 is more than `TOLERANCE` under its floor in `floors.yaml`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

TOLERANCE = 0.003
HERE = Path(__file__).resolve().parent
SCORE = HERE.parent.parent / "shared" / "boards" / "score"
_LINE = re.compile(r"^this project\s+(\w+)\s+F1 ([\d.]+)")


def main() -> int:
    """Run the boards, print their report, compare; 1 when one fell."""
    floors = yaml.safe_load((HERE / "floors.yaml").read_text(encoding="utf-8"))
    run = subprocess.run([sys.executable, str(SCORE)], cwd=HERE.parent, capture_output=True, text=True, check=False)
    print(run.stdout, run.stderr, sep="")
    found = {
        name: float(f1)
        for line in run.stdout.splitlines()
        if (match := _LINE.match(line))
        for name, f1 in [match.groups()]
    }
    fallen = [
        f"{board}: {found.get(board, 0):.4f}, floor {floor:.3f}"
        for board, floor in floors.items()
        if found.get(board, 0) < floor - TOLERANCE
    ]
    print("\n".join(["Fallen boards:", *fallen]) if fallen else "Every board holds its floor.")
    return 1 if fallen or run.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
