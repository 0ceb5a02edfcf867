"""A reader of Dockerfiles and .dockerignore: as much of both as ours use, and an error for the rest."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = frozenset("ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN USER WORKDIR".split())

_VARIABLE = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<name>\w+)(?::(?P<how>[-+])(?P<word>[^}]*))?\})")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction, its continued lines joined. `flags` are its leading `--name=value`."""

    name: str
    text: str
    flags: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The exec form as it is written in JSON; else split as a shell would."""
        return json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)

    @property
    def pairs(self) -> dict[str, str]:
        """`key=value …`, as ARG, ENV and LABEL have them; a key alone is the empty string."""
        return {key: value for key, _, value in (word.partition("=") for word in self.words)}


@dataclass(frozen=True, slots=True)
class Stage:
    """What follows one FROM."""

    base: str
    name: str
    instructions: list[Instruction]

    def all(self, name: str) -> list[Instruction]:
        """The instructions of this name, in order."""
        return [instruction for instruction in self.instructions if instruction.name == name]


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Put values where `$NAME`, `${NAME}`, `${NAME:-word}` and `${NAME:+word}` stand; unknown ones are empty."""

    def value(found: re.Match[str]) -> str:
        known = variables.get(found["bare"] or found["name"], "")
        if found["how"] == "-":
            return known or found["word"]
        if found["how"] == "+":
            return found["word"] if known else ""
        return known

    return _VARIABLE.sub(value, text)


def parse(text: str) -> list[Stage]:
    """The stages of a Dockerfile. Raises `ValueError` for an instruction that is not known here."""
    stages: list[Stage] = []
    before: dict[str, str] = {}  # ARGs before the first FROM: FROM alone sees them
    for instruction in _instructions(text):
        if instruction.name == "FROM":
            base, *rest = expand(instruction.text, before).split()
            stages.append(Stage(base, rest[1] if rest else str(len(stages)), []))
        elif stages:
            stages[-1].instructions.append(instruction)
        elif instruction.name == "ARG":
            before |= instruction.pairs
        else:
            raise ValueError(f"{instruction.name} before FROM")
    return stages


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", "", "\n".join(lines))
    for line in joined.splitlines():
        name, _, rest = line.strip().partition(" ")
        if name not in KNOWN:
            raise ValueError(f"not an instruction known here: {name}")
        flags: dict[str, str] = {}
        while found := re.match(r"\s*--([a-z-]+)=(\S+)\s+", rest):
            flags[found[1]] = found[2]
            rest = rest[found.end() :]
        yield Instruction(name, rest.strip(), flags)


class Context:
    """The files that a build may copy: a folder without what its .dockerignore names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        lines = (folder / ".dockerignore").read_text(encoding="utf-8").splitlines()
        written = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        self._rules = [(line.startswith("!"), _pattern(line.removeprefix("!"))) for line in written]

    def holds(self, path: Path) -> bool:
        """Whether the last rule that matches this relative path, or a folder above it, lets it in."""
        kept = True
        names = [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]
        for lets_in, pattern in self._rules:
            if any(pattern.fullmatch(name) for name in names):
                kept = lets_in
        return kept

    def files(self, source: str) -> list[Path]:
        """The files, relative to the folder, that copying this file or folder brings."""
        start = self.folder / source
        found = sorted(start.rglob("*")) if start.is_dir() else [start]
        relative = [path.relative_to(self.folder) for path in found if path.is_file()]
        return [path for path in relative if self.holds(path)]


def _pattern(text: str) -> re.Pattern[str]:
    """A rule of .dockerignore: `*` within a name, `**` across names, `[…]` one of these characters."""
    translated = ""
    for piece in re.findall(r"\*\*/?|\*|\?|\[[^]]+\]|[^*?\[]+", text.strip("/")):
        known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        translated += known.get(piece) or (piece if piece.startswith("[") else re.escape(piece))
    return re.compile(translated)
