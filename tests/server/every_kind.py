"""Journals with everything that one may hold, the doubtful first.

Pages, reports, exports and commands are tried on them: none may assume a round that went well.
Each journal is a table of its own, and is named after what is the matter with it.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace as with_
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError
from models.events import (
    AnyObservation,
    CameraFault,
    CameraRecovered,
    CardPlace,
    CardSighted,
    Decision,
    ForeignCardSighted,
    ReaderFault,
    ReviewResolved,
)
from models.house import SECOND_NS
from models.judgements import ReviewRaised
from models.session import CameraPose
from server.house.rulebooks import rules_for, stated
from server.process.program import program_stated
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from server.table.resolving import decide_closed
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.dealing import is_shoe_game
from simulation.mistakes import known, mistake_for
from simulation.session import START_NS, simulate
from stream.journal import Journal
from stream.reading import UnknownEvent
from tests.golden.sessions import SESSIONS, heard
from tests.server.doubted import FALSE, blinded, play_between_accounts, table
from tests.server.evenings import evening, judged
from tests.settlement import noise
from tests.settlement.noise import Noise, Timed
from tests.settlement.sessions import session
from tests.settlement.table import facts as written
from vision.scenes.look import Look

MIDWAY: Final = 50
"""Observations of a session's first round before something happens to it."""
SMALL: Final = Look(width_px=320, height_px=180, fps=5, noise_sigma=1.0)
_VERSION_1: Final = Path(__file__).parents[1] / "stream" / "version_1.journal"
_POSE: Final = CameraPose(
    width_px=1920,
    height_px=1080,
    focal_px=1500.0,
    centre_px=(960.0, 540.0),
    turn_rad=(3.1, 0.0, 0.0),
    shift_mm=(0.0, -400.0, 2000.0),
    error_mm=1.2,
)
_CUT: Final = (0, 0, 40, 60)

Write: TypeAlias = Callable[[Journal, str], None]
"""Writes the journal of a table of that name."""


@contextmanager
def journals_of_every_kind(folder: Path) -> Iterator[None]:
    """Write the journals, and hold those open at whose tables somebody plays.

    ``filmed`` and ``yen`` have their recording beside them, all others have none.
    """
    for number, (name, write) in enumerate(_CLOSED.items(), start=1):
        _written(folder / f"{name}.journal", f"BJ-{number:02}", write)
    shutil.copy(_VERSION_1, folder / "version-1.journal")
    (folder / "damaged.journal").write_bytes(b"this is no journal")
    for name, decision in _DECIDED.items():
        _decide(folder, name, decision)
    _film(folder / "filmed", "BJ-01")
    _film(folder / "yen", "BJ-02", currency="JPY")
    with Journal.create(folder / "in-play.journal") as journal:
        _play(journal, "BJ-90", heard_of("plain")[:MIDWAY], is_over=False)
        with Journal.create(folder / "settled-now.journal") as other:
            _play_one_round(other, "BJ-91")
            yield


def _written(path: Path, name: str, write: Write) -> None:
    """Write a journal at once: waiting for the disk at every entry would take a minute."""
    with Journal.in_memory() as made, Journal.create(path) as journal:
        write(made, name)
        journal.append_all(made.read())


def heard_of(name: str) -> list[Timed]:
    """Return the observations of a recorded session, as its table heard them."""
    return [(one.now_ns, one.observation) for one in heard(name)]


def _play(
    journal: Journal, name: str, observations: Iterable[Timed], *, is_over: bool = True
) -> None:
    live = table(journal, name)
    for at_ns, one in observations:
        live.observe((one,), at_ns)
    if is_over:
        live.finish()


def _play_one_round(journal: Journal, name: str) -> None:
    """Play until the first round settles."""
    live = table(journal, name)
    for at_ns, one in heard_of("plain"):
        live.observe((one,), at_ns)
        if live.rounds():
            return


def _played(change: Callable[[list[Timed]], Iterable[Timed]], *, is_over: bool = True) -> Write:
    """Write session ``plain`` as it is heard after a change."""
    return lambda journal, name: _play(journal, name, change(heard_of("plain")), is_over=is_over)


def _with(*events: AnyObservation) -> Write:
    """Write session ``plain`` with something reported in the middle of its first round."""

    def change(said: list[Timed]) -> list[Timed]:
        at_ns = said[MIDWAY][0]
        more = [(at_ns, replace(one, at=at_ns)) for one in events]
        return [*said[:MIDWAY], *more, *said[MIDWAY:]]

    return _played(change)


def _noisy(rules: str, noisy: Noise, *, rounds: int = 5) -> Write:
    """Write a session whose sensors fail in one way again and again: its questions are many."""

    def write(journal: Journal, name: str) -> None:
        played = session(rules, 3, rounds=rounds)
        reading = Reckoning(
            played.rules, played.layout, "shoe" if is_shoe_game(played.rules) else "pitch"
        )
        live = Pipeline(name, journal, reading, Engine(played.rules), Stopwatch(lambda: 0))
        for at_ns, one in sorted(noisy(played.heard, Random(3)), key=lambda timed: timed[0]):
            live.observe((replace(one, seq=None),), at_ns)
        live.finish()

    return write


def _without_shoe(said: list[Timed]) -> list[Timed]:
    """The shoe's cable comes out in the first round."""
    at_ns = said[MIDWAY][0]
    lost = ReaderFault(source="shoe", at=at_ns, kind="link_lost", detail="unplugged")
    later = [(at, one) for at, one in said[MIDWAY:] if one.source != "shoe"]
    return [*said[:MIDWAY], (at_ns, lost), *later]


def _without_camera(said: list[Timed]) -> list[Timed]:
    """The camera's picture goes black in the first round."""
    at_ns = said[MIDWAY][0]
    black = CameraFault(source="camera:overhead", at=at_ns, kind="black", detail="black", frame=9)
    later = [(at, one) for at, one in said[MIDWAY:] if not one.source.startswith("camera")]
    return [*said[:MIDWAY], (at_ns, black), *later]


def _blind_at_the_turn(said: list[Timed]) -> list[Timed]:
    """The picture is frozen while the hole card is turned up and nobody is looked at."""
    hole = next(at for at, one in said if _turns_hole(one))
    begun, over = hole - 3 * SECOND_NS, hole + 7 * SECOND_NS
    eye, kind = "camera:overhead", "frozen"
    fault = CameraFault(source=eye, at=begun, kind=kind, detail="the same picture", frame=9)
    back = CameraRecovered(source=eye, at=over, kind=kind, lasted_ns=over - begun, frame=99)
    seen = [one if one[1].source != eye else (max(one[0], over), one[1]) for one in said]
    late = [
        (at, replace(one, at=over) if begun <= (one.at or 0) < over and one.source == eye else one)
        for at, one in seen
    ]
    return sorted([*late, (begun, fault), (over, back)], key=lambda timed: timed[0])


def _turns_hole(one: AnyObservation) -> bool:
    return isinstance(one, CardSighted) and one.change == "turned" and one.face == "up"


def _ruled(journal: Journal, name: str) -> None:
    """The floor rules, guests bet on others' spots, chips come that no rulebook declares."""
    timed = [
        replace(one, at=START_NS + n * SECOND_NS, table=name)
        for n, one in enumerate(written(_RULED))
    ]
    journal.append_all(judged(timed))


def _of_later_version(journal: Journal, name: str) -> None:
    """A later version of the program wrote events of types that this one does not know."""
    said = heard_of("plain")
    _play(journal, name, said[:MIDWAY], is_over=False)
    weighed = b'{"type":"tray_weighed","table":"T","at":%d,"grams":[1.5,null]}'
    journal.append(UnknownEvent(None, "tray_weighed", weighed % said[MIDWAY][0]))
    journal.append(UnknownEvent(None, "lamp_lit", b'{"type":"lamp_lit","table":"T"}'))


def _without_rounds(journal: Journal, name: str) -> None:
    rules = replace(stated(rules_for("kansas-shoe"), "configuration", START_NS), table=name)
    journal.append_all((rules, replace(program_stated(START_NS), table=name)))


def _every_mistake(journal: Journal, name: str) -> None:
    """Every mistake that the simulation can make at this table, each in a round of its own."""
    codes = tuple(code for code in known() if _is_possible(code))
    facts = evening(len(codes), mistakes=codes, table=name)
    timed = [replace(one, at=START_NS + n * SECOND_NS) for n, one in enumerate(facts)]
    journal.append_all(judged(timed))


def _is_possible(code: str) -> bool:
    try:
        mistake_for(code, rules_for("kansas-shoe"), spots=5)
    except OperatorError:
        return False
    return True


def _of_old_version(journal: Journal, name: str) -> None:
    """Up to 0.2.0 a question had no time in the journal."""
    with Journal.in_memory() as now:
        play_between_accounts(now, name)
        journal.append_all(map(_untimed, now.read()))


def _untimed(event: Any) -> Any:
    untimed = replace(event, seq=None)
    return replace(untimed, at=None) if isinstance(event, ReviewRaised) else untimed


def _decide(folder: Path, name: str, decision: ReviewResolved) -> None:
    """Write a round with a card in doubt, and what somebody decided of it."""
    path = folder / f"{name}.journal"
    _written(path, f"BJ-{50 + list(_DECIDED).index(name)}", _blinded)
    decide_closed(path, decision)


def _film(folder: Path, name: str, currency: str = "USD") -> None:
    """Film session ``mistake`` in small pictures."""
    simulate(with_(SESSIONS["mistake"], table=name, look=SMALL), folder)
    if currency != "USD":
        file = folder / "session.toml"
        file.write_text(file.read_text().replace('"USD"', f'"{currency}"'))


def _decided(decision: Decision, **more: Any) -> ReviewResolved:
    return ReviewResolved(
        source="console:pit",
        at=START_NS + 3600 * SECOND_NS,
        round=1,
        item=0,
        decision=decision,
        reason="Seen on the video.",
        **more,
    )


def _mistaken(journal: Journal, name: str) -> None:
    _play(journal, name, heard_of("mistake"))


def _blinded(journal: Journal, name: str) -> None:
    _play(journal, name, ((one.now_ns, one.observation) for one in blinded()))


_FOREIGN: Final = ForeignCardSighted(
    source="camera:overhead",
    track=900,
    face="up",
    card=Card("AS"),
    deck_fit=0.1,
    x_mm=0.0,
    y_mm=400.0,
    frame=7,
    crop=_CUT,
)
_MOVED: Final = CameraFault(
    source="camera:overhead", kind="moved", detail="by 31 px", frame=7, proposed=_POSE
)
_UNWATCHED: Final = CameraFault(
    source="camera:overhead", kind="unwatched", detail="for 4.2 s", frame=7
)
_FAULTS: Final[tuple[AnyObservation, ...]] = (
    *(
        CameraFault(source="camera:overhead", kind=kind, detail="as found", frame=7)
        for kind in ("clock", "mirrored", "incomplete", "held_back_misfit", "held_back_twice")
    ),
    *(
        ReaderFault(source=source, kind="lost_line", detail=f"{source}.cap:4: the line is torn")
        for source in ("shoe", "console")
    ),
)
_RULED: Final = """
    shoe 6; tray 5000000; change -20000 buy_in;
    open 1; bet 1 1010; bet 1 505 @guest; toke 1 500; coupon 2 1000; side 2 500 %lucky;
    bet 2 2000; 1 AS; 2 9S; D TH; 1 KD; 2 9C; D ?? down; stand 2; show D 7D;
    pay 2 2000; pay-coupon 2 1000; pay-side 2 -500; pay 1 1515; pay 1 757 @guest;
    pay-toke 1 750; close;
    open 2; bet 1 1000; bet 2 2000; 1 TS; 2 8S; D TD; 2 8C; off; back 1 1000; back 2 2000; close;
    open 3; bet 1 1000; bet 2 2000; bet 3 500; 1 TC; 2 5S; 3 4D; D 6H; 1 7S; 2 6C; 3 4C;
    D ?? down; stand 1; 1 8H; move 8H 1>2; bet 3 500; take-off 3 500; off 3; back 3 500; stand 2;
    show D TC; D 9D; pay 2 2000; pay 1 1000; reshuffle; close; change 1000000 fill; tray 5000000
"""
"""What happens around a round: in the notation of :mod:`tests.settlement.table`."""
_CLOSED: Final[dict[str, Write]] = {
    "filmed": _mistaken,
    "yen": _mistaken,
    "every-mistake": _every_mistake,
    "card-in-doubt": _blinded,
    "between-accounts": play_between_accounts,
    "foreign-card": _with(_FOREIGN),
    "camera-moved": _with(_MOVED),
    "unwatched": _with(_UNWATCHED),
    "everything-fails": _noisy("kansas-shoe", noise.everything_at_once),
    "plates-fail": _noisy("kansas-shoe", noise.plates_break),
    "shoe-misreads": _noisy("kansas-shoe", noise.shoe_misreads),
    "camera-misses": _noisy("kansas-shoe", noise.camera_misses, rounds=8),
    "hand-dealt-misread": _noisy("casino-single-deck", noise.camera_misreads),
    "hand-dealt-missed": _noisy("casino-single-deck", noise.camera_misses),
    "dead-shoe": _played(_without_shoe),
    "blind-camera": _played(_without_camera),
    "blind-at-the-turn": _played(_blind_at_the_turn),
    "sensors-at-fault": _with(*_FAULTS),
    "ruled": _ruled,
    "ended-in-deal": _played(lambda said: said[:12]),
    "unfinished": _played(lambda said: said[:MIDWAY], is_over=False),
    "later-version": _of_later_version,
    "old-version": _of_old_version,
    "no-rounds": _without_rounds,
    "nothing": lambda _journal, _name: None,
}
_DECIDED: Final = {
    "decided-card": _decided("chosen", choice=FALSE),
    "decided-unreadable": _decided("unreadable"),
    "decided-void": _decided("void"),
    "decided-stands": _decided("stands"),
    "decided-burned": _decided("burned"),
    "decided-dealt": _decided("dealt", card=CardPlace(to=1, nth=1)),
}
