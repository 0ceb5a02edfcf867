"""Looking at processes from outside, by /proc."""

from __future__ import annotations

from pathlib import Path


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def everyone() -> list[int]:
    """Every process there is, zombies left out."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if (stat := _stat(pid)) and stat[0] != "Z"]


def group(leader: int) -> list[int]:
    """The processes of a process group."""
    return [pid for pid in everyone() if (stat := _stat(pid)) and int(stat[2]) == leader]


def children(pid: int) -> list[int]:
    """A process's descendants."""
    parents = {one: int(stat[1]) for one in everyone() if (stat := _stat(one))}
    found = [pid]
    for ancestor in found:
        found += [one for one, parent in parents.items() if parent == ancestor]
    return found[1:]


def command(pid: int) -> str:
    """A process's command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def private_bytes(pid: int) -> int:
    """Anonymous memory of a process (proc(5), `RssAnon`)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = [line for line in status.splitlines() if line.startswith("RssAnon:")]
    return int(found[0].split()[1]) * 1024 if found else 0
