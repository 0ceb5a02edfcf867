"""Discourse: a topic's posts in `data-preloaded`, JSON in JSON."""

from __future__ import annotations

import html
import json
from typing import Any

MAX_POSTS = 500
"""Posts of a topic; a page has 20."""


def topic(preloaded: Any) -> str | None:
    """The posts of the topic in what a page has preloaded, as HTML; None where there is none."""
    if not isinstance(preloaded, dict):
        return None
    for key, value in preloaded.items():
        if not key.startswith("topic_"):
            continue
        try:
            data = json.loads(value, strict=False) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            continue
        stream = data.get("post_stream") if isinstance(data, dict) else None
        posts = stream.get("posts") if isinstance(stream, dict) else None
        shown = [_post(post) for post in posts[:MAX_POSTS] if isinstance(post, dict)] if isinstance(posts, list) else []
        if any(shown):
            return "".join(shown)
    return None


def _post(post: dict[str, Any]) -> str:
    cooked = post.get("cooked")
    if not isinstance(cooked, str) or not cooked.strip() or post.get("hidden"):
        return ""
    who = post.get("name") or post.get("username")
    head = f"<p><strong>{html.escape(who)}</strong></p>" if isinstance(who, str) else ""
    return f"<article>{head}{cooked}</article>"
