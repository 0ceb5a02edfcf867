"""A page as a capture folder that the tests can run: its bytes, its headers, the answer of today."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import yaml

from service.extraction import extract
from service.failures import Failure, InvalidRequest
from service.fetch import Response, StaticTier
from service.settings import Settings

_NAME = re.compile(r"[^a-z0-9]+")


async def write_capture(url: str, into: Path, settings: Settings) -> Path:
    """Fetch `url` and write `page.html`, `response.txt` and `expect.yaml` into a new folder below `into`.

    The format is that of `captures/README.md`. Raises what the static tier raises, `InvalidRequest` when
    the folder exists or cannot be written.
    """
    tier = StaticTier(settings)
    try:
        response = await tier.visit(asyncio.get_running_loop().time() + settings.limits.total_seconds).get(url)
    finally:
        await tier.aclose()
    folder = into / (_NAME.sub("-", response.url.partition("://")[2].lower()).strip("-")[:80] or "page")
    try:
        folder.mkdir(parents=True, exist_ok=False)
        (folder / "page.html").write_bytes(response.body)
        head = "".join(f"{name}: {value}\n" for name, value in response.headers.items())
        (folder / "response.txt").write_text(f"{response.status}\n{head}", encoding="utf-8")
        text = yaml.safe_dump(_expectation(response, settings), sort_keys=False, allow_unicode=True, width=120)
        (folder / "expect.yaml").write_text(text, encoding="utf-8")
    except FileExistsError:
        raise InvalidRequest(
            f"{folder} exists already: remove it or choose another with --into.", reason="into"
        ) from None
    except OSError as error:
        raise InvalidRequest(f"{folder} cannot be written: {error.strerror}", reason="into") from None
    return folder


def _expectation(response: Response, settings: Settings) -> dict[str, Any]:
    found = {"url": response.url, "content_type": response.content_type, "status": response.status}
    described = {"shape": "Captured as it came. Say here what was measured, and correct what is expected.\n"}
    kept = {name: value for name, value in found.items() if value is not None}
    try:
        page = extract(response.body, settings=settings, **found)  # type: ignore[arg-type]
    except Failure as failure:
        return {**described, **kept, "expect": {"failure": failure.code}}
    answer = {"title": page.title, "kind": page.kind, "source": page.source, "site": page.site}
    return {**described, **kept, "expect": {**answer, "hero_image_url": page.hero_image_url, "body": page.text}}
