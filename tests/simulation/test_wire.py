from hypothesis import given
from hypothesis import strategies as st

from devices.plates import Plates
from devices.reading import Reading
from devices.registry import make_driver
from models.cards import DECK, Card
from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from simulation.betting import PlateChange
from simulation.staging import ShoeMoment
from simulation.wire import STABLE_NS, ShoeDriver, plate_reads, shoe_reads

MS = 1_000_000
DRIVERS = st.sampled_from(["angel-eye", "line"])
CARDS = st.lists(st.sampled_from(DECK), max_size=30)


@given(cards=CARDS, driver=DRIVERS, seed=st.integers(0, 99))
def test_a_shoe_reports_each_card_once_in_order(
    cards: list[Card], driver: ShoeDriver, seed: int
) -> None:
    moments = [ShoeMoment(0, "fresh")]
    moments += [ShoeMoment(900 * MS * n, card) for n, card in enumerate(cards, start=1)]
    moments.append(ShoeMoment(900 * MS * (len(cards) + 1), "cut"))
    shoe, readings = make_driver(driver), list[Reading]()
    for at_ns, chunk in shoe_reads(moments, driver, seed):
        readings += shoe.feed(chunk, at_ns)
    assert [read.card for read in readings if isinstance(read, ShoeCardRead)] == cards
    assert sum(isinstance(read, ShoeCutCard) for read in readings) == 1
    assert sum(isinstance(read, ShoeLoaded) for read in readings) == 1
    assert not any(isinstance(read, ReaderFault) for read in readings)


@given(cards=CARDS, driver=DRIVERS, seed=st.integers(0, 99))
def test_reads_arrive_in_order_and_never_before_the_card(
    cards: list[Card], driver: ShoeDriver, seed: int
) -> None:
    moments = [ShoeMoment(900 * MS * n, card) for n, card in enumerate(cards, start=1)]
    times = [at_ns for at_ns, _ in shoe_reads(moments, driver, seed)]
    assert times == sorted(set(times))
    assert not moments or times[0] > moments[0].at_ns


def plate_readings(*changes: PlateChange) -> list[tuple[int, int]]:
    plates, readings = Plates(), list[tuple[int, int]]()
    for at_ns, chunk in plate_reads(changes, 1):
        for read in plates.feed(chunk, at_ns):
            assert isinstance(read, PlateRead)
            readings.append((at_ns, read.amount))
    return readings


def test_a_plate_reports_an_amount_once_it_has_rested() -> None:
    ((at_ns, amount),) = plate_readings(PlateChange(1000 * MS, 1, "0", {500: 3}))
    assert amount == 1500
    assert at_ns > 1000 * MS + STABLE_NS


def test_a_plate_passes_over_what_did_not_rest() -> None:
    readings = plate_readings(
        PlateChange(1000 * MS, 1, "0", {500: 3}),
        PlateChange(1200 * MS, 1, "0", {500: 4}),
    )
    assert [amount for _, amount in readings] == [2000]


def test_a_plate_is_silent_when_the_same_amount_lies_there_again() -> None:
    readings = plate_readings(
        PlateChange(1000 * MS, 1, "0", {500: 3}),
        PlateChange(2000 * MS, 1, "0", {500: 1}),
        PlateChange(2100 * MS, 1, "0", {500: 3}),
    )
    assert [amount for _, amount in readings] == [1500]


def test_an_emptied_circle_is_reported_as_nothing() -> None:
    readings = plate_readings(PlateChange(0, 1, "I", {500: 1}), PlateChange(900 * MS, 1, "I", {}))
    assert [amount for _, amount in readings] == [500, 0]
