"""Prometheus' rules work; every metric that they use is exported."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from models.events import RoundOpened
from server.floor_record.meters import FloorMeters
from tests.deploy.tools import DEPLOY, sound, tool
from tests.server.conftest import postgres as postgres  # noqa: PLC0414 - a fixture
from tests.server.floor_record.cluster import FloorSite
from tests.server.integration.receivers import receiving
from tests.server.integration.serving import served
from tests.server.integration.test_relay_commands import simple
from tests.server.service.house import until, write

pytestmark = pytest.mark.slow

PROMETHEUS: Final = DEPLOY / "prometheus"
DASHBOARD: Final = DEPLOY / "grafana" / "pitwatch.json"
_NAME: Final = re.compile(r"\bpitwatch_\w+")
FLOOR: Final = "pitwatch_floor_"
BACKUP: Final = {"pitwatch_backup_time_seconds", "pitwatch_backup_journals"}
"""Written by ``pitwatch backup make``; test_backups.py checks that."""
VERIFIED: Final = {
    "pitwatch_backups_verified_time_seconds",
    "pitwatch_backups_intact",
    "pitwatch_backups_damaged",
}
"""Written by ``pitwatch backup verify``; test_backups_verified.py checks that."""


def promtool() -> str:
    return tool("promtool", "apt-get install prometheus")


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All that a service exports to Prometheus."""
    folder = tmp_path_factory.mktemp("metrics")
    write(folder / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with receiving() as receiver, served(folder, simple(folder, receiver.url)) as (url, token):
        until(lambda: receiver.taken)
        return httpx.get(
            f"{url}/metrics", headers={"Authorization": f"Bearer {token}"}, verify=False
        ).text


@pytest.fixture(scope="module")
def metric_names(metrics: str) -> set[str]:
    """The names of all that."""
    names = set()
    for family in text_string_to_metric_families(metrics):
        ends = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
        names |= {family.name + end for end in ends.get(family.type, ("",))}
    return names


def expressions(found: Any) -> Iterator[str]:
    """Everything that a dashboard asks."""
    if isinstance(found, dict):
        for key in ("expr", "query"):
            if isinstance(found.get(key), str):
                yield found[key]
        found = list(found.values())
    if isinstance(found, list):
        for one in found:
            yield from expressions(one)


def test_the_rules_and_the_configuration_are_sound() -> None:
    assert "SUCCESS" in sound(promtool(), "check", "rules", PROMETHEUS / "pitwatch.rules.yml")
    sound(promtool(), "check", "config", "--syntax-only", PROMETHEUS / "prometheus.yml")


def test_every_alert_comes_when_it_should_and_not_before() -> None:
    sound(promtool(), "test", "rules", "pitwatch.rules.test.yml", cwd=PROMETHEUS)


def test_every_alert_is_tried_and_has_instructions() -> None:
    groups = yaml.safe_load((PROMETHEUS / "pitwatch.rules.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    tried = yaml.safe_load((PROMETHEUS / "pitwatch.rules.test.yml").read_text())["tests"]
    fired = {
        one["alertname"] for test in tried for one in test["alert_rule_test"] if one["exp_alerts"]
    }
    assert fired == {rule["alert"] for rule in rules}
    for rule in rules:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["action"]


def test_the_metrics_have_the_form_that_prometheus_checks(metrics: str) -> None:
    command = [promtool(), "check", "metrics"]
    checked = subprocess.run(command, input=metrics, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def asked_by_rules() -> set[str]:
    return set(_NAME.findall((PROMETHEUS / "pitwatch.rules.yml").read_text()))


def test_every_metric_of_the_rules_is_exported(metric_names: set[str]) -> None:
    asked = {one for one in asked_by_rules() if not one.startswith(FLOOR)}
    assert asked
    assert asked - BACKUP - VERIFIED <= metric_names


def test_every_metric_of_the_floor_is_exported_by_a_service_on_it(postgres: FloorSite) -> None:
    registry = CollectorRegistry()
    registry.register(FloorMeters(postgres.reader))
    metrics = generate_latest(registry).decode()
    asked = {one for one in asked_by_rules() if one.startswith(FLOOR)}
    assert asked == {family.name for family in text_string_to_metric_families(metrics)}
    command = [promtool(), "check", "metrics"]
    checked = subprocess.run(command, input=metrics, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_every_metric_of_the_dashboard_is_exported(metric_names: set[str]) -> None:
    asked = set(_NAME.findall("\n".join(expressions(json.loads(DASHBOARD.read_text())))))
    assert len(asked) > 10
    assert asked - BACKUP - VERIFIED <= metric_names


def test_the_dashboard_is_laid_out_without_overlap() -> None:
    board = json.loads(DASHBOARD.read_text())
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not own & taken, panel["title"]
        taken |= own
        assert panel["type"] == "row" or panel["description"]


@pytest.mark.parametrize(
    "found", [PROMETHEUS / "pitwatch.rules.yml", DASHBOARD], ids=lambda f: f.name
)
def test_every_expression_is_promql(found: Path, tmp_path: Path) -> None:
    """Written as rules, so that promtool parses them; a dashboard's variables filled in."""
    if found == DASHBOARD:
        asked = [
            one for one in expressions(json.loads(found.read_text())) if "label_values" not in one
        ]
        asked = [one.replace("$session", ".*") for one in asked if one != "prometheus"]
    else:
        groups = yaml.safe_load(found.read_text())["groups"]
        asked = [rule["expr"] for group in groups for rule in group["rules"]]
    rules = [{"record": f"r:{n}".replace(":", "_"), "expr": one} for n, one in enumerate(asked)]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    assert f"{len(asked)} rules found" in sound(promtool(), "check", "rules", file)
