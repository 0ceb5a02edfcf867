"""Named failures: what went wrong, in a word a program can act on.

One class each, as in the README's table. The library raises them, the HTTP face and the command
line map them once (`status`, `exit_status`). `code` is the name, `retryable` says whether the same
request may succeed later, and `reason` names the evidence: the phrase, the address, the header.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Failure(Exception):
    """Base of every named failure.

    `message` is a sentence for a person, `reason` a short token or quotation naming the evidence,
    `retry_after` is in seconds, `upstream_status` the origin's HTTP status where one was seen.
    """

    code: ClassVar[str] = "FAILURE"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    exit_status: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        url: str | None = None,
        upstream_status: int | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.url = url
        self.upstream_status = upstream_status
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle by positional arguments only; failures cross worker processes.
        return _restore, (type(self), self.message, self._evidence())

    def _evidence(self) -> dict[str, Any]:
        return {
            "reason": self.reason,
            "url": self.url,
            "upstream_status": self.upstream_status,
            "retry_after": self.retry_after,
        }

    def as_dict(self) -> dict[str, Any]:
        """The failure as the `error` object of an HTTP answer."""
        return {"code": self.code, "message": self.message, "retryable": self.retryable, **self._evidence()}


def _restore(kind: type[Failure], message: str, evidence: dict[str, Any]) -> Failure:
    return kind(message, **evidence)


class InvalidRequest(Failure):
    """The request's body or one of its fields is wrong; `reason` is the field."""

    code, status, exit_status = "INVALID_REQUEST", 400, 2


class Unauthorized(Failure):
    """The service asks for a key, and the request has none that it knows."""

    code, status, exit_status = "UNAUTHORIZED", 401, 12


class AddressForbidden(Failure):
    """Scheme, port, host or resolved address is outside the egress policy, on any hop."""

    code, status, exit_status = "ADDRESS_FORBIDDEN", 403, 3


class BlockedBySite(Failure):
    """A bot wall, a login wall or a consent-only page stands where the body should be."""

    code, status, exit_status = "BLOCKED_BY_SITE", 403, 4


class PageNotFound(Failure):
    """404, 410, a deleted-post screen or a soft 404."""

    code, status, exit_status = "PAGE_NOT_FOUND", 404, 5


class UnsupportedContent(Failure):
    """The resource is not something a body can be read from (PDF, image, archive)."""

    code, status, exit_status = "UNSUPPORTED_CONTENT", 415, 6


class ExtractFailed(Failure):
    """No body was found."""

    code, status, exit_status = "EXTRACT_FAILED", 422, 7


class RateLimited(Failure):
    """This caller is over its limit."""

    code, status, retryable, exit_status = "RATE_LIMITED", 429, True, 8


class UpstreamError(Failure):
    """DNS, TLS, a refused or broken connection, a broken message, or a 5xx answer."""

    code, status, retryable, exit_status = "UPSTREAM_ERROR", 502, True, 9


class Overloaded(Failure):
    """A queue is full, or the render tier is down and was needed."""

    code, status, retryable, exit_status = "OVERLOADED", 503, True, 10


class UpstreamTimeout(Failure):
    """The time budget is spent, or there were too many redirects."""

    code, status, retryable, exit_status = "UPSTREAM_TIMEOUT", 504, True, 11


ALL: tuple[type[Failure], ...] = (
    InvalidRequest,
    Unauthorized,
    AddressForbidden,
    BlockedBySite,
    PageNotFound,
    UnsupportedContent,
    ExtractFailed,
    RateLimited,
    UpstreamError,
    Overloaded,
    UpstreamTimeout,
)
"""Every named failure, in the order of the README's table."""
