"""Which Chromium is run: the setting, then the system's, the headless shell first, then Playwright's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.render.executable import NoChromium, find


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    return tmp_path


def test_none_says_what_to_install(bare: Path) -> None:
    with pytest.raises(NoChromium, match="apt-get install chromium-headless-shell"):
        find(None)


def test_the_order(bare: Path) -> None:
    cache = bare / "home" / ".cache" / "ms-playwright"
    full = program(cache / "chromium-1300" / "chrome-linux" / "chrome")
    assert find(None) == full
    old = program(cache / "chromium_headless_shell-990" / "chrome-headless-shell-linux64" / "chrome-headless-shell")
    assert find(None) == old
    new = program(cache / "chromium_headless_shell-1300" / "chrome-headless-shell-linux64" / "chrome-headless-shell")
    assert find(None) == new, "the newest download, by number"
    assert find(None) == new
    chrome = program(bare / "bin" / "google-chrome")
    assert find(None) == chrome
    chromium = program(bare / "bin" / "chromium")
    assert find(None) == chromium
    shell = program(bare / "bin" / "chromium-headless-shell")
    assert find(None) == shell
    assert find(str(full)) == full
    assert find("chromium") == chromium


def test_another_folder_of_downloads(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program(bare / "own" / "chromium-1300" / "chrome-linux64" / "chrome")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(bare / "own"))
    assert find(None) == own


@pytest.mark.parametrize("setting", ["/nowhere/chromium", "no-such-program", "/dev/null"])
def test_a_wrong_setting_is_named_and_nothing_else_taken(bare: Path, setting: str) -> None:
    program(bare / "bin" / "chromium")
    with pytest.raises(NoChromium, match=setting):
        find(setting)
