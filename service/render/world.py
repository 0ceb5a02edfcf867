"""Asking a document questions that its own scripts cannot answer for it: in an isolated world, with its own built-ins.

A call is JSON in, JSON out, to one of the functions in `scripts/`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Error


class NoDocument(Exception):
    """There is nothing to ask just now (one document is gone and the next not there), or the question was wrong."""


class World:
    """The isolated world of a page's main frame, made anew for each of its documents."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._context: int | None = None

    async def call(self, script: str, *arguments: object) -> Any:
        """What the function in `scripts/` returns. May never return itself; raises `NoDocument`."""
        try:
            return await self._call(script, arguments)
        except Error as error:
            self._context = None  # it went with its document
            raise NoDocument(error.message) from None

    async def _call(self, script: str, arguments: tuple[object, ...]) -> Any:
        if self._context is None:
            tree = await self._session.send("Page.getFrameTree")
            frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "bonmun"}
            self._context = (await self._session.send("Page.createIsolatedWorld", frame))["executionContextId"]
        call = {
            "functionDeclaration": _source(script),
            "executionContextId": self._context,
            "arguments": [{"value": argument} for argument in arguments],
            "returnByValue": True,
        }
        answer = await self._session.send("Runtime.callFunctionOn", call)
        if "exceptionDetails" in answer:
            raise NoDocument(str(answer["exceptionDetails"].get("exception", {}).get("description", "")))
        return answer["result"].get("value")


@cache
def _source(script: str) -> str:
    folder = Path(__file__).with_name("scripts")
    common, own = ((folder / name).read_text(encoding="utf-8") for name in ("dom.js", script))
    return f"function(...given) {{\n{common}\nreturn (\n{own}\n)(...given);\n}}"
