"""Which representation a caller prefers (RFC 9110, section 12.5.1)."""

from __future__ import annotations


def prefers_json(accept: str | None) -> bool:
    """Whether JSON is wanted more than Markdown, or named where Markdown is only allowed; else Markdown."""
    json = _rank(accept, "application", "json")
    return json > _rank(accept, "text", "markdown") and json >= _rank(accept, "text", "plain")


def _rank(accept: str | None, kind: str, subtype: str) -> tuple[float, int]:
    """The weight, 0 to 1, that an Accept value gives a media type, and how closely it names it, which breaks ties."""
    if not accept:
        return 1.0, 0
    best = (-1, 0.0)
    for entry in accept.split(","):
        media_range, *parameters = (part.strip().lower() for part in entry.split(";"))
        specificity = {f"{kind}/{subtype}": 2, f"{kind}/*": 1, "*/*": 0}.get(media_range, -1)
        weight = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                try:
                    weight = min(1.0, max(0.0, float(value)))
                except ValueError:
                    weight = 0.0
        if specificity > best[0]:
            best = (specificity, weight)
    return (best[1], best[0]) if best[1] > 0 else (0.0, 0)
