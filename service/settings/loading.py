"""`config.yaml` and the environment into typed settings.

Order, later wins: the defaults below, the file, the environment (`BONMUN_SECTION__KEY`, its value
read as YAML, so that lists and numbers work). A wrong key or value raises `SettingsError` with a
message that names it and where it came from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from service.settings.root import Settings

PREFIX = "BONMUN_"


class SettingsError(ValueError):
    """A setting is unknown or has a wrong value; the message names it."""


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
