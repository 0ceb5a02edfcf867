"""`config.yaml` and the environment into typed settings.

Order, later wins: the defaults below, the file, the environment (`BONMUN_SECTION__KEY`, its value
read as YAML, so that lists and numbers work). A wrong key or value raises `SettingsError` with a
message that names it and where it came from.
"""

from __future__ import annotations

import ipaddress
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

PREFIX = "BONMUN_"
_HOST_PATTERN = re.compile(r"[A-Za-z0-9_.*?-]+")  # names as they are looked up: ASCII, punycode


class SettingsError(ValueError):
    """A setting is unknown or has a wrong value; the message names it."""


class Section(BaseModel):
    """A group of settings: unknown keys are errors, values never change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(Section):
    """The HTTP face."""

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    max_request_bytes: int = Field(16_777_216, gt=0)
    max_concurrent: int = Field(64, gt=0)
    shutdown_seconds: float = Field(15, ge=0)
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class Limits(Section):
    """What one page may cost: bytes, seconds, elements."""

    total_seconds: float = Field(10, gt=0, le=300)
    max_body_bytes: int = Field(4_194_304, gt=0)
    max_wire_bytes: int = Field(8_388_608, gt=0)
    max_header_bytes: int = Field(65_536, gt=0)
    max_redirects: int = Field(3, ge=0, le=20)
    max_nodes: int = Field(250_000, gt=0)
    max_depth: int = Field(500, ge=20, le=500)
    extract_cpu_seconds: int = Field(5, gt=0)
    worker_memory_bytes: int = Field(1_073_741_824, ge=134_217_728)


class Fetch(Section):
    """The static tier: what it sends, how long it waits."""

    user_agent: str = Field("Bonmun/0.1 (+https://github.com/bonmun/bonmun)", min_length=1, pattern=r"^[\x20-\x7e]+$")
    accept: str = Field(
        "text/markdown;q=0.9, text/html, application/xhtml+xml, application/xml;q=0.9, "
        "application/feed+json;q=0.9, */*;q=0.5",
        pattern=r"^[\x20-\x7e]+$",
    )
    accept_language: str = Field("ko,en;q=0.8,*;q=0.5", pattern=r"^[\x20-\x7e]+$")
    connect_seconds: float = Field(5, gt=0)
    read_seconds: float = Field(5, gt=0)
    dns_seconds: float = Field(3, gt=0)
    dns_threads: int = Field(32, gt=0, le=512)
    max_connections: int = Field(100, gt=0)
    keepalive_seconds: float = Field(30, ge=0)


def _rule(entry: str) -> str:
    """A CIDR or a host pattern as it stands; a denied network with a slip in it must not match nothing."""
    try:
        ipaddress.ip_network(entry, strict=False)
    except ValueError:
        if not _HOST_PATTERN.fullmatch(entry):
            raise ValueError("neither a network such as 10.0.0.0/8 nor a host pattern such as *.example") from None
    return entry


Rule = Annotated[str, AfterValidator(_rule)]


def _proxy(url: str) -> str:
    """The address of an HTTP proxy, as it stands."""
    parsed = urlsplit(url)
    if parsed.scheme != "http" or not parsed.hostname or parsed.path.strip("/") or parsed.query:
        raise ValueError("no address of an HTTP proxy such as http://proxy.example:3128")
    try:
        _ = parsed.port
    except ValueError:
        raise ValueError("no address of an HTTP proxy: its port is no number up to 65535") from None
    return url


Proxy = Annotated[str, AfterValidator(_proxy)]


class Egress(Section):
    """What may be reached. `allow` and `deny` hold CIDRs or host patterns such as `*.example`."""

    ports: tuple[int, ...] = (80, 443)
    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    proxy: Proxy | None = None


class Extraction(Section):
    """Coefficients of the score and the thresholds of a body. Their measurements stand in `config.yaml`."""

    min_body_chars: int = Field(80, ge=0)
    p_floor: float = Field(0.3, ge=0, le=1)
    p_weight: float = Field(0.7, ge=0)
    link_discount: float = Field(1.2, ge=0)
    bot_wall_chars: int = Field(3000, ge=0)
    dead_page_chars: int = Field(1500, ge=0)
    weights: Path | None = None

    @field_validator("weights")
    @classmethod
    def _holds_weights(cls, folder: Path | None) -> Path | None:
        from service.extraction import trees  # which needs these settings

        for name, of_blocks in (("blocks.npz", True), ("kinds.npz", False)) if folder else ():
            file = Path(folder or ".") / name
            if not file.is_file():
                raise ValueError(f"there is no {name}: not a folder that `bonmun tune` wrote")
            try:
                outputs = trees.load(file).outputs
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
                raise ValueError(f"{name} is no model: {error}") from error
            if (outputs == ("body",)) != of_blocks:
                raise ValueError(f"{name} holds the other model")
        return folder


class Workers(Section):
    """Extraction processes."""

    processes: int = Field(0, ge=0)
    queue: int = Field(64, ge=0)


class Render(Section):
    """The second tier."""

    default: bool | Literal["always"] = False
    start: Literal["first_use", "boot", "never"] = "first_use"
    executable: str | None = None
    sandbox: Literal["auto", "required"] = "auto"
    network_namespace: Literal["auto", "required", "never"] = "auto"
    user_agent: str | None = Field(None, min_length=1, pattern=r"^[\x20-\x7e]+$")
    pages: int = Field(0, ge=0)
    queue: int = Field(16, ge=0)
    quiet_seconds: float = Field(0.3, gt=0)
    settle_seconds: float = Field(3, gt=0)
    max_requests: int = Field(500, gt=0)
    max_bytes: int = Field(16_777_216, gt=0)
    max_hosts: int = Field(64, gt=0)
    max_connections: int = Field(128, gt=0)
    process_memory_bytes: int = Field(1_073_741_824, ge=268_435_456)
    browser_memory_bytes: int = Field(1_610_612_736, gt=0)
    browser_pages: int = Field(500, gt=0)
    browser_seconds: float = Field(3600, gt=0)


class Settings(Section):
    """Every setting, by section."""

    server: Server = Server()
    limits: Limits = Limits()
    fetch: Fetch = Fetch()
    egress: Egress = Egress()
    extraction: Extraction = Extraction()
    workers: Workers = Workers()
    render: Render = Render()


def cpus() -> int:
    """CPUs that this process may use: what a 0 in `workers.processes` and `render.pages` counts from."""
    return len(os.sched_getaffinity(0))


def load(path: Path | str | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read settings from `path` (default: `$BONMUN_CONFIG`, else `config.yaml` here if there is one), then `environ`.

    Raises `SettingsError` for a file that cannot be read, an unknown key or a wrong value.
    """
    named = path or environ.get("BONMUN_CONFIG")
    file = Path(named or "config.yaml")
    data = _read(file) if named or file.is_file() else {}
    origin: dict[str, str] = {}
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable == "BONMUN_CONFIG":
            continue
        section, separator, key = variable[len(PREFIX) :].lower().partition("__")
        if not separator or section not in Settings.model_fields:
            raise SettingsError(f"{variable}: no such setting; the form is {PREFIX}SECTION__KEY")
        if not isinstance(data.setdefault(section, {}), dict):
            raise SettingsError(f"{file}: {section}: must be a mapping of settings")
        data[section][key] = _value(variable, text)
        origin[f"{section}.{key}"] = variable
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        # A value that may be of two types has a problem with each: the first names the setting.
        first = {problem["loc"][:2]: problem for problem in reversed(error.errors())}
        raise SettingsError("\n".join(_explain(first[loc], file, origin) for loc in sorted(first))) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: not valid YAML: {error}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError(f"{file}: must be a mapping of sections")
    return {key: {} if value is None else value for key, value in data.items()}


def _value(variable: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise SettingsError(f"{variable}: not a valid YAML value: {text!r}") from None


def _explain(problem: Any, file: Path, origin: Mapping[str, str]) -> str:
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path[:2])
    where = origin.get(key, str(file))
    if problem["type"] == "extra_forbidden":
        return f"{where}: {key}: no such setting"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "tuple_type":
        message = "must be a list, such as [80, 443] or ['10.0.0.0/8']"
    elif key == "render.default":
        message = "must be false, true or always"
    return f"{where}: {key}: {message}, not {problem['input']!r}"
