"""JSON that a page got wrong, repaired by a library and bounded, since that library is not."""

from __future__ import annotations

import re
from typing import Any

import json_repair

MAX_DEPTH = 60
"""Deepest nesting that is repaired: 100,000 opening braces cost the library 15 s."""

_BRACKETS = re.compile(r"[\[{\]}]")


def repaired(text: str) -> Any:
    """The value that malformed JSON most likely means (a quote not escaped, a comma too many, a cut end), or None.

    Its time grows with the square of some texts: the caller bounds their length.
    """
    if _depth(text) > MAX_DEPTH:
        return None
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None


def _depth(text: str) -> int:
    """Most brackets open at once, those in strings counted too."""
    depth = most = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match.group() in "[{" else -1
        most = max(most, depth)
        depth = max(depth, 0)
    return most
