"""What callers send and get: the shapes of requests and answers, validated by pydantic and the source of OpenAPI."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypeVar

import ada_url
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from service.failures import InvalidRequest
from service.fetch.url import DEFAULT_PORTS, MAX_CHARS
from service.page import Candidate, Image, Kind, Link, Media, Metadata, Page, Tables
from service.paging import Heading

Model = TypeVar("Model", bound=BaseModel)
Section = Literal["html", "text", "links", "images", "media", "metadata", "outline", "explain"]


def _tables(value: Any) -> Any:
    return value.strip().lower() or "markdown" if isinstance(value, str) else value


def _web_address(value: str) -> str:
    if value.partition(":")[0].lower() not in DEFAULT_PORTS or not ada_url.check_url(value):
        raise ValueError("no http or https address")
    return value


class Options(BaseModel):
    """What both kinds of request may ask for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    # Bounded: without it, pydantic lists an error for each of millions of entries, in seconds and gigabytes.
    include: list[Section] = Field([], max_length=32, description="Extra sections of the answer.")
    selector: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="CSS selector: take this element as the body."
    )
    tables: Annotated[Tables, BeforeValidator(_tables)] = Field(
        "markdown", description="Tables as Markdown or as HTML."
    )
    offset: int = Field(0, ge=0, description="Where to begin in the Markdown, in characters.")
    limit: int | None = Field(
        None, gt=0, description="Most characters of Markdown to give; the cut is between blocks where it can be."
    )


class ReadRequest(Options):
    """`POST /v1/read`."""

    url: str = Field(description="The http or https address to read.", min_length=1, max_length=MAX_CHARS)
    render: bool | Literal["always"] | None = Field(
        None,
        description="false: static tier only; true: a browser where the static body is missing; always: no gate.",
    )
    wait_for: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="CSS selector to wait for; render tier only."
    )
    timeout: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds for everything, clamped to the service's limit."
    )
    max_age: int | None = Field(None, ge=0, description="Accept a cached answer this many seconds old; 0 refetches.")


class ExtractRequest(Options):
    """`POST /v1/extract` as JSON."""

    html: str = Field(description="The page's source.")
    url: Annotated[str, Field(max_length=MAX_CHARS), AfterValidator(_web_address)] | None = Field(
        None, description="Its http or https address, to resolve links against."
    )


class Answer(BaseModel):
    """A page's main content. The first seven fields are always there, null where unknown."""

    url: str | None
    title: str | None
    site: str | None
    kind: Kind
    markdown: str
    hero_image_url: str | None
    truncated: bool
    tier: Literal["static", "rendered"]
    source: str = Field(description="`body`, `payload:NAME` or `description`.")
    total_chars: int = Field(description="Characters of the whole Markdown.")
    next_offset: int | None = Field(description="Where the next piece begins; null at the end.")
    elapsed_ms: float
    timeout: float | None = Field(description="The time budget in force, seconds; null where nothing was fetched.")
    html: str | None = None
    text: str | None = None
    links: list[Link] | None = None
    images: list[Image] | None = None
    media: list[Media] | None = None
    metadata: Metadata | None = None
    outline: list[Heading] | None = None
    explain: list[Candidate] | None = None


class Error(BaseModel):
    """Why there is no answer; `reason` names the evidence, `retry_after` is in seconds."""

    code: str
    message: str
    retryable: bool
    retry_after: int | None
    upstream_status: int | None
    reason: str | None
    url: str | None


class ErrorAnswer(BaseModel):
    """The envelope of every failure."""

    error: Error


def answer_of(page: Page, options: Options, elapsed_ms: float, timeout: float | None) -> dict[str, Any]:
    """A page as the JSON object of an answer, cut to the piece that was asked for."""
    part = page.piece(options.offset, options.limit)
    answer: dict[str, Any] = {
        "url": page.url,
        "title": page.title,
        "site": page.site,
        "kind": page.kind,
        "markdown": part.markdown,
        "hero_image_url": page.hero_image_url,
        "truncated": page.truncated,
        "tier": page.tier,
        "source": page.source,
        "total_chars": len(page.markdown),
        "next_offset": part.next_offset,
        "elapsed_ms": round(elapsed_ms, 1),
        "timeout": timeout,
    }
    for section in dict.fromkeys(options.include):
        value = getattr(page, section)
        if section == "metadata":
            value = asdict(value)
        elif section in ("links", "images", "media", "outline", "explain"):
            value = [asdict(item) for item in value]
        answer[section] = value
    return answer


def parse_json(model: type[Model], body: bytes) -> Model:
    """A request's JSON body as `model`; raises `InvalidRequest` naming the place or the field."""
    try:
        data = json.loads(body.decode("utf-8"), parse_constant=_no_such_number)
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not UTF-8 (byte {error.start}).", reason="body") from None
    except json.JSONDecodeError as error:
        raise InvalidRequest(
            f"The body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}.", reason="body"
        ) from None
    except (ValueError, RecursionError):
        raise InvalidRequest(
            "The body is not valid JSON: it is nested too deeply, or a number is too long, NaN or infinite.",
            reason="body",
        ) from None
    if not isinstance(data, dict):
        raise InvalidRequest("The body must be a JSON object.", reason="body")
    return validate(model, data)


def _no_such_number(name: str) -> None:
    raise ValueError(name)


def validate(model: type[Model], data: dict[str, Any]) -> Model:
    """Fields as `model`; raises `InvalidRequest` naming the first wrong one."""
    unknown = next((name for name in data if name not in model.model_fields), None)
    if unknown is not None:
        name = unknown if len(unknown) <= 40 else f"{unknown[:40]}…"
        known = ", ".join(model.model_fields)
        raise InvalidRequest(f"`{name}` is no field of this request (fields: {known}).", reason=name)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        raise InvalidRequest(_sentence(problem), reason=str(problem["loc"][0])) from None


def _sentence(problem: Any) -> str:
    name = str(problem["loc"][0])
    if problem["type"] == "missing":
        return f"`{name}` is required."
    if name == "render":
        return '`render` must be true, false or "always".'
    if name == "include":
        return f"`include` must be a list of: {', '.join(Section.__args__)}."  # type: ignore[attr-defined]
    if name == "url" and problem["type"] == "value_error":
        return "`url` must be an http or https address."
    if name == "tables":
        return '`tables` must be "markdown" or "html".'
    message = str(problem["msg"])
    return f"`{name}` is wrong: {message[:1].lower()}{message[1:]}."
