"""Who may use the service: keys, by their hashes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.settings.section import Section

KeyName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
KeyHash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Auth(Section):
    """API keys: `bonmun key` makes one, and the line to put here. Once there is one, callers need one.

    Without keys, an address that is not loopback is served only where `open` says that this is meant.
    """

    keys: dict[KeyName, KeyHash] = Field(default_factory=dict)
    open: bool = False
