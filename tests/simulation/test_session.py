import stat
from pathlib import Path

import av
import pytest

from models.errors import InputRefused, InstallerError, OperatorError
from models.events import ConsoleEntry
from models.judgements import RoundSettled
from simulation import session as sessions
from simulation.house import house
from simulation.session import Settings, prepare, simulate
from stream.recording import read_capture, read_events, read_session
from vision.scenes.look import Look

QUICK = Settings(rounds=1, video=False)
SMALL = Look(width_px=480, height_px=270, fps=4)


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_session_without_video_is_read_back_whole(tmp_path: Path) -> None:
    folder = simulate(QUICK, tmp_path / "evening")
    session = read_session(folder)
    assert session.rulebook == "kansas-shoe"
    assert session.dealing == "shoe"
    assert [port.driver for port in session.serial] == ["angel-eye", "plate"]
    assert session.cameras == ()
    assert all(read_capture(folder / port.file).chunks for port in session.serial)


def test_its_truth_ends_each_round_with_what_should_settle(tmp_path: Path) -> None:
    folder = simulate(Settings(rounds=3, video=False), tmp_path / "evening")
    events = list(read_events(folder / "truth.jsonl"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    settled = [event.result.round for event in events if isinstance(event, RoundSettled)]
    assert settled == [1, 2, 3]


def test_its_console_holds_entries_of_the_floor(tmp_path: Path) -> None:
    folder = simulate(QUICK, tmp_path / "evening")
    entries = list(read_events(folder / "console.jsonl"))
    assert entries
    assert all(isinstance(entry, ConsoleEntry) for entry in entries)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    one = simulate(QUICK, tmp_path / "one")
    other = simulate(QUICK, tmp_path / "other")
    assert content(one) == content(other)


def test_another_seed_writes_others(tmp_path: Path) -> None:
    one = simulate(QUICK, tmp_path / "one")
    other = simulate(Settings(rounds=1, video=False, seed=2), tmp_path / "other")
    assert content(one)["truth.jsonl"] != content(other)["truth.jsonl"]


def test_a_pitch_game_has_no_shoe(tmp_path: Path) -> None:
    settings = Settings(rulebook="pitch-double-deck", rounds=1, video=False)
    session = read_session(simulate(settings, tmp_path / "evening"))
    assert session.dealing == "pitch"
    assert [port.driver for port in session.serial] == ["plate"]


def test_the_video_is_as_long_as_the_session(tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    settings = Settings(rounds=1, spots=(3,), look=SMALL, layout="five-spots")
    folder = simulate(settings, tmp_path / "evening", lambda done, of: progress.append((done, of)))
    (camera,) = read_session(folder).cameras
    assert len(camera.reference_points) >= 6
    with av.open(str(folder / camera.file)) as video:
        frames = video.streams.video[0].frames
    assert frames == len(progress) == progress[-1][0] == progress[-1][1]
    assert frames / SMALL.fps > 10


def test_a_knob_turned_is_written_beside_the_session(tmp_path: Path) -> None:
    settings = Settings(rounds=1, video=False, knobs=("dealer_soft17=stand",))
    folder = simulate(settings, tmp_path / "evening")
    assert read_session(folder).rulebook == "rulebook.toml"
    assert 'extends = "kansas-shoe"' in (folder / "rulebook.toml").read_text()


def test_a_limit_of_the_table_is_the_sessions_own(tmp_path: Path) -> None:
    settings = Settings(rounds=1, video=False, knobs=("table_max=50000",))
    session = read_session(simulate(settings, tmp_path / "evening"))
    assert (session.rulebook, session.table_max) == ("kansas-shoe", 50000)


def test_a_side_bet_that_is_taken_is_declared_beside_the_session(tmp_path: Path) -> None:
    settings = Settings(rounds=1, video=False, side_bet="21+3-9", knobs=("table_max=50000",))
    folder = simulate(settings, tmp_path / "evening")
    session = read_session(folder)
    assert (session.rulebook, session.table_max) == ("rulebook.toml", 50000)
    taken = house(str(folder / "rulebook.toml")).rules
    assert list(taken.side_bets) == ["21+3-9"]
    assert taken.blackjack_payout == house("kansas-shoe").rules.blackjack_payout


def test_a_rulebook_of_ones_own_brings_its_own_side_bets(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('id = "own"\nextends = "kansas-shoe"\n')
    with pytest.raises(OperatorError, match="over-13 cannot be set on a rulebook of your own"):
        simulate(Settings(rulebook=str(own), side_bet="over-13"), tmp_path / "evening")


def test_players_lay_no_side_bet_where_a_plate_does_not_tell_which(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    bets = "".join(f'[side_bets.{name}]\nextends = "{name}"\n' for name in ("over-13", "under-13"))
    own.write_text(f'id = "own"\nextends = "kansas-shoe"\n{bets}')
    staged = prepare(Settings(rulebook=str(own), rounds=3)).staged
    assert not any(change.circle == "S" for change in staged.plates)


def test_a_folder_that_exists_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "evening").mkdir()
    with pytest.raises(OperatorError, match="the folder exists"):
        simulate(QUICK, tmp_path / "evening")
    assert list((tmp_path / "evening").iterdir()) == []


def test_nothing_is_left_of_a_session_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sessions, "write_session", stop)
    with pytest.raises(KeyboardInterrupt):
        simulate(QUICK, tmp_path / "evening")
    assert list(tmp_path.iterdir()) == []


def test_a_session_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = simulate(QUICK, tmp_path / "evening")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (Settings(rulebook="monaco"), OperatorError, "no rulebook has this id"),
        (Settings(layout="monaco"), InstallerError, "no layout is called 'monaco'"),
        (Settings(spots=(9,)), OperatorError, "the felt has no spot 9"),
        (Settings(rounds=0), OperatorError, "0 rounds cannot be dealt"),
        (Settings(knobs=("decks=12",)), InputRefused, "decks"),
        (Settings(side_bet="monaco"), InstallerError, "no side bet is called 'monaco'"),
    ],
)
def test_what_cannot_be_dealt_is_refused_before_anything_is_written(
    tmp_path: Path, settings: Settings, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        simulate(settings, tmp_path / "evening")
    assert list(tmp_path.iterdir()) == []
