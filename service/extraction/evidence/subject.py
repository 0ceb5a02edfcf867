"""What a page says it is about, and how much of that a block says, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from service.extraction.evidence.features import FAR, Evidence, Said, said
from service.extraction.facts import Facts
from service.extraction.segment import Blocks

TITLED = 0.4
"""Share of words in common with the title from which a block may be the title."""


@dataclass(slots=True)
class Subject:
    """The title and the description that a page declares."""

    title: str = ""
    description: str = ""

    @classmethod
    def of(cls, facts: Facts) -> Subject:
        """What a page's `<title>` and `<meta>` say."""
        return cls(facts.title, facts.meta.get("og:description") or facts.meta.get("description") or "")


def subject_of_blocks(found: Evidence, blocks: Blocks, subject: Subject, spoken: Said) -> None:
    """Words that a block has in common with the title and the description, and its distance from the title."""
    title = set(said(subject.title))
    description = set(said(subject.description))
    titled, described = np.zeros(len(blocks)), np.zeros(len(blocks))
    for i, words in enumerate(spoken if title or description else ()):
        if common := len(title.intersection(words)):
            titled[i] = common / (len(set(words)) + len(title) - common)
        if common := len(description.intersection(words)):
            described[i] = common / min(len(set(words)), len(description))
    found.add("titled", titled)
    found.add("described", described)
    best = int(titled.argmax()) if len(titled) and titled.max() > TITLED else -1
    found.add("since_title", np.arange(len(blocks)) - best if best >= 0 else -FAR)
