"""A camera that is blind for ten seconds: black, frozen, or of another size.

Everything else goes on: the shoe, the plates, the console.
``tests/contracts/test_blinded_camera.py`` holds :func:`blinded` to what the shipped watcher reports
of a film.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from models.events import CameraFault, CameraRecovered, CardGone, CardSighted
from tests.sensors import noise
from tests.sensors.film_noise import FAULTLESS
from tests.sensors.noise import Heard, Plan, Rates, Timed

Kind: TypeAlias = Literal["black", "frozen", "size_changed"]

SECOND: Final = 10**9
SPAN_NS: Final = 10 * SECOND
KINDS: Final[tuple[Kind, ...]] = ("black", "frozen", "size_changed")
_RAISED_NS: Final[dict[Kind, int]] = {"black": 0, "frozen": 800_000_000, "size_changed": 0}
"""How long a fault lasts before the watcher reports it."""
_CLEAR_NS: Final[dict[Kind, int]] = {
    "black": 300_000_000,
    "frozen": 1_000_000_000,
    "size_changed": 300_000_000,
}
"""How long a fault is over before the watcher reports that."""
_SEES_NS: Final[dict[Kind, int]] = {
    "black": 300_000_000,
    "frozen": 0,
    "size_changed": 300_000_000,
}
"""How long a fault is over before the watcher looks at the felt again."""
_LOOKS_NS: Final = 200_000_000
"""From then until it has looked at all that changed."""
_LIFTED_NS: Final = 700_000_000
"""From then until it reports what is gone."""


def blinded(heard: Sequence[Timed], source: str, from_ns: int, kind: Kind) -> list[Timed]:
    """Return what is heard where one camera sees nothing for ten seconds.

    What came to lie in that time and lies there still is seen at its end, all at once; what came
    and went is never seen.
    """
    until_ns = from_ns + SPAN_NS
    sees_ns = until_ns + _SEES_NS[kind]
    told = [timed for timed in heard if not _held_back(timed, source, from_ns, sees_ns)]
    fault = CameraFault(source=source, at=from_ns + _RAISED_NS[kind], kind=kind, detail="", frame=0)
    over = CameraRecovered(
        source=source,
        at=until_ns + _CLEAR_NS[kind],
        kind=kind,
        lasted_ns=SPAN_NS - _RAISED_NS[kind],
        frame=0,
    )
    held = [timed for timed in heard if _held_back(timed, source, from_ns, sees_ns)]
    told += [(one.at or 0, one) for one in (fault, over)]
    told += _seen_again(held, _lying(heard, source, from_ns), sees_ns)
    told.sort(key=lambda timed: timed[0])
    return [(at, replace(said, seq=seq)) for seq, (at, said) in enumerate(told, start=1)]


def _held_back(timed: Timed, source: str, from_ns: int, sees_ns: int) -> bool:
    at, said = timed
    seen = isinstance(said, CardSighted | CardGone)
    return seen and said.source == source and from_ns <= at < sees_ns


def _lying(heard: Sequence[Timed], source: str, at_ns: int) -> set[int]:
    """Return the tracks that lie on the felt at a time."""
    lying: set[int] = set()
    for at, said in heard:
        if at >= at_ns or said.source != source:
            continue
        if isinstance(said, CardSighted):
            lying.add(said.track)
        elif isinstance(said, CardGone):
            lying.discard(said.track)
    return lying


def _seen_again(held: Sequence[Timed], lay: set[int], sees_ns: int) -> Iterator[Timed]:
    """Yield what the camera reports as it sees again, of what it would have reported before."""
    last: dict[int, CardSighted | CardGone] = {}
    changed: dict[int, str] = {}
    for _, said in held:
        assert isinstance(said, CardSighted | CardGone)
        last[said.track] = said
        if isinstance(said, CardSighted) and said.change != "read":
            changed[said.track] = said.change
    for track, said in last.items():
        if isinstance(said, CardGone):
            if track in lay:
                yield sees_ns + _LIFTED_NS, replace(said, at=sees_ns)
        elif track not in lay:
            yield sees_ns + _LOOKS_NS, replace(said, at=sees_ns, change="new")
        elif track in changed:
            change = changed[track]
            yield sees_ns + _LOOKS_NS, replace(said, at=sees_ns, change=change)


# --- one session --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blinding:
    """A session, from how many seconds after its start it is blinded, if at all, and how."""

    seed: int
    rulebook: str
    every: int
    rounds: int
    show: bool
    kinds: tuple[Kind, ...] = KINDS
    spots: tuple[int, ...] = ()
    from_s: float | None = None
    kind: Kind = "black"


def plan_of(one: Blinding) -> Plan:
    """Return the plan of a session whose sensors do not err."""
    return Plan(
        one.rulebook,
        Rates().times(0.0),
        one.rounds,
        one.every,
        clinging=False,
        show=one.show,
        spots=one.spots,
        film=FAULTLESS,
    )


def spoilt(told: Heard, one: Blinding) -> Heard:
    """Return a session as it is heard with a span blinded."""
    if one.from_s is None:
        return told
    from_ns = told.spoilt[0][0] + round(one.from_s * SECOND)
    heard = blinded(told.spoilt, "camera:overhead", from_ns, one.kind)
    return Heard(told.rules, told.layout, told.dealing, told.facts, heard)


def counted(one: Blinding) -> tuple[Counter[str], list[str]]:
    """Play a session as it is blinded, and count what became of its rounds."""
    plan = plan_of(one)
    return noise.counted(spoilt(noise.heard(one.seed, plan), one), one.seed, plan)
