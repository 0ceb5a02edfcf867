"""The two fitted models, read once a process: those of the service, or of a folder that `bonmun tune` wrote."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from service.extraction.trees import Trees, load

HERE = Path(__file__).parent
"""The weights that come with the service; `weights.yaml` says from what they were fitted, and how well."""


@cache
def blocks(folder: Path | None) -> Trees:
    """How likely a block is body, by its evidence."""
    return load((folder or HERE) / "blocks.npz")


@cache
def kinds(folder: Path | None) -> Trees:
    """What kind a page is, by its traits."""
    return load((folder or HERE) / "kinds.npz")
