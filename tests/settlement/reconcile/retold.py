"""Prints all that the reconciler says of sessions told by sensors that lie, a line each."""

import argparse

import msgspec

from settlement.reckoning import Reckoning
from tests.sensors.noise import Plan, Rates, heard


def main() -> None:
    """Print what is said of some sessions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rulebook")
    parser.add_argument("times", type=float, help="the stated rates, so many times")
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=10, help="of a session")
    parser.add_argument("--clinging", action="store_true")
    asked = parser.parse_args()
    rates = Rates().times(asked.times)
    plan = Plan(asked.rulebook, rates, asked.rounds, 10, clinging=asked.clinging, show=False)
    for seed in range(asked.sessions):
        told = heard(seed, plan)
        table = Reckoning(told.rules, told.layout, told.dealing)
        for at, observation in told.spoilt:
            for one in table.feed(observation, at):
                print(msgspec.json.encode(one).decode())
        for one in table.finish():
            print(msgspec.json.encode(one).decode())


if __name__ == "__main__":
    main()
