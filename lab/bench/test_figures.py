"""The pages of figures are what the result files give, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

from lab.bench import figures
from lab.bench.record import Claim, Results, Run, load, networks_hash, record, save, with_run

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)\)")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "lab").rglob("*.md")])


def test_the_pages_of_figures_are_what_the_result_files_give() -> None:
    assert figures.main(["--check"]) == 0


def test_every_run_names_its_command_and_a_dated_one_its_commit() -> None:
    for results in figures.every_result().values():
        assert results.runs, results.title
        assert all(run.command and bool(run.date) == bool(run.commit) for run in results.runs)


MISSED = Claim("called rightly", 90.8, "%", of=370, least=95.0, page="cards read rightly")
CAMERA = Results("Camera", "T", "About.", (Run("make x", claims=(MISSED, Claim("ms", 1.0))),))


def test_the_lab_names_each_missed_target_before_its_benches() -> None:
    page = figures.index([CAMERA], {"T": "x"})
    assert page.index("| T: called rightly | 90.8% of 370 |") < page.index("## Camera")
    assert (
        "| [T](results/x.json) | called rightly | 90.8% of 370 | at least 95%: **missed** |" in page
    )


def test_the_page_has_the_figures_that_are_asked_and_no_others() -> None:
    page = figures.page([CAMERA])
    assert (
        "| cards read rightly | 90.8% of 370 | 87.42% to 93.34% | at least 95%: **missed** |"
        in page
    )
    assert page.count("`make x`") == 1


def test_none_of_a_number_of_trials_still_has_an_upper_bound() -> None:
    assert figures.interval(Claim("wrong", 0, of=10_000)) == "0% to 0.0384%"


@pytest.mark.slow
def test_a_recorded_run_replaces_the_one_by_its_command_and_keeps_the_target(
    tmp_path: Path,
) -> None:
    before = Run("python -m lab.bench.x --n 1", claims=(Claim("speed", 1.0, least=2.0),))
    other = Run("python -m lab.bench.x --n 2", claims=(Claim("speed", 5.0),))
    save(tmp_path / "x.json", Results("Camera", "T", "About.", (before, other)))
    record("x", [Claim("speed", 3.0)], argv=["--n", "1", "--record"], results=tmp_path)
    first, second = load(tmp_path / "x.json").runs
    assert first.claims == (Claim("speed", 3.0, least=2.0),)
    assert first.commit
    assert first.machine
    assert second == other


def test_a_new_command_is_a_further_run() -> None:
    known = Results("Camera", "T", "About.", (Run("a"),))
    assert [run.command for run in with_run(known, Run("b")).runs] == ["a", "b"]


def test_a_result_file_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"x\.json is missing"):
        record("x", results=tmp_path)
    (tmp_path / "x.json").write_text('{"part": 1}')
    with pytest.raises(ValueError, match=r"x\.json: .*part"):
        load(tmp_path / "x.json")


def test_networks_are_distinguished_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"1")
    first = networks_hash(tmp_path)
    (tmp_path / "a.onnx").write_bytes(b"2")
    assert networks_hash(tmp_path) != first


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))
    lost = [
        f"{file}#{anchor}"
        for file, anchor in links
        if "://" not in file and not _leads_somewhere(page, file, anchor)
    ]
    assert lost == []


def _leads_somewhere(page: Path, file: str, anchor: str) -> bool:
    target = page.parent / file if file else page
    if not target.exists() or not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
    return anchor in {_anchor(heading) for heading in headings}


def _anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")
