"""From bytes to a body: what a page may cost, the thresholds, the processes."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from pydantic import Field, field_validator

from service.settings.section import Section


class Limits(Section):
    """What one page may cost: bytes, seconds, elements."""

    total_seconds: float = Field(10, gt=0, le=300)
    max_body_bytes: int = Field(4_194_304, gt=0)
    max_wire_bytes: int = Field(8_388_608, gt=0)
    max_header_bytes: int = Field(65_536, gt=0)
    max_redirects: int = Field(3, ge=0, le=20)
    max_nodes: int = Field(250_000, gt=0)
    max_depth: int = Field(500, ge=20, le=500)
    extract_cpu_seconds: int = Field(5, gt=0)
    worker_memory_bytes: int = Field(1_073_741_824, ge=134_217_728)


class Extraction(Section):
    """Coefficients of the score and the thresholds of a body. Their measurements stand in `config.yaml`."""

    min_body_chars: int = Field(80, ge=0)
    p_floor: float = Field(0.3, ge=0, le=1)
    p_weight: float = Field(0.7, ge=0)
    link_discount: float = Field(1.2, ge=0)
    bot_wall_chars: int = Field(3000, ge=0)
    dead_page_chars: int = Field(1500, ge=0)
    weights: Path | None = None

    @field_validator("weights")
    @classmethod
    def _holds_weights(cls, folder: Path | None) -> Path | None:
        from service.extraction import trees  # which needs these settings

        for name, of_blocks in (("blocks.npz", True), ("kinds.npz", False)) if folder else ():
            file = Path(folder or ".") / name
            if not file.is_file():
                raise ValueError(f"there is no {name}: not a folder that `bonmun tune` wrote")
            try:
                outputs = trees.load(file).outputs
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
                raise ValueError(f"{name} is no model: {error}") from error
            if (outputs == ("body",)) != of_blocks:
                raise ValueError(f"{name} holds the other model")
        return folder


class Workers(Section):
    """Extraction processes."""

    processes: int = Field(0, ge=0)
    queue: int = Field(64, ge=0)


def cpus() -> int:
    """CPUs that this process may use: what a 0 in `workers.processes` and `render.pages` counts from."""
    return len(os.sched_getaffinity(0))
