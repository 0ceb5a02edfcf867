"""Settings: the file and the code say the same, and wrong ones stop the start by name."""

from pathlib import Path

import pytest
import yaml

from service.settings import Settings, SettingsError, load

CONFIG = Path(__file__).parent.parent / "config.yaml"


def test_the_file_and_the_code_have_the_same_defaults() -> None:
    assert Settings.model_validate(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))) == Settings()


def test_the_file_names_every_knob() -> None:
    written = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert {name: set(section) for name, section in written.items()} == {
        name: set(section) for name, section in Settings().model_dump().items()
    }


def test_environment_wins_over_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("limits: {total_seconds: 7, max_redirects: 1}\n")
    settings = load(file, {"BONMUN_LIMITS__TOTAL_SECONDS": "5", "BONMUN_EGRESS__PORTS": "[80, 8080]", "HOME": "/x"})
    assert (settings.limits.total_seconds, settings.limits.max_redirects) == (5, 1)
    assert settings.egress.ports == (80, 8080)
    assert load(None, {"BONMUN_CONFIG": str(file)}).limits.total_seconds == 7


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"BONMUN_LIMITS__TOTAL": "5"}, ["BONMUN_LIMITS__TOTAL", "no such setting"]),
        ({"BONMUN_LIMIT__TOTAL_SECONDS": "5"}, ["BONMUN_LIMIT__TOTAL_SECONDS", "no such setting"]),
        ({"BONMUN_LIMITS__TOTAL_SECONDS": "soon"}, ["BONMUN_LIMITS__TOTAL_SECONDS", "limits.total_seconds", "'soon'"]),
        ({"BONMUN_LIMITS__TOTAL_SECONDS": "-1"}, ["limits.total_seconds", "greater than 0"]),
        ({"BONMUN_EGRESS__PORTS": "[a"}, ["BONMUN_EGRESS__PORTS", "YAML"]),
        ({"BONMUN_EGRESS__ALLOW": "10.0.0.0/8"}, ["BONMUN_EGRESS__ALLOW", "must be a list"]),
        ({"BONMUN_EGRESS__ALLOW": "[10.0.0.0/99]"}, ["BONMUN_EGRESS__ALLOW", "egress.allow", "10.0.0.0/99"]),
        ({"BONMUN_EGRESS__DENY": "[10.0.0.0/99]"}, ["BONMUN_EGRESS__DENY", "egress.deny", "neither a network"]),
        ({"BONMUN_RENDER__DEFAULT": "maybe"}, ["BONMUN_RENDER__DEFAULT", "false, true or always"]),
    ],
)
def test_wrong_variables_are_named(environ: dict[str, str], says: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(CONFIG, environ)
    assert all(part in str(caught.value) for part in says), str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("limits: {speed: 3}", "limits.speed: no such setting"),
        ("limit: {}", "limit: no such setting"),
        ("- a", "mapping"),
        ("a: [", "YAML"),
        ("limits: 5", "limits"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(file, {})
    assert says in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SettingsError, match=r"/nowhere\.yaml"):
        load("/nowhere.yaml", {})
