"""The README's library example, run as a reader would run it, without leaving the machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_library_example_runs_as_it_stands(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert found is not None
    script = tmp_path / "mine.py"
    script.write_text(found.group(1).replace("https://example.org/article", "http://127.0.0.1/"), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run([sys.executable, str(script)], cwd=ROOT, env=env, capture_output=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr.decode()
    first, second = run.stdout.decode().splitlines()
    assert first == "밤골 어판장, 새벽 두 시의 사람들"
    assert second.startswith("ADDRESS_FORBIDDEN")
