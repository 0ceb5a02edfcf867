"""Next.js' app router: `self.__next_f.push([1, "…"])`, the chunks of one stream of rows.

A row is `ID:JSON` to the end of its line, or `ID:T` with a length in bytes and a text; `"$ID"` in the JSON is that
text (React's Flight protocol, `processFullStringRow` and `resolveModel` of its client).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

_PUSH = re.compile(r"__next_f\s{0,9}(?:=[^;]{0,80}?)?(?:\)\s{0,9})?\.push\(\s{0,9}\[\s{0,9}1\s{0,9},\s{0,9}(?=\")")
_ROW = re.compile(rb"\s*+([0-9a-f]{1,12}):")
_LENGTH = re.compile(rb"([0-9a-f]{1,8}),")
_REFERENCE = re.compile(r"^\$([0-9a-f]{1,12})$")
MAX_ROWS = 20_000
"""Rows that are read; a page of 1 MB has some 500."""


def rows(scripts: Iterable[str]) -> list[Any]:
    """The values of the rows, texts that they refer to in their places."""
    stream = "".join(chunk for script in scripts for chunk in _chunks(script))
    data = stream.encode("utf-8", "surrogatepass")
    texts: dict[str, str] = {}
    values: list[Any] = []
    position = 0
    for _ in range(MAX_ROWS):
        match = _ROW.match(data, position)
        if match is None:
            end = data.find(b"\n", position)
            if end < 0:
                break
            position = end + 1
            continue
        position = match.end()
        if data[position : position + 1] == b"T" and (length := _LENGTH.match(data, position + 1)):
            end = length.end() + int(length.group(1), 16)
            texts[match.group(1).decode()] = data[length.end() : end].decode("utf-8", "replace")
            position = end
            continue
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        if data[position : position + 1] in (b"[", b"{"):
            try:
                values.append(json.loads(data[position:end].decode("utf-8", "replace"), strict=False))
            except (ValueError, RecursionError):
                values.append(None)
        position = end + 1
    _refer(values, texts)
    # A text that nothing refers to, as where its row was broken, is still one.
    return [value for value in values if isinstance(value, (dict, list))] + [list(texts.values())]


def _chunks(script: str) -> list[str]:
    found: list[str] = []
    position = 0
    while match := _PUSH.search(script, position):
        try:
            text, position = json.JSONDecoder(strict=False).raw_decode(script, match.end())
        except ValueError:
            break
        found.append(text)
    return found


def _refer(values: list[Any], texts: dict[str, str]) -> None:
    queue: list[Any] = [values]
    while queue:
        container = queue.pop()
        for key, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            if isinstance(item, str):
                if (match := _REFERENCE.match(item)) and match.group(1) in texts:
                    container[key] = texts[match.group(1)]
            elif isinstance(item, (dict, list)):
                queue.append(item)
