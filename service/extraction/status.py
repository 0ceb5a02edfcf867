"""The origin's HTTP status, read together with the body it came with (RFC 9110, section 15)."""

from __future__ import annotations

from service.failures import BlockedBySite, Failure, PageNotFound, UpstreamError
from service.settings import Extraction


def failure_of_status(status: int, lines: list[str], weights: Extraction) -> Failure | None:
    """The failure that `status` means, or None when the body stands.

    A refusal (401, 403, 451 and the other 4xx) that comes with more text than any wall has is a page
    whose origin answers oddly, and is read.
    """
    if status < 400:
        return None
    if status in (404, 410):
        return PageNotFound("The site has no such page.", reason=f"status {status}", upstream_status=status)
    if status == 429:
        return UpstreamError("The site asks for fewer requests.", reason="status 429", upstream_status=status)
    if status >= 500:
        return UpstreamError(f"The site answers with {status}.", reason=f"status {status}", upstream_status=status)
    if sum(map(len, lines)) > weights.bot_wall_chars:
        return None
    return BlockedBySite(
        f"The site refuses this page with {status}.", reason=f"status {status}", upstream_status=status
    )
