"""Incident PDFs of recorded sessions: every card, the disputed chips, both signatures.

``recordings/*.events.jsonl.gz`` are the entries of journals as ``pitwatch replay`` wrote them: of
the demo, and of ``pitwatch simulate bj-09 --seed 3 --rounds 2 --spots 1,3 --mistake
split_wager_mismatch --mistake wrong_payout``. The second is filmed again here, a third as wide.
"""

import gzip
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import httpx
import msgspec
import numpy as np
import pytest

from models.errors import TechnicianError
from models.events import CardSighted
from models.house import House as Writes
from models.judgements import AnyEvent
from server.bundle.bundle import check_bundle
from server.demo import SESSION
from server.report.signature import check_report
from simulation.session import Settings, simulate
from stream.journal import Journal
from tests.server.papers import Paper
from tests.server.service.house import House, house
from tests.thoroughness import one_in
from vision.scenes.look import Look

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parent / "recordings"
SMALL = Look(width_px=640, height_px=360, fps=10, noise_sigma=1.0)
SPLIT = Settings(
    rounds=2, seed=3, spots=(1, 3), mistakes=("split_wager_mismatch", "wrong_payout"), look=SMALL
)
KYIV = Writes(zone="Europe/Kyiv", locale="uk-UA", currency="UAH")
COMMENT = "Перевірено, Їжак. Ελέγχθηκε. Žluťoučký kůň, İstanbul."


@dataclass(frozen=True)
class Evening:
    """A service with a recorded session, and its incidents on paper."""

    at: House
    client: httpx.Client
    session: str
    made: dict[tuple[int, str], bytes] = field(default_factory=dict)
    """Reports, each made once: their content does not change."""

    def report(self, number: int, form: str = "pdf") -> bytes:
        """Return an incident's report."""
        if (number, form) not in self.made:
            answer = self.client.get(f"/api/incidents/{self.session}.{number}/report.{form}")
            assert answer.status_code == 200, answer.text
            self.made[number, form] = answer.content
        return self.made[number, form]

    def cards(self, number: int) -> int:
        """Count the cards of a round as it settled."""
        row = self.at.get(self.client, f"/api/sessions/{self.session}/rounds/{number}")
        result = row["result"]
        hands = [result["dealer"], *(hand for spot in result["spots"] for hand in spot["hands"])]
        return sum(len(hand["cards"]) + len(hand["burned"]) for hand in hands)


def written(name: str, journal: Path, scale: int = 1) -> None:
    """Write a journal of recorded entries, their pictures so many times smaller."""
    lines = gzip.decompress((RECORDED / f"{name}.events.jsonl.gz").read_bytes()).splitlines()
    decoder = msgspec.json.Decoder(AnyEvent)
    with Journal.create(journal) as target:
        target.append_all(smaller(decoder.decode(line), scale) for line in lines)


def smaller(event: AnyEvent, scale: int) -> AnyEvent:
    if not isinstance(event, CardSighted):
        return event
    left, top, width, height = (one // scale for one in event.crop)
    return msgspec.structs.replace(event, crop=(left, top, width, height))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evening]:
    place = tmp_path_factory.mktemp("demo")
    written("demo", place / "bj-07.journal")
    with house(place, place / "state", recordings=SESSION.resolve()) as found:
        found.staff()
        with found.signed_in("surveillance") as client:
            yield Evening(found, client, "bj-07")


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evening]:
    place = tmp_path_factory.mktemp("split")
    film = place / "recordings" / "bj-09"
    film.parent.mkdir()
    simulate(replace(SPLIT, table="BJ-09"), film)
    description = film / "session.toml"
    description.write_text(description.read_text("utf-8").replace('"USD"', '"UAH"'), "utf-8")
    written("split", place / "bj-09.journal", scale=3)
    with house(place, place / "state", recordings=film, of=KYIV) as found:
        found.staff()
        with found.signed_in("surveillance") as client:
            client.post("/api/incidents/bj-09.1/comments", json={"text": COMMENT})
            yield Evening(found, client, "bj-09")


@pytest.fixture(params=one_in(2, ("demo-5", "demo-4", "split-1", "split-2")))
def incident(request: pytest.FixtureRequest) -> tuple[Evening, int]:
    name, _, number = request.param.partition("-")
    return request.getfixturevalue(name), int(number)


CIRCLES = {"demo-4": 0, "demo-5": 2, "split-1": 2, "split-2": 2}


def test_every_card_of_the_round_is_shown(
    incident: tuple[Evening, int], request: pytest.FixtureRequest
) -> None:
    evening, number = incident
    circles = CIRCLES[request.node.callspec.params["incident"]]
    cards = evening.cards(number)
    assert cards >= 6
    page = evening.report(number, "html").decode()
    assert page.count("<img ") == cards + circles
    paper = Paper(evening.report(number))
    assert f"The round's {cards} cards, each as the camera saw it." in paper.text()
    assert paper.pictures() == cards + circles
    assert paper.structure().count("Figure") == cards + circles


def test_a_reader_finds_fonts_tags_and_a_signature(incident: tuple[Evening, int]) -> None:
    evening, number = incident
    whole = evening.report(number)
    paper = Paper(whole)
    assert all(font.is_embedded and font.has_unicode for font in paper.fonts())
    assert paper.info()["Tagged"] == "yes"
    signed = paper.signature()
    for line in ("Signature is Valid", "Total document signed", "ETSI.CAdES.detached"):
        assert line in signed
    assert check_report(check_bundle(whole, Path("report"))).proven


def test_both_signatures_notice_a_change(demo: Evening) -> None:
    whole = demo.report(5)
    assert "Signature is Valid" in Paper(whole).signature()
    place = whole.index(b"/Title")
    changed = whole[:place] + b"/Tutle" + whole[place + 6 :]
    assert "Signature is Valid" not in Paper(changed).signature()
    with pytest.raises(TechnicianError, match="changed after it was made"):
        check_bundle(changed, Path("report"))


def test_a_disputed_payment_shows_what_the_plates_reported(demo: Evening) -> None:
    text = " ".join(Paper(demo.report(5)).text().split())
    assert "The bet plate reported 15.00 (3 of 5.00), entry 346." in text
    assert "The bet plate reported 25.00 (5 of 5.00), entry 406." in text
    assert "“the winning hand will be paid 1/1.” Kansas Lottery: rules of blackjack" in text


def test_a_house_reads_its_own_time_letters_and_currency(split: Evening) -> None:
    text = " ".join(Paper(split.report(1)).text().split())
    for due in ("Europe/Kyiv, UTC+02:00", "22:00:02 UTC+02:00", "січ", "in UAH", "+5,00 UAH"):
        assert due in text
    assert COMMENT in text


def test_a_mistakes_description_has_amounts_as_the_tables_have(split: Evening) -> None:
    for form in ("pdf", "html"):
        made = split.report(1, form)
        text = " ".join((Paper(made).text() if form == "pdf" else made.decode()).split())
        assert "split wager 20,00; it must be 15,00" in text
        assert "20.00" not in text


def test_every_entry_that_is_named_lies_in_the_stated_entries(
    incident: tuple[Evening, int],
) -> None:
    evening, number = incident
    text = " ".join(Paper(evening.report(number)).text().split())
    stated = re.search(r"Entries (.*?) Journal", text)
    assert stated is not None
    spans = re.findall(r"(\d+)(?: to (\d+))?", stated[1])
    inside = {seq for first, last in spans for seq in range(int(first), int(last or first) + 1)}
    ledger = text.partition(" Account For Amount ")[2]
    named = re.findall(r"(?<!up to )\bentry (\d+)", text)
    named += re.findall(r"\b(\d+) (?:spot:|tray)", ledger)
    assert len(named) > 8
    assert {int(one) for one in named} <= inside


def test_cards_are_shown_free_of_the_hand_without_numbers_of_pictures(
    split: Evening,
) -> None:
    """This film has 10 pictures a second and the journal counts 15: their numbers do not fit."""
    for number in (1, 2):
        page = split.report(number, "html").decode()
        pictures = re.findall(r"data:image/jpeg;base64,([^\"]+)", page)
        cards = pictures[: split.cards(number)]
        assert len(cards) >= 6
        assert max(hand_share(b64decode(one)) for one in cards) < 0.15


def hand_share(jpeg: bytes) -> float:
    """How much of a picture has the colour of the hand that deals in this film."""
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    hue, saturation, value = cv2.split(cv2.cvtColor(picture, cv2.COLOR_BGR2HSV))
    skin = (hue < 16) & (saturation > 60) & (saturation < 150) & (value > 110)
    return float(skin.mean())
