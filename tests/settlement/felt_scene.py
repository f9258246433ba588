"""Sensors of a table told by hand: what the shoe, camera, plates and console say, and when."""

from collections.abc import Mapping
from typing import Literal, Self

import msgspec

from models.cards import Card
from models.events import (
    AnyFact,
    AnyObservation,
    CardGone,
    CardSighted,
    ConsoleEntry,
    Dealt,
    Face,
    HandNo,
    PlateRead,
    ReaderFault,
    ShoeCardRead,
)
from models.judgements import ReviewRaised
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.reckoning import Reckoning
from settlement.rulebooks import parse
from simulation.places import dealer_card, hole_card, spot_places, up_card
from stream.library import layout_text, rulebook_text
from vision.scenes.performance import Place

MS = 1_000_000
START_NS = 1_700_000_000 * 10**9
CUT_OFF = ["How did the round end? The session ended before its cards were taken up."]
"""What is asked of a round in play as the session ends."""
UNSEEN: Mapping[str, float] = {"": 0.0}
"""The camera never sees the card."""
UNREAD: Mapping[str, float] = {}
"""The camera sees the card and cannot read it."""


def rulebook(name: str) -> Rulebook:
    return parse(rulebook_text(name), name).rules


FELT = msgspec.toml.decode(layout_text("five-spots"), type=TableLayout)
RULES = rulebook("kansas-shoe")


class Scene:
    """A shoe game, one thing after another. Every act takes the time it takes at a table."""

    def __init__(self, rules: Rulebook = RULES) -> None:
        self._rules = rules
        self._now = START_NS
        self._heard: list[tuple[int, AnyObservation]] = []
        self._draws = 0
        self._tracks = 0
        self._plates: dict[tuple[int, str], int] = {}
        self._lying: dict[tuple[Dealt, HandNo], list[tuple[int, Place]]] = {}
        self._split: set[int] = set()

    def wait(self, ms: int) -> Self:
        """Let time pass."""
        self._now += ms * MS
        return self

    def chips(self, spot: int, circle: str | int, change: int) -> Self:
        """Chips are laid down or taken off, and the plate reports 300 ms later."""
        key = (spot, str(circle))
        self._plates[key] = total = self._plates.get(key, 0) + change
        self.wait(400)
        report = PlateRead(source=f"plate:{spot}", spot=spot, circle=key[1], amount=total)
        self._say(report, after_ms=300)
        return self.wait(450)

    def deal(
        self,
        to: Dealt,
        card: str,
        *,
        hand: int = 0,
        face: Face = "up",
        shoe: str | None = "",
        camera: Mapping[str, float] | None = None,
        place: Place | None = None,
        seen_after_ms: int = 760,
        sideways: bool = False,
    ) -> Self:
        """One card leaves the shoe and comes to rest.

        Args:
            to: whose card it is.
            card: which card it is.
            hand: which hand of the spot.
            face: which side shows.
            shoe: what the reader says where that is another card; ``None``: nothing at all.
            camera: what the camera gives each face, where it does not read the card rightly.
            place: where the card lies, if not where it is due.
            seen_after_ms: when the camera tells of it.
            sideways: laid across, as a double's card.
        """
        self._draws += 1
        if shoe is not None:
            said = Card(shoe or card)
            self._say(ShoeCardRead(source="shoe", card=said, draw=self._draws, raw="00"))
        where = place or self._due(to, hand, face)
        if sideways:
            where = Place(where.x_mm, where.y_mm, where.angle_deg + 90)
        self._tracks += 1
        self._lying.setdefault((to, hand), []).append((self._tracks, where))
        if camera is not UNSEEN:
            faces = {card: 0.9995} if camera is None else camera
            self.sight(self._tracks, where, face, faces, rest_ms=540, seen_ms=seen_after_ms)
        return self.wait(900)

    def deal_round(self, cards: str, *, spots: tuple[int, ...] = (1,)) -> Self:
        """Deal the first two cards of each spot and the dealer, his second face down."""
        names = iter(cards.split())
        for face in ("up", "down"):
            for spot in spots:
                self.deal(spot, next(names))
            self.deal("dealer", next(names), face="down" if face == "down" else "up")
        return self

    def sight(
        self,
        track: int,
        where: Place,
        face: Face,
        faces: Mapping[str, float],
        *,
        change: Literal["new", "read", "moved", "turned"] = "new",
        rest_ms: int = 0,
        seen_ms: int = 160,
        single_look: bool = False,
    ) -> None:
        """The camera tells of a card that rests since ``rest_ms`` from now."""
        likeliest = max(faces, key=lambda name: faces[name], default="")
        sure = face == "up" and faces.get(likeliest, 0) >= 0.99
        seen = CardSighted(
            source="camera:overhead",
            track=track,
            change=change,
            face=face,
            card=Card(likeliest) if sure else None,
            candidates=dict(faces) if face == "up" else {},
            x_mm=where.x_mm,
            y_mm=where.y_mm,
            angle_deg=where.angle_deg,
            frame=0,
            crop=(0, 0, 1, 1),
            single_look=single_look,
        )
        self._say(seen, after_ms=seen_ms, at_ms=rest_ms)

    def read_again(self, to: Dealt, card: int, faces: Mapping[str, float]) -> Self:
        """The camera reads a card that lies on the felt once more."""
        track, where = self._lying[to, 0][card]
        self.sight(track, where, "up", faces, change="read")
        return self.wait(200)

    def look_again(self, to: Dealt, card: int, faces: Mapping[str, float]) -> Self:
        """The camera looks at a card that lies on the felt, and tells of that look alone."""
        track, where = self._lying[to, 0][card]
        self.sight(track, where, "up", faces, change="read", single_look=True)
        return self.wait(200)

    def turn_hole(self, card: str) -> Self:
        """The dealer turns his face-down card beside his up card."""
        track, _ = self._lying["dealer", 0][1]
        faces = {card: 0.9995}
        where = dealer_card(1)
        self.sight(track, where, "up", faces, change="turned", rest_ms=500, seen_ms=700)
        return self.wait(900)

    def split(self, spot: int, hand: int = 0, *, lost: str | None = None) -> Self:
        """The dealer moves the two cards of a hand apart.

        ``lost`` is what both cards are where the camera loses their tracks, and tells of the
        new hand's card first.
        """
        own = self._lying[spot, hand]
        new = 1 + max(number for owner, number in self._lying if owner == spot)
        self._split.add(spot)
        self._lying[spot, new] = [own.pop()]
        for number in (new, hand):
            track, _ = self._lying[spot, number][0]
            where = spot_places(FELT, spot).card(number, 0)
            if lost is None:
                self.sight(track, where, "up", UNREAD, change="moved", rest_ms=500, seen_ms=700)
            else:
                gone = CardGone(source="camera:overhead", track=track, frame=0)
                self._say(gone, after_ms=900 if number == hand else 905)
                self._tracks = track = self._tracks + 1
                self.sight(track, where, "up", {lost: 0.9995}, rest_ms=500, seen_ms=700)
            self._lying[spot, number] = [(track, where)]
        return self.wait(900)

    def take(self, to: Dealt, hand: int = 0, *, last_told_ms: int = 160) -> Self:
        """The cards of a hand are taken up; of the last one the camera tells after so long."""
        self.wait(450)
        lying = self._lying.pop((to, hand))
        for told_ms, (track, _) in zip(
            [*(160 for _ in lying[1:]), last_told_ms], lying, strict=True
        ):
            gone = CardGone(source="camera:overhead", track=track, frame=0)
            self._say(gone, after_ms=told_ms, at_ms=160)
        return self.wait(120)

    def enter(self, fact: AnyFact, *, late_ms: int = 0) -> Self:
        """A person enters a fact at the console."""
        entered = msgspec.structs.replace(fact, at=self._now + late_ms * MS)
        self._say(ConsoleEntry(source="console:floor", fact=entered), after_ms=late_ms)
        return self.wait(40)

    def fault(self, source: str, kind: str) -> Self:
        """A device sends bytes that are no reading."""
        self._say(ReaderFault(source=source, kind=kind, detail="noise on the line"))
        return self

    # --- what comes of it -----------------------------------------------------------------

    def observations(self) -> list[tuple[int, AnyObservation]]:
        """Return everything said, in the order of its arrival."""
        heard = sorted(self._heard, key=lambda timed: timed[0])
        return [
            (at, msgspec.structs.replace(said, seq=seq))
            for seq, (at, said) in enumerate(heard, start=1)
        ]

    def said(self) -> tuple[AnyFact | ReviewRaised, ...]:
        """Return the facts and review items reconciled from it."""
        table = Reckoning(self._rules, FELT)
        spoken = [said for at, heard in self.observations() for said in table.feed(heard, at)]
        return (*spoken, *table.finish())

    def facts(self) -> list[AnyFact]:
        """Return the facts alone."""
        return [said for said in self.said() if not isinstance(said, ReviewRaised)]

    def lines(self, *kinds: str) -> list[str]:
        """Return the facts of these kinds, or all, each on one line."""
        shown = [line(fact) for fact in self.facts()]
        return [text for text in shown if not kinds or text.partition(" ")[0] in kinds]

    def reviews(self) -> list[str]:
        """Return what is left to a person."""
        return [said.review.what for said in self.said() if isinstance(said, ReviewRaised)]

    def _say(self, said: AnyObservation, *, after_ms: int = 0, at_ms: int | None = None) -> None:
        at = self._now + (after_ms if at_ms is None else at_ms) * MS
        stamped = msgspec.structs.replace(said, at=at)
        self._heard.append((self._now + after_ms * MS, stamped))

    def _due(self, to: Dealt, hand: int, face: Face) -> Place:
        number = len(self._lying.get((to, hand), ()))
        if to == "dealer":
            return hole_card() if face == "down" else dealer_card(number) if number else up_card()
        slot = hand if to in self._split else None
        return spot_places(FELT, to).card(slot, number)


def reader(rules: Rulebook, layout: TableLayout, *, played: int = 0) -> Reckoning:
    """Return what reads the scenes of this module."""
    return Reckoning(rules, layout, played=played)


def gone(card: str) -> str:
    """Return what is asked about a card of the shoe that no camera saw."""
    return f"Where did {card} go? It left the shoe and was not seen on the felt."


def apart(by_shoe: str, by_camera: str, card: str = "the first card of spot 1") -> str:
    """Return what is asked about a card that the shoe and the camera read differently."""
    return f"Is {card} {by_shoe}, as the shoe read it, or {by_camera}, as the camera did?"


def line(fact: AnyFact) -> str:
    """Write a fact on one line, without its time, evidence and probability."""
    shown = msgspec.to_builtins(fact)
    kind = shown.pop("type")
    unsaid = ("seq", "at", "table", "evidence", "probability")
    return " ".join([kind, *(f"{name}={it}" for name, it in shown.items() if name not in unsaid)])
