"""Data that a script assigns: JSON, object literals of JavaScript, and JSON in a string, each read once.

One iterative reader with a token at a time. It takes literals alone, calls nothing, and goes on where one was left, so
that a script costs time in proportion to its length whatever is in it. (Readers of such literals that exist
either evaluate, or take an identifier for a string: in Nuxt's data the identifiers stand for the values.)
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

_VALUE = re.compile(
    r"[=(,]\s*+(?:(?=[{\[])|(JSON\s{0,9}\.\s{0,9}parse\s{0,9}\(\s{0,9}(decodeURIComponent\s{0,9}\(\s{0,9})?)?(?=[\"'`])"
    r"|\(?function\s{0,9}\(([\w$,\s]{0,65536})\)\s{0,9}\{\s{0,9}return\s{1,9}(?=[{\[]))"
)
_TOKEN = re.compile(
    r"""\s*+
    (?:(?P<string>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|`(?:[^`\\$]++|\\.|\$(?!\{))*+`)
    |(?P<number>[-+]?+(?:0[xX][0-9a-fA-F]{1,16}|(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d{1,3})?))
    |(?P<new>new\s{1,9}[\w$.]{1,60}\(\s{0,9}(?P<inner>"[^"\\]{0,200}"|'[^'\\]{0,200}'|[\d.]{0,30})\s{0,9}\))
    |(?P<name>(?:void\s{1,9}0|![01]|[-+]?Infinity)|[A-Za-z_$][\w$]*+)
    |(?P<mark>[{}\[\],:]))""",
    re.X | re.S,
)
_JSON = re.compile(r"\{\s{0,99}[\"}]|\[\s{0,99}[\[{\"\d\]]|\"")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.S)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_NAMES: dict[str, Any] = {
    "null": None, "undefined": None, "NaN": None, "true": True, "false": False, "!0": True, "!1": False,
    "Infinity": None, "-Infinity": None,
}  # fmt: skip
_ANGULAR = {"&q;": '"', "&a;": "&", "&s;": "'", "&l;": "<", "&g;": ">"}

MAX_FAST = 20
"""Failures of the fast JSON reader in one script, from which the slow one goes on alone: each counts all lines."""

LEAST_CHARS = 80
"""Shorter strings hold no body, and are not tried as JSON."""


class Unreadable(ValueError):
    """What stands there is no literal; `position` is where it stops being one."""

    def __init__(self, position: int) -> None:
        super().__init__("no literal")
        self.position = position


class Name(str):
    """An identifier where a value was expected: a parameter of the function around it, or unknown."""

    __slots__ = ()


def document(text: str) -> Any:
    """The value of a JSON document, with HTML's or Angular's escapes undone; None where it is none."""
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip()
    if "&quot;" in text[:200] or "&#34;" in text[:200]:
        text = html.unescape(text)
    elif "&q;" in text[:200]:
        text = re.sub(r"&[qaslg];", lambda match: _ANGULAR[match.group()], text)
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def assigned(script: str) -> Iterator[Any]:
    """The values that a script assigns or passes on: objects, arrays, and what strings hold as JSON."""
    position = 0
    fast = [MAX_FAST]
    while match := _VALUE.search(script, position):
        start = match.end()
        try:
            value, position = literal(script, start, fast)
            if match.group(3) is not None:
                value, position = _called(value, match.group(3), script, position, fast)
        except Unreadable as end:
            position = max(start, end.position)
            continue
        if isinstance(value, str):
            value = _inside(unquote(value) if match.group(2) else value)
        if isinstance(value, (dict, list)) and value:
            yield value


def literal(text: str, position: int, fast: list[int]) -> tuple[Any, int]:
    """The literal at a position, and where it ends; `fast` counts failures of the fast way. Raises `Unreadable`."""
    if fast[0] and _JSON.match(text, position):
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, position)
            return value, end
        except (ValueError, RecursionError):
            fast[0] -= 1
    return _script_literal(text, position)


def _script_literal(text: str, position: int) -> tuple[Any, int]:
    open_values: list[Any] = []
    keys: list[Any] = []
    expects = "value"
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            raise Unreadable(position)
        start, position = position, match.end()
        mark = match["mark"]
        if expects == "key" and mark is None and match["new"] is None:
            keys[-1] = _string(match["string"]) if match["string"] else match["name"] or match["number"]
            colon = _TOKEN.match(text, position)
            if colon is None or colon["mark"] != ":":
                raise Unreadable(position)
            position, expects = colon.end(), "value"
            continue
        if mark in ("{", "[") and expects in ("value", "value or end"):
            open_values.append({} if mark == "{" else [])
            keys.append(None)
            expects = "key" if mark == "{" else "value or end"
            continue
        if mark == "," and expects in ("comma", "value or end"):
            expects = "key" if isinstance(open_values[-1], dict) else "value or end"
            continue
        if mark in ("}", "]") and open_values and expects != "value":
            if isinstance(open_values[-1], dict) != (mark == "}"):
                raise Unreadable(start)
            value = open_values.pop()
            keys.pop()
        elif mark is None and expects in ("value", "value or end"):
            value = _scalar(match)
        else:
            raise Unreadable(start)
        if not open_values:
            return value, position
        if isinstance(open_values[-1], dict):
            open_values[-1][keys[-1]] = value
        else:
            open_values[-1].append(value)
        expects = "comma"


def _scalar(match: re.Match[str]) -> Any:
    if match["string"]:
        return _string(match["string"])
    if match["new"]:
        return (match["inner"] or "").strip("\"'")
    if match["number"]:
        return match["number"]
    name = match["name"]
    return None if name.startswith("void") else _NAMES[name] if name in _NAMES else Name(name)


def _string(quoted: str) -> str:
    text = quoted[1:-1]
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_unescaped, text)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "ux" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    return _SIMPLE.get(code, code)


def _inside(text: str) -> Any:
    """What a string holds as JSON, if it does."""
    if len(text) < LEAST_CHARS or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _called(value: Any, parameters: str, script: str, position: int, fast: list[int]) -> tuple[Any, int]:
    """The value that a function returns, its parameters replaced by what it is called with (Nuxt 2)."""
    call = re.compile(r"\s{0,9};?\s{0,9}\}\s{0,9}\)?\s{0,9}\(").match(script, position)
    if call is None:
        return value, position
    arguments: list[Any] = []
    position = call.end()
    while True:
        try:
            argument, position = literal(script, position, fast)
        except Unreadable:
            break
        arguments.append(argument)
        comma = re.compile(r"\s{0,9},").match(script, position)
        if comma is None:
            break
        position = comma.end()
    names = [name.strip() for name in parameters.split(",")]
    known = dict(zip(names, arguments, strict=False))
    queue = [value]
    while queue:
        container = queue.pop()
        for key, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            if isinstance(item, Name):
                container[key] = known.get(item)
            elif isinstance(item, (dict, list)):
                queue.append(item)
    return value, position
