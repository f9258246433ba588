"""The help: each verb by its first line; the exit statuses, as the docs list them."""

import re
import signal
from pathlib import Path

import pytest

from server.commands.app import VERBS, app, verb
from server.house.wording import events_text
from server.process.exit_status import Exit

DOCS = Path(__file__).parents[3] / "docs" / "commands.md"
EVERY = sorted({*map(int, Exit), 128 + signal.SIGINT})


def test_the_help_lists_every_exit_status_in_order() -> None:
    epilog = app.info.epilog
    assert isinstance(epilog, str)
    assert [int(one) for one in re.findall(r"(?:: |· )(\d+) ", epilog)] == EVERY


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_the_help_of_each_begins_with(name: str) -> None:
    first, *_ = verb(name).help.split("\n\n")
    assert " ".join(first.split()) == VERBS[name]


def test_the_docs_list_every_exit_status() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \|", DOCS.read_text("utf-8"), re.MULTILINE)
    assert sorted(int(one) for row in rows for one in row.split(",")) == EVERY


def test_the_events_of_an_open_question_are_named() -> None:
    assert [events_text(one) for one in ((), (7,), (7, 9))] == ["", "event 7", "events 7, 9"]
