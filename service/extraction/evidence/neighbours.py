"""What stands around a block: the three before and behind it, wider windows, the heading above."""

from __future__ import annotations

import numpy as np

from service.extraction.evidence.features import FAR, Evidence, Scene
from service.extraction.evidence.repetition import shifted
from service.extraction.evidence.text import HEADINGS
from service.extraction.segment import STOP, Floats, share

WINDOWS = (5, 15)
"""Blocks on either side that a window takes in."""


def neighbours(found: Evidence, scene: Scene) -> None:
    """Lengths, links, full stops and paragraphs around each block, and its distance from headings."""
    blocks, chars = scene.blocks, scene.chars
    stops = blocks.counts[:, STOP]
    measured = (
        ("chars", chars),
        ("link_share", share(blocks.link_chars, chars)),
        ("stops", stops),
        ("p_chars", blocks.p_chars),
    )
    for step in (1, 2, 3):
        for name, values in measured:
            found.add(f"before{step}_{name}", shifted(values, step))
            found.add(f"after{step}_{name}", shifted(values, -step))
    for radius in WINDOWS:
        around = _window(chars, radius)
        found.add(f"near{radius}_chars", around)
        found.add(f"near{radius}_link_share", share(_window(blocks.link_chars, radius), around))
        found.add(f"near{radius}_stops", _window(stops, radius))
        found.add(f"near{radius}_p_share", share(_window(blocks.p_chars, radius), around))
    _headings(found, scene)


def _window(values: np.ndarray, radius: int) -> Floats:
    running = np.concatenate(([0.0], np.cumsum(values.astype(np.float64))))
    index = np.arange(len(values))
    total: Floats = running[np.minimum(index + radius + 1, len(values))] - running[np.maximum(index - radius, 0)]
    return total


def _headings(found: Evidence, scene: Scene) -> None:
    blocks, index = scene.blocks, scene.index
    tags = [blocks.tags[i] for i in blocks.home.tolist()]
    level = np.asarray([int(tag[1]) if tag in HEADINGS else 0 for tag in tags], np.int64)
    marks = np.where(level > 0, index, -1)
    latest = np.maximum.accumulate(np.concatenate(([-1], marks)))[:-1]
    known = latest >= 0
    latest = np.maximum(latest, 0)
    found.add("since_heading", np.where(known, index - latest, FAR))
    found.add("since_heading_level", np.where(known, level[latest], 0))
    found.add("since_heading_link", np.where(known, blocks.links[latest] > 0, 0))
    h1 = np.flatnonzero(level == 1)
    start = int(h1[0]) if len(h1) else -1
    found.add("since_h1", index - start if start >= 0 else -FAR)
    found.add("since_h1_chars", scene.before - scene.before[start] if start >= 0 else -FAR)
    found.add("headings", (level > 0).sum())
