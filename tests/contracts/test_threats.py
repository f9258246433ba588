"""Every promise of docs/threats.md names a test that there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_that_a_promise_names_is_there() -> None:
    rows = (ROOT / "docs" / "threats.md").read_text("utf-8")
    named = NAMED.findall(rows)
    assert len(named) == rows.count("tests/")
    lost = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).is_file() or f"def {test}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert lost == []
