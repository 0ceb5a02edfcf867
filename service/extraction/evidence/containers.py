"""What the elements around a block hold: the nearest three, the first with another block, the first of some size."""

from __future__ import annotations

import numpy as np

from service.extraction.evidence.features import Evidence, Scene
from service.extraction.segment import Ints, share

NEAREST = 4
"""Block-level elements up from the one a block is the text of."""

LARGE_CHARS = 600
"""Characters from which a container is a part of the page rather than of a part."""


def containers(found: Evidence, scene: Scene) -> None:
    """Length, share of the page, links, paragraphs and full stops of each container."""
    blocks, home = scene.blocks, scene.blocks.home
    node = home
    for step in range(1, NEAREST + 1):
        node = np.where(node >= 0, blocks.up[node], -1)
        _container(found, f"up{step}", np.maximum(node, 0), scene)
    _container(found, "wide", _climbed(home, scene.held <= 1, blocks.up, 8), scene)
    large = _climbed(home, scene.e_chars < LARGE_CHARS, blocks.up, 12)
    _container(found, "large", large, scene)
    found.add("large_levels", scene.level[home] - scene.level[large])
    found.add("large_start", scene.index - blocks.first[large])
    found.add("large_end", blocks.last[large] - scene.index)


def _climbed(node: Ints, small: np.ndarray, up: Ints, most: int) -> Ints:
    """The nearest element up from each node that is not `small`, at most so many levels up."""
    for _ in range(most):
        step = small[node] & (up[node] >= 0)
        if not step.any():
            break
        node = np.where(step, up[node], node)
    return node


def _container(found: Evidence, name: str, node: Ints, scene: Scene) -> None:
    chars, held = scene.e_chars[node], scene.held[node]
    found.add(f"{name}_share", chars / scene.total)
    found.add(f"{name}_chars", chars)
    found.add(f"{name}_link_share", share(scene.e_links[node], chars))
    found.add(f"{name}_p_share", share(scene.e_p[node], chars))
    found.add(f"{name}_blocks", held)
    found.add(f"{name}_block_chars", share(chars, held))
    found.add(f"{name}_stops", share(scene.e_stops[node], held))
