"""The OpenAPI 3.1 document, built from the models that validate and from the failures that are raised."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic.json_schema import models_json_schema

from service.api.schema import Answer, ErrorAnswer, ExtractRequest, ReadRequest
from service.failures import ALL, Failure

_REF = "#/components/schemas/{model}"


@cache
def document() -> dict[str, Any]:
    """The description of every route, request, answer and failure."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in (ReadRequest, ExtractRequest, Answer, ErrorAnswer)], ref_template=_REF
    )
    answer = {"description": "The main content.", "content": _json("Answer"), "headers": _HEADERS}
    query = [_parameter(name, schema) for name, schema in _QUERY.items()]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bonmun",
            "version": _version(),
            "summary": "A URL in, the main content of the page out, as Markdown.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/read": {
                "post": {
                    "operationId": "read",
                    "summary": "Read the page at an address.",
                    "requestBody": {"required": True, "content": _json("ReadRequest")},
                    "responses": {"200": answer, **_failures()},
                }
            },
            "/v1/extract": {
                "post": {
                    "operationId": "extract",
                    "summary": "Extract from a page sent along; nothing is fetched.",
                    "description": "JSON, or the page itself with its own Content-Type and the options in the query.",
                    "parameters": query,
                    "requestBody": {
                        "required": True,
                        "content": {
                            **_json("ExtractRequest"),
                            **{
                                kind: {"schema": {"type": "string"}}
                                for kind in ("text/html", "text/plain", "application/xml")
                            },
                        },
                    },
                    "responses": {"200": answer, **_failures()},
                }
            },
            "/read/{url}": {
                "get": {
                    "operationId": "readPath",
                    "summary": "Read the page at the address that follows, its query string included.",
                    "parameters": [{"name": "url", "in": "path", "required": True, "schema": {"type": "string"}}],
                    "responses": {
                        "200": {
                            "description": "Markdown, or JSON where Accept prefers it.",
                            "content": {"text/markdown": {"schema": {"type": "string"}}, **_json("Answer")},
                            "headers": _HEADERS,
                        },
                        **_failures(),
                    },
                }
            },
            "/healthz": {"get": _plain("healthz", "The process is alive.", "text/plain")},
            "/readyz": {
                "get": {
                    "operationId": "readyz",
                    "summary": "The state of each component.",
                    "responses": {
                        status: {"description": text, "content": {"application/json": {"schema": _STATE}}}
                        for status, text in (
                            ("200", "Ready; the render tier may be down, pages that need no browser are read."),
                            ("503", "What every page needs cannot serve, or the browser was found to leak."),
                        )
                    },
                }
            },
            "/metrics": {"get": _plain("metrics", "Gauges and counters for Prometheus.", "text/plain")},
            "/openapi.json": {"get": _plain("openapi", "This document.", "application/json")},
            "/docs": {"get": _plain("docs", "This interface, for people.", "text/html")},
        },
        "components": {"schemas": definitions["$defs"], "securitySchemes": _SCHEMES},
        "security": [{}, *({name: []} for name in _SCHEMES)],
    }


_SCHEMES = {  # asked for where the operator has set keys
    "bearer": {"type": "http", "scheme": "bearer"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_HEADERS = {
    name: {"description": text, "schema": {"type": "string"}}
    for name, text in (("X-Request-ID", "The request's id."), ("Server-Timing", "Milliseconds by stage."))
}
_STATE = {
    "type": "object",
    "required": ["components"],
    "properties": {
        "components": {"type": "object", "additionalProperties": {"type": "string"}},
        "render": {"type": "object", "description": "The browser: its version, memory and what confines it."},
    },
}
_QUERY: dict[str, dict[str, Any]] = {
    "url": {"type": "string"},
    "selector": {"type": "string"},
    "tables": {"type": "string", "enum": ["markdown", "html"]},
    "include": {"type": "string", "description": "Sections, by commas."},
    "offset": {"type": "integer", "minimum": 0},
    "limit": {"type": "integer", "minimum": 1},
}


def _json(model: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(model=model)}}}


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _failures() -> dict[str, Any]:
    """Every failure by status, with the codes that have it."""
    by_status: dict[int, list[type[Failure]]] = {}
    for failure in ALL:
        by_status.setdefault(failure.status, []).append(failure)
    answers = {
        str(status): {
            "description": " ".join(
                f"{failure.code}: {(failure.__doc__ or '').splitlines()[0]}" for failure in failures
            ),
            "content": _json("ErrorAnswer"),
        }
        for status, failures in sorted(by_status.items())
    }
    return {**answers, "500": {"description": "INTERNAL_ERROR: a bug of the service.", "content": _json("ErrorAnswer")}}


def _plain(name: str, summary: str, media_type: str) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": {media_type: {"schema": {}}}}},
    }


def _version() -> str:
    try:
        return version("bonmun")
    except PackageNotFoundError:
        return "0"
