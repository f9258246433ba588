"""How fast public blackjack simulators play, in the environment that has them.

Run by :mod:`lab.bench.settlement_speed`, in an interpreter of its own, as none of these is
needed by the project: ``python lab/bench/rivals.py NAME ROUNDS`` prints the rounds played in a
second of processor time, and fails where NAME is not installed. Nothing of the project is
imported here.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

PLENTY: Final = 10**9
"""A bankroll that lasts."""


@dataclass(frozen=True)
class Rival:
    """A simulator, and what a round of it is.

    Attributes:
        play: plays so many rounds; returns how many it plays in a second of processor time.
        seats: how many play against the dealer.
        rounds: how many are measured.
        covers: what is played.
    """

    play: Callable[[int], float]
    seats: int
    rounds: int
    covers: str


def _jackblack(rounds: int) -> float:
    player = import_module("jackblack.player")
    seats = [player.Player(f"P{n}", PLENTY, strategy=player.Simple()) for n in range(5)]
    deck = import_module("jackblack.deck").Deck(shuffle=True, num_decks=6)
    game = import_module("jackblack.game").Simulation(seats, deck=deck)
    return _rate(rounds, lambda: game.run(rounds))


def _py21(rounds: int) -> float:
    py21 = import_module("py21")
    game = py21.Game([py21.Player(PLENTY) for _ in range(5)], seed=1)
    return _rate(rounds, lambda: [game.play_round() for _ in range(rounds)])


def _cardsharp(rounds: int) -> float:
    table = import_module("cardsharp.blackjack.blackjack")
    rules = {"blackjack_payout": 1.5, "allow_insurance": True, "min_players": 1}
    rules.update(min_bet=10, max_players=6)
    silent = table.DummyIOInterface()
    game = table.BlackjackGame(rules, silent)

    async def sit_down() -> None:
        for seat in range(5):
            await game.add_player(table.Player(f"P{seat}", silent, table.BasicStrategy()))
        await game.set_state(table.PlacingBetsState())

    async def play() -> None:
        for _ in range(rounds):
            await game.play_round()
            game.reset()

    asyncio.run(sit_down())
    return _rate(rounds, lambda: asyncio.run(play()))


def _gymnasium(rounds: int) -> float:
    world = import_module("gymnasium").make("Blackjack-v1").unwrapped

    def play() -> None:
        for _ in range(rounds):
            seen, _ = world.reset()
            over = False
            while not over:
                seen, _, over, _, _ = world.step(int(seen[0] < 17))

    return _rate(rounds, play)


def _envpool(rounds: int) -> float:
    make = import_module("envpool").make
    worlds = make("Blackjack-v1", env_type="gymnasium", num_envs=1024, num_threads=1)

    def play() -> None:
        seen, _ = worlds.reset()
        done = 0
        while done < rounds:
            totals = seen[0] if isinstance(seen, tuple | list) else seen[:, 0]
            seen, _, over, _, _ = worlds.step((totals < 17).astype("int32"))
            done += int(over.sum())

    return _rate(rounds, play)


def _rate(rounds: int, play: Callable[[], object]) -> float:
    began = time.process_time()
    play()
    return rounds / (time.process_time() - began)


RIVALS: Final = {
    "jackblack": Rival(_jackblack, 5, 10_000, "hit below 16, nothing else; a net a seat"),
    "py21": Rival(_py21, 5, 10_000, "basic strategy, doubles, splits; a net a seat in floats"),
    "cardsharp": Rival(_cardsharp, 5, 1_000, "basic strategy as its 0.1 has it; wins and losses"),
    "gymnasium": Rival(_gymnasium, 1, 50_000, "hit or stand on an endless deck"),
    "envpool": Rival(_envpool, 1, 1_000_000, "the same in C++, 1,024 games at a time"),
}

if __name__ == "__main__":
    print(RIVALS[sys.argv[1]].play(int(sys.argv[2])))
