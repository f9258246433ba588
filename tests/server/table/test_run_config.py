"""table.toml: every field typed and described; every fault a line of its own."""

import json
from pathlib import Path

import pytest

from models.errors import InputRefused
from server.commands.app import run
from server.process.exit_status import Exit
from server.table.check import config_faults
from server.table.schema import table_schema

EXAMPLE = Path(__file__).parents[3] / "server" / "examples" / "table.toml"


def example(folder: Path, *changes: tuple[str, str]) -> Path:
    """The annotated example with pieces of its text changed."""
    text = EXAMPLE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    file = folder / "table.toml"
    file.write_text(text)
    return file


def test_the_annotated_example_is_sound() -> None:
    assert config_faults(EXAMPLE, at_rest=True) == ()
    assert run(["config", "check", str(EXAMPLE), "--at-rest"]) == Exit.CLEAN


def test_every_field_at_fault_is_named(tmp_path: Path) -> None:
    file = example(
        tmp_path,
        ("table_min = 1000", 'table_min = "ten"'),
        ("hold_ms = 3000", "hold_ms = -5"),
        ("stall_ms = 2000", "stall_ms = 1"),
        ("keep_days = 14", "keep_dayz = 14"),
    )
    faults = config_faults(file)
    assert all(isinstance(fault, InputRefused) for fault in faults)
    fields = {fault.field for fault in faults if isinstance(fault, InputRefused)}
    assert fields >= {"table_min", "hold_ms", "cameras[0].stream.stall_ms", "recorder.keep_dayz"}


@pytest.mark.parametrize(
    ("changed", "detail"),
    [
        (("kansas-shoe", "utah-shoe"), "utah-shoe"),
        (("five-spots", "nine-spots"), "nine-spots"),
        (('driver = "plate"', 'driver = "plank"'), "plank"),
        (("table_max = 50000", "table_max = 500"), "table_max"),
        (('name = "plates"', 'name = "shoe"'), "'shoe' twice"),
        (("{ x_px = 382.0, y_px = 778.0, x_mm = -700.0, y_mm = 900.0 },", ""), "reference_points"),
    ],
)
def test_what_it_names_must_exist(tmp_path: Path, changed: tuple[str, str], detail: str) -> None:
    faults = config_faults(example(tmp_path, changed), at_rest=True)
    assert len(faults) == 1
    assert detail in str(faults[0])
    assert str(tmp_path / "table.toml") in faults[0].where


def test_each_device_that_is_not_plugged_in_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = example(
        tmp_path,
        ("/var/lib/pitwatch/journals/BJ-07.journal", "BJ-07.journal"),
        ("/var/lib/pitwatch/recordings", "recordings"),
        ("usb-shoe-07", "no-such-shoe"),
        ("usb-plates-07", "no-such-plates"),
    )
    assert run(["config", "check", str(file), "--json"]) == Exit.REFUSED
    printed = json.loads(capsys.readouterr().out)
    assert [fault["field"] for fault in printed["faults"]] == ["ports[0].url", "ports[1].url"]
    assert all(fault["way_out"] for fault in printed["faults"])


def test_the_schema_describes_every_field_of_a_table() -> None:
    definitions = table_schema()["$defs"]
    for part in ("TableConfig", "Camera", "CameraConfig", "Port", "Recorder"):
        for field, schema in definitions[part]["properties"].items():
            assert schema["description"].endswith("."), f"{part}.{field}"


def test_the_schema_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "schema"]) == Exit.CLEAN
    schema = json.loads(capsys.readouterr().out)
    assert schema["$defs"]["CameraConfig"]["properties"]["stall_ms"]["minimum"] == 100
