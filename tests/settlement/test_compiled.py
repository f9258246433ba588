"""The compiled forms and their sources say the same of everything, byte for byte."""

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from msgspec.structs import replace

from models import events as ev
from models.cards import DECK, Card
from models.errors import OperatorError
from models.events import AnyFact
from settlement import COMPILED, native, reconcile
from simulation.dealing import deal_session
from simulation.mistakes import known
from simulation.table import Table
from tests.settlement.table import IDS, rules
from tests.thoroughness import ALL, one_in

GOLDEN = sorted(Path("tests/golden").glob("*.judged.jsonl"))
CARDS = (*DECK, *map(Card, ("AS", "8H", "8C", "TD", "A?", "8?")), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(os.path.isdir(native.folder(form)) for form in native.FORMS),  # noqa: PTH112
        reason="nothing is compiled here; scripts/compile does it where a C compiler is",
    ),
]


Answer: TypeAlias = tuple[int, str]
"""The exit status and the output of a command."""
Answers: TypeAlias = dict[str, tuple[Answer, Answer]]
"""What the compiled and the interpreted form say, by the file's name."""


def _run(command: Iterable[str], *, compiled: bool) -> subprocess.CompletedProcess[bytes]:
    hidden = {} if compiled else {native.INTERPRETED: "1"}
    shown = {name: value for name, value in os.environ.items() if name != native.INTERPRETED}
    return subprocess.run(
        [sys.executable, *command], env=shown | hidden, capture_output=True, check=False
    )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Return what both forms say of every file: `pitwatch settle` is started once for each form."""
    folder = tmp_path_factory.mktemp("settled")
    for file in GOLDEN:
        (folder / f"kansas-shoe.{file.name}").write_bytes(file.read_bytes())
    for rulebook in IDS:
        _write(folder / f"{rulebook}.played.jsonl", _played(rulebook))
        chance = random.Random(rulebook)
        _write(folder / f"{rulebook}.odd.jsonl", (_at_random(chance) for _ in range(6000)))
    compiled, interpreted = (_settled(folder, compiled=form) for form in (True, False))
    assert compiled.keys() == interpreted.keys()
    return {name: (compiled[name], interpreted[name]) for name in compiled}


def _settled(folder: Path, *, compiled: bool) -> dict[str, Answer]:
    """Return the exit status and output of ``pitwatch settle`` for each file of a folder."""
    run = _run(["-m", "tests.settlement.settling", str(folder)], compiled=compiled)
    assert run.returncode == 0, run.stderr.decode()
    lines = (msgspec.json.decode(line) for line in run.stdout.splitlines())
    found = {name: (status, output) for name, status, output in lines}
    assert {status for status, _ in found.values()} <= {0, 3}
    return found


def _write(file: Path, facts: Iterable[AnyFact]) -> None:
    file.write_bytes(b"\n".join(msgspec.json.encode(fact) for fact in _numbered(facts)))


def _numbered(facts: Iterable[AnyFact]) -> Iterator[AnyFact]:
    """Number the rounds in their order: a file whose numbers go backward is refused."""
    numbers = count(1)
    for fact in facts:
        opens = isinstance(fact, ev.RoundOpened)
        yield replace(fact, round=next(numbers)) if opens else fact


def _agree(compiled: Answer, interpreted: Answer) -> None:
    assert compiled[1].count("\n") > 10
    assert compiled == interpreted


def _place(chance: random.Random, to: ev.Dealt) -> ev.Place:
    places: tuple[ev.Place, ...] = ("rack", ev.HandPlace(to=to), ev.HandPlace(to="dealer"))
    return chance.choice(places)


def _with_names(chance: random.Random, spot: int, hand: int, cents: int) -> Iterator[AnyFact]:
    """Yield chips of others than the spot's player, and chips that the floor takes off."""
    bettor, bet = chance.choice((None, "ANN", "BOB")), chance.choice((None, "pairs"))
    kind: ev.WagerKind = chance.choice(("main", "double", "split", "side", "toke", "coupon"))
    paid: ev.PaidKind = chance.choice(("main", "insurance", "side", "toke", "coupon"))
    yield ev.WagerPlaced(spot=spot, hand=hand, kind=kind, amount=cents, bet=bet, bettor=bettor)
    yield ev.PaymentMade(spot=spot, hand=hand, kind=paid, amount=cents, bet=bet, bettor=bettor)
    yield ev.WagerRemoved(spot=spot, hand=hand, kind=kind, amount=cents, by="floor", bettor=bettor)


def _at_random(chance: random.Random) -> AnyFact:
    """Return any fact at all, as likely as not one that cannot be."""
    spot, hand = chance.choice((1, 1, 2, 3, 99)), chance.choice((0, 0, 0, 1, 2, 15))
    to: ev.Dealt = chance.choice((spot, spot, "dealer"))
    cents = chance.choice((0, 1, 25, 500, 1000, 1025, 10**12))
    card = chance.choice(CARDS)
    kind: ev.WagerKind = chance.choice(("main", "main", "double", "split", "insurance", "side"))
    actions: tuple[ev.Action, ...] = ("hit", "stand", "double", "split", "surrender", "even_money")
    facts: tuple[AnyFact, ...] = (
        *[ev.CardDealt(to=to, hand=hand, card=card, face=chance.choice(("up", "down")))] * 6,
        *[ev.WagerPlaced(spot=spot, hand=hand, kind=kind, amount=cents)] * 3,
        *[ev.PlayerActed(spot=spot, hand=hand, action=chance.choice(actions))] * 3,
        *[ev.CardExposed(to=to, hand=hand, card=card)] * 2,
        *[ev.PaymentMade(spot=spot, hand=hand, amount=cents - 500)] * 2,
        ev.WagerRemoved(spot=spot, hand=hand, kind=kind, amount=cents),
        *_with_names(chance, spot, hand, cents),
        ev.HandCalledOff(spot=spot, hand=chance.choice((None, hand))),
        ev.RoundCalledOff(),
        ev.CardMoved(card=card, origin=_place(chance, to), to=_place(chance, to)),
        ev.DiscardsReshuffled(),
        ev.TrayChanged(amount=cents, reason="fill"),
        ev.HoleCardChecked(blackjack=chance.random() < 0.5),
        ev.PlayerSeated(player=chance.choice("AB"), spots=(spot,)),
        ev.PlayerLeft(player=chance.choice("AB"), spots=(spot,)),
        ev.CardsTouched(spot=spot, manner="two_hands"),
        ev.ShoeStarted(decks=chance.randint(1, 8)),
        ev.CardBurned(card=card),
        ev.CardBoxed(card=card),
        ev.TrayCounted(amount=cents),
        ev.CutCardReached(),
        ev.RoundOpened(round=chance.randint(1, 9)),
        ev.RoundClosed(),
    )
    return chance.choice(facts)


def _played(rulebook: str) -> Iterator[AnyFact]:
    """Deal random rounds, and mistakes that this house can make: each in one house or in all."""
    yield from (step.fact for step in deal_session(Table(rules(rulebook), (1, 2, 3, 5), 3), 400, 3))
    for code in one_in(len(IDS), sorted(known()), IDS.index(rulebook)):
        with suppress(OperatorError):
            table = Table(rules(rulebook), (1, 2, 3, 4, 5, 6, 7), 5)
            yield from (step.fact for step in deal_session(table, 2, 5, mistakes=(code,)))


@pytest.mark.parametrize("rulebook", IDS)
def test_rounds_with_and_without_mistakes_settle_alike(rulebook: str, answers: Answers) -> None:
    _agree(*answers[f"{rulebook}.played.jsonl"])


@pytest.mark.parametrize("rulebook", IDS)
def test_what_cannot_be_settles_alike(rulebook: str, answers: Answers) -> None:
    _agree(*answers[f"{rulebook}.odd.jsonl"])


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.name)
def test_golden_sessions_settle_alike(file: Path, answers: Answers) -> None:
    compiled, interpreted = answers[f"kansas-shoe.{file.name}"]
    assert compiled == interpreted


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [("kansas-shoe", "5"), ("kansas-shoe", "5", "--clinging"), ("pitch-double-deck", "1")],
    ids=" ".join,
)
def test_what_lying_sensors_say_is_reconciled_alike(noise: tuple[str, ...]) -> None:
    """Every fact and review item, with its evidence and its probability."""
    rounds = "10" if ALL or noise[0] != "pitch-double-deck" else "2"
    sessions = ("--sessions", "4" if ALL else "1", "--rounds", rounds)
    told = ["-m", "tests.settlement.reconcile.retold", *noise, *sessions]
    compiled, interpreted = (_run(told, compiled=form) for form in (True, False))
    assert compiled.returncode == 0, compiled.stderr.decode()
    assert compiled.stdout.count(b"\n") > 20 * int(rounds)
    assert compiled.stdout == interpreted.stdout


@pytest.mark.parametrize(
    ("form", "changed"),
    [
        (native.ENGINE, "settlement/dealer.py"),
        (native.RECONCILER, "settlement/dealer.py"),
        (native.RECONCILER, "settlement/reconcile/weighing.py"),
        (native.RECKONING, "settlement/reconcile/looks.py"),
        (native.RECKONING, "settlement/reckoning/story.py"),
    ],
)
def test_a_changed_source_is_never_run_in_an_old_form(
    form: native.Form, changed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder's name is a hash of the sources: changed ones have no compiled form."""
    for name in native.sources(form):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(Path(name).read_bytes())
    current = os.path.basename(native.folder(form))  # noqa: PTH119
    monkeypatch.setattr(native, "_ROOT", str(tmp_path))
    assert os.path.basename(native.folder(form)) == current  # noqa: PTH119
    (tmp_path / "build/compiled" / current).mkdir(parents=True)
    monkeypatch.delenv(native.INTERPRETED, raising=False)
    assert native.found(form) == str(tmp_path / "build/compiled" / current)
    with (tmp_path / changed).open("a") as file:
        file.write("\n")
    assert native.found(form) is None


@pytest.mark.parametrize(
    "module", ["settlement.engine", "settlement.reconcile.weighing", "settlement.reckoning.story"]
)
def test_the_compiled_form_can_be_kept_out(module: str) -> None:
    package = module.rpartition(".")[0]
    told = f"import {module} as m, {package} as p; print(p.COMPILED, m.__file__)"
    for compiled in (True, False):
        said = _run(["-c", told], compiled=compiled).stdout.decode()
        assert said.split()[0] == str(compiled)
        assert said.strip().endswith(".py") is not compiled


def test_these_tests_run_the_forms_that_they_say() -> None:
    assert COMPILED is reconcile.COMPILED is not bool(os.environ.get(native.INTERPRETED))
