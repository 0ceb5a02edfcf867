"""What speaks for and against each block: named features of its text, place, containers, neighbours and names.

All of them are counts, shares or distances, so that no language and no spelling of numbers matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from service.extraction.evidence.containers import containers
from service.extraction.evidence.features import Evidence, Marks, Names, Said, Scene, said_by
from service.extraction.evidence.names import NAMED, SAID, UNDER, hints, marks_of, names_of
from service.extraction.evidence.neighbours import neighbours
from service.extraction.evidence.place import place
from service.extraction.evidence.repetition import repetition, signatures
from service.extraction.evidence.subject import Subject, subject_of_blocks
from service.extraction.evidence.tags import tags
from service.extraction.evidence.text import HEADINGS, text
from service.extraction.segment import IDEOGRAPH, STOP, Blocks

LONG = 100
"""Visible characters from which a block is a paragraph rather than a label."""


def gather(
    blocks: Blocks, winner: int, subject: Subject, comments: NDArray[np.bool_], names: Names, spoken: Said
) -> Evidence:
    """The features of every block.

    `winner` is the density winner's preorder number, `comments` where readers speak, `names` is `names_of` the blocks
    and `spoken` is `said_by` them.
    """
    found = Evidence(len(blocks))
    scene = Scene.of(blocks, winner)
    text(found, blocks)
    place(found, scene)
    containers(found, scene)
    repetition(found, scene)
    neighbours(found, scene)
    subject_of_blocks(found, blocks, subject, spoken)
    found.add("in_comments", comments)
    hints(found, scene, names)
    tags(found, scene)
    _page(found, scene)
    return found


def _page(found: Evidence, scene: Scene) -> None:
    blocks, chars = scene.blocks, scene.chars
    found.add("page_chars", scene.total)
    found.add("page_blocks", len(blocks))
    found.add("page_link_share", blocks.link_chars.sum() / scene.total)
    found.add("page_p_share", blocks.p_chars.sum() / scene.total)
    found.add("page_stops", blocks.counts[:, STOP].sum() / max(1, len(blocks)))
    found.add("page_long_blocks", (chars >= LONG).sum())
    found.add("page_long_share", chars[chars >= LONG].sum() / scene.total)
    found.add("page_ideographs", blocks.counts[:, IDEOGRAPH].sum() / scene.total)


__all__ = [
    "HEADINGS",
    "NAMED",
    "SAID",
    "UNDER",
    "Evidence",
    "Marks",
    "Names",
    "Said",
    "Subject",
    "gather",
    "marks_of",
    "names_of",
    "said_by",
    "signatures",
]
