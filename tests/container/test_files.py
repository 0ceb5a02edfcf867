"""What the files of the container say, checked where no container engine runs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import load
from tests.container.dockerfile import Context, Instruction, Stage, expand, parse

ROOT = Path(__file__).parents[2]
DEVELOPERS = ("hypothesis", "mypy", "pytest", "ruff", "trafilatura", "trustme", "resiliparse")
CLONE_NEW = {"NS": 0x20000, "CGROUP": 0x2000000, "UTS": 0x4000000, "IPC": 0x8000000, "TIME": 0x80}
CLONE_SANDBOX = {"USER": 0x10000000, "PID": 0x20000000, "NET": 0x40000000}


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return parse((ROOT / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["bonmun"]


@pytest.fixture(scope="module")
def seccomp() -> dict[str, Any]:
    return json.loads((ROOT / "docker/seccomp.json").read_text(encoding="utf-8"))


class TestReader:
    def test_continued_lines_comments_flags_and_forms(self) -> None:
        (stage,) = parse(
            'ARG A=x\nFROM b:${A} AS c\nRUN one \\\n# not this\n && two\nCOPY --from=c a b\nCMD ["d", "e f"]'
        )
        assert (stage.base, stage.name) == ("b:x", "c")
        assert [i.text for i in stage.instructions] == ["one  && two", "a b", '["d", "e f"]']
        assert stage.instructions[1].flags == {"from": "c"}
        assert stage.instructions[2].words == ["d", "e f"]

    def test_unknown_instructions_are_errors(self) -> None:
        with pytest.raises(ValueError, match="ADD"):
            parse("FROM a\nADD b c")

    def test_variables(self) -> None:
        assert expand("$A ${A} ${B:-c} ${A:+d} ${B:+e}|", {"A": "x"}) == "x x c d |"

    def test_pairs(self) -> None:
        assert Instruction("ENV", 'A=1 B="two words" C=').pairs == {"A": "1", "B": "two words", "C": ""}


class TestDockerfile:
    def test_the_base_is_named_to_the_release(self, stages: list[Stage]) -> None:
        for stage in stages:
            assert re.fullmatch(r"python:3\.\d+\.\d+-slim-bookworm(@sha256:[0-9a-f]{64})?", stage.base)

    def test_every_source_is_there_and_sent(self, stages: list[Stage]) -> None:
        context = Context(ROOT)
        for stage in stages:
            for copy in stage.all("COPY"):
                for source in copy.words[:-1] if "from" not in copy.flags else ():
                    assert context.files(source), source

    def test_nothing_else_is_sent(self) -> None:
        context = Context(ROOT)
        assert context.holds(Path("service/render/scripts/init.js"))
        for path in (".git/config", ".venv/bin/python", "tests/origin.py", "captures/a/page.html", "Makefile", ".env"):
            assert not context.holds(Path(path)), path
        assert not context.holds(Path("service/api/__pycache__/app.cpython-311.pyc"))

    def test_the_final_stage_installs_nothing_for_developers(self, stages: list[Stage]) -> None:
        text = "\n".join(i.text for stage in stages for i in stage.all("RUN"))
        assert not [name for name in DEVELOPERS if name in text]
        assert not re.search(r"-dev\b|build-essential|\bgcc\b", text)
        assert "pip" not in "\n".join(i.text for i in stages[-1].all("RUN"))
        assert "--constraint requirements.lock" in text

    def test_every_import_is_locked(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        locked = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}
        for requirement in project["dependencies"]:
            assert re.split(r"[\[<>=~! ]", requirement)[0] in locked, requirement

    def test_it_runs_as_nobody_in_particular(self, stages: list[Stage]) -> None:
        final = stages[-1]
        assert final.all("USER")[-1].text == "10001:10001"
        assert final.instructions.index(final.all("USER")[-1]) > final.instructions.index(final.all("RUN")[-1])

    def test_what_it_starts(self, stages: list[Stage]) -> None:
        final = stages[-1]
        assert final.all("ENTRYPOINT")[0].words == ["tini", "--", "bonmun"]
        assert final.all("CMD")[0].words == ["serve"]
        assert final.all("EXPOSE")[0].text == "8000"
        environment = {key: value for i in final.all("ENV") for key, value in i.pairs.items()}
        assert load(ROOT / "config.yaml", {**environment, "BONMUN_CONFIG": ""}).server.host == "0.0.0.0"

    def test_the_health_check_is_a_program(self, stages: list[Stage]) -> None:
        check = stages[-1].all("HEALTHCHECK")[0]
        assert set(check.flags) == {"interval", "timeout", "start-period", "retries"}
        command = json.loads(check.text.removeprefix("CMD "))
        compile(command[2], "HEALTHCHECK", "exec")
        assert "/healthz" in command[2]

    def test_no_address_but_the_projects_own(self) -> None:
        for name in ("Dockerfile", "compose.yaml", ".dockerignore", "docker/seccomp.json"):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert set(re.findall(r"https?://[^\s\"]+", text)) <= {"https://github.com/bonmun/bonmun"}, name

    def test_the_version_is_the_projects(self, stages: list[Stage], compose: dict[str, Any]) -> None:
        version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        assert stages[-1].all("LABEL")[0].pairs["org.opencontainers.image.version"] == version
        assert compose["image"] == f"bonmun:{version}"


class TestCompose:
    def test_hardening(self, compose: dict[str, Any]) -> None:
        assert compose["cap_drop"] == ["ALL"]
        assert compose["read_only"] is True
        assert compose["user"] == "10001:10001"
        assert set(compose["security_opt"]) == {"no-new-privileges:true", "seccomp=docker/seccomp.json"}
        assert compose["ports"] == ["127.0.0.1:8000:8000"]
        assert not {"privileged", "cap_add", "network_mode", "pid", "ipc", "volumes", "devices"} & set(compose)
        (tmp,) = compose["tmpfs"]
        assert re.match(r"/tmp:size=\d+m,mode=1777", tmp)

    def test_bounds(self, compose: dict[str, Any]) -> None:
        assert compose["mem_limit"] == compose["memswap_limit"]
        assert compose["pids_limit"] > 0
        assert (
            int(compose["stop_grace_period"].removesuffix("s")) > load(ROOT / "config.yaml", {}).server.shutdown_seconds
        )

    def test_the_image_has_an_init_of_its_own(self, compose: dict[str, Any]) -> None:
        assert "init" not in compose

    def test_its_settings_are_settings(self, compose: dict[str, Any]) -> None:
        settings = load(ROOT / "config.yaml", compose["environment"])
        assert settings.render.sandbox == settings.render.network_namespace == "required"


class TestSeccomp:
    """The profile as an engine reads it. That Chromium runs under it, the rehearsal shows."""

    def rules(self, seccomp: dict[str, Any], name: str) -> list[dict[str, Any]]:
        return [rule for rule in seccomp["syscalls"] if name in rule["names"]]

    def test_what_is_not_named_is_refused(self, seccomp: dict[str, Any]) -> None:
        assert (seccomp["defaultAction"], seccomp["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 1)
        assert {entry["architecture"] for entry in seccomp["archMap"]} == {"SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"}
        assert {rule["action"] for rule in seccomp["syscalls"]} == {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"}
        names = [name for rule in seccomp["syscalls"] if "args" not in rule for name in rule["names"]]
        assert len(names) == len(set(names))

    @pytest.mark.parametrize(
        "name",
        "add_key acct bpf delete_module fanotify_init fsopen init_module io_uring_setup kexec_load keyctl "
        "mount mount_setattr move_mount open_by_handle_at open_tree perf_event_open personality pivot_root "
        "process_vm_readv ptrace quotactl reboot request_key setns swapon syslog umount2 userfaultfd".split(),
    )
    def test_refused(self, seccomp: dict[str, Any], name: str) -> None:
        assert not self.rules(seccomp, name)

    @pytest.mark.parametrize("name", "chroot execve clone unshare socket seccomp futex openat epoll_pwait".split())
    def test_allowed_without_a_capability(self, seccomp: dict[str, Any], name: str) -> None:
        assert self.rules(seccomp, name)
        assert all("caps" not in rule.get("includes", {}) for rule in self.rules(seccomp, name))

    @pytest.mark.parametrize("name", ["clone", "unshare"])
    def test_namespaces_are_those_of_the_sandbox(self, seccomp: dict[str, Any], name: str) -> None:
        (rule,) = self.rules(seccomp, name)
        (condition,) = rule["args"]
        assert (condition["index"], condition["op"], condition["valueTwo"]) == (0, "SCMP_CMP_MASKED_EQ", 0)
        for kind, flag in CLONE_NEW.items():
            # CLONE_NEWTIME is a bit of the exit signal in clone(2), which has no such namespace.
            assert bool(condition["value"] & flag) == (name == "unshare" or kind != "TIME")
        assert not condition["value"] & sum(CLONE_SANDBOX.values())

    def test_clone3_looks_unknown(self, seccomp: dict[str, Any]) -> None:
        (rule,) = self.rules(seccomp, "clone3")
        assert (rule["action"], rule["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)

    def test_kinds_of_sockets(self, seccomp: dict[str, Any]) -> None:
        conditions = [[(c["index"], c["value"]) for c in rule["args"]] for rule in self.rules(seccomp, "socket")]
        assert conditions == [[(0, 1)], [(0, 2)], [(0, 10)], [(0, 16), (2, 0)]]
