"""Calling strangers' servers: what may be reached, and the static tier that reaches it."""

from service.fetch.guard import Guard
from service.fetch.static import Response, StaticTier, Visit, retry_after
from service.fetch.url import Target, normalize

__all__ = ["Guard", "Response", "StaticTier", "Target", "Visit", "normalize", "retry_after"]
