"""What an origin's HTTP status means for its reader (RFC 9110, section 15)."""

from __future__ import annotations

from service.failures import BlockedBySite, Failure, PageNotFound, UpstreamError


def failure_of_status(status: int) -> Failure | None:
    """The failure that `status` means, or None below 400."""
    if status < 400:
        return None
    if status in (404, 410):
        return PageNotFound("The site has no such page.", reason=f"status {status}", upstream_status=status)
    if status == 429:
        return UpstreamError("The site asks for fewer requests.", reason="status 429", upstream_status=status)
    if status >= 500:
        return UpstreamError(f"The site answers with {status}.", reason=f"status {status}", upstream_status=status)
    return BlockedBySite(
        f"The site refuses this page with {status}.", reason=f"status {status}", upstream_status=status
    )
