"""What a block's own text is like."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from service.extraction import segment
from service.extraction.evidence.features import Evidence
from service.extraction.segment import Blocks, share

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LABEL_CHARS = 120
"""Length of the texts that are searched for dates, prices and contacts; longer ones hold them in passing."""

_TAGS = ("p", "li", "td", "div", "pre", "dd", "dt")
_CODES = {tag: code for code, tag in enumerate((*HEADINGS, *_TAGS), 1)}
_PATTERNS = (
    ("dated", re.compile(r"\d{4}\s*[-./年년]\s*\d{1,2}|\b\d{1,2}[./:]\d{2}|\b(?:19|20)\d{2}\b")),
    ("priced", re.compile(r"[$€£¥₩₹]\s?\d|\d\s?(?:€|円|元|원|kr|zł|USD|EUR)")),
    ("contact", re.compile(r"@|https?://|www\.|©|®|™")),
)
_WORTH_A_SEARCH = re.compile(r"[\d@©®™]|www|http")


def text(found: Evidence, blocks: Blocks) -> None:
    """Lengths, shares of character classes and of links, what it begins and ends with, dates, prices, its tag."""
    chars, counts, words = blocks.chars, blocks.counts, blocks.words
    found.add("chars", chars)
    found.add("words", words)
    found.add("word_chars", share(chars, words))
    found.add("link_share", share(blocks.link_chars, chars))
    found.add("links", blocks.links)
    found.add("p_share", share(blocks.p_chars, chars))
    found.add("bold_share", share(blocks.bold_chars, chars))
    found.add("stops", counts[:, segment.STOP])
    found.add("stop_share", share(counts[:, segment.STOP], words))
    found.add("pauses", counts[:, segment.PAUSE])
    found.add("pause_share", share(counts[:, segment.PAUSE], words))
    for name, kind in (("upper", segment.UPPER), ("digit", segment.DIGIT), ("symbol", segment.SYMBOL)):
        found.add(f"{name}_share", share(counts[:, kind], chars))
    found.add("mark_share", share(counts[:, segment.MARK], chars))
    texts = [text.strip() for text in blocks.texts]
    ends = "".join([text[-1] for text in texts])
    found.add("ends_with", segment.classes_of(ends))
    found.add("ends_with_colon", np.asarray([char in ":：" for char in ends], bool))
    found.add("begins_with", segment.classes_of("".join([text[0] for text in texts])))
    copies = Counter(texts)
    found.add("copies", np.asarray([copies[text] for text in texts]))
    labels = [i for i, text in enumerate(texts) if len(text) < LABEL_CHARS and _WORTH_A_SEARCH.search(text)]
    # A sign of money may stand without any of these beside it, never without a digit.
    for name, pattern in _PATTERNS:
        column = np.zeros(len(texts), bool)
        column[[i for i in labels if pattern.search(texts[i])]] = True
        found.add(name, column)
    codes = np.asarray([_CODES.get(blocks.tags[i], 0) for i in blocks.home.tolist()], np.int64)
    found.add("heading", np.where(codes <= len(HEADINGS), codes, 0))
    for tag in _TAGS:
        found.add(f"is_{tag}", codes == _CODES[tag])
