"""The second tier: one Chromium, and what a page may cost in it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from service.settings.section import Section


class Render(Section):
    """The second tier."""

    default: bool | Literal["always"] = False
    start: Literal["first_use", "boot", "never"] = "first_use"
    executable: str | None = None
    sandbox: Literal["auto", "required"] = "auto"
    network_namespace: Literal["auto", "required", "never"] = "auto"
    user_agent: str | None = Field(None, min_length=1, pattern=r"^[\x20-\x7e]+$")
    pages: int = Field(0, ge=0)
    queue: int = Field(16, ge=0)
    quiet_seconds: float = Field(0.3, gt=0)
    settle_seconds: float = Field(3, gt=0)
    max_requests: int = Field(500, gt=0)
    max_bytes: int = Field(16_777_216, gt=0)
    max_hosts: int = Field(64, gt=0)
    max_connections: int = Field(128, gt=0)
    process_memory_bytes: int = Field(1_073_741_824, ge=268_435_456)
    browser_memory_bytes: int = Field(1_610_612_736, gt=0)
    browser_pages: int = Field(500, gt=0)
    browser_seconds: float = Field(3600, gt=0)
