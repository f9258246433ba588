import pytest

from models.cards import Card
from simulation.strategy import Options, choose

ALL = Options(double=True, split=False, surrender=True)
NONE = Options()


def hand(text: str) -> list[Card]:
    return [Card(code) for code in text.split()]


@pytest.mark.parametrize(
    ("cards", "up", "options", "action"),
    [
        pytest.param("TS 6D", "TH", ALL, "surrender", id="16-gives-up-to-a-ten"),
        pytest.param("TS 6D", "TH", NONE, "hit", id="16-hits-where-it-may-not"),
        pytest.param("TS 6D", "6H", ALL, "stand", id="16-stands-on-a-six"),
        pytest.param("TS 2D", "3H", ALL, "hit", id="12-hits-a-three"),
        pytest.param("TS 2D", "4H", ALL, "stand", id="12-stands-on-a-four"),
        pytest.param("6S 5D", "AH", ALL, "double", id="11-doubles-against-an-ace"),
        pytest.param("6S 5D", "AH", NONE, "hit", id="11-hits-where-it-may-not-double"),
        pytest.param("AS 7D", "9H", ALL, "hit", id="soft-18-hits-a-nine"),
        pytest.param("AS 7D", "4H", ALL, "double", id="soft-18-doubles-on-a-four"),
        pytest.param("AS 7D", "4H", NONE, "stand", id="soft-18-stands-where-it-may-not"),
        pytest.param("AS 8D", "TH", ALL, "stand", id="soft-19-stands"),
        pytest.param("2S 3D", "6H", ALL, "hit", id="5-hits"),
        pytest.param("TS 7D", "AH", ALL, "stand", id="hard-17-stands"),
    ],
)
def test_basic_strategy_by_the_cards(cards: str, up: str, options: Options, action: str) -> None:
    assert choose(hand(cards), Card(up), options) == action


@pytest.mark.parametrize(
    ("cards", "up", "splits"),
    [
        ("8S 8D", "TH", True),
        ("AS AD", "AH", True),
        ("9S 9D", "7H", False),
        ("9S 9D", "6H", True),
        ("TS TD", "6H", False),
        ("5S 5D", "6H", False),
        ("4S 4D", "5H", True),
        ("4S 4D", "4H", False),
    ],
)
def test_pairs_are_split_when_it_pays(cards: str, up: str, splits: bool) -> None:
    options = Options(double=True, split=True, double_after_split=True)
    chosen = choose(hand(cards), Card(up), options)
    assert (chosen == "split") is splits
