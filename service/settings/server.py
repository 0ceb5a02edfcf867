"""The HTTP face: where it listens, what it takes in."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from service.settings.section import Section


class Server(Section):
    """The HTTP face."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    max_request_bytes: int = Field(16_777_216, gt=0)
    max_concurrent: int = Field(64, gt=0)
    arrival_seconds: float = Field(30, gt=0)
    unread_seconds: float = Field(30, gt=0)
    shutdown_seconds: float = Field(15, ge=0)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
