"""Heavy requests wait their turn in a queue that ends; the memory of all of them is bounded."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import pytest

from models.events import RoundClosed, RoundOpened
from server.service.http.problems import Problem
from server.service.http.turns import AT_ONCE, WAITING, Turns
from server.service.routes import reports
from tests.server.filmed import at
from tests.server.service.house import house, write


async def taken(turns: Turns, *, most: list[int]) -> None:
    async with turns:
        most[0] += 1
        most[1] = max(most)
        await asyncio.sleep(0.001)
        most[0] -= 1


def test_a_few_work_at_once_and_those_beyond_the_queue_are_refused() -> None:
    async def ask() -> tuple[list[BaseException | None], int]:
        turns, most = Turns(at_once=2, waiting=5), [0, 0]
        outcomes = await asyncio.gather(
            *(taken(turns, most=most) for _ in range(10)), return_exceptions=True
        )
        async with turns:  # every turn and every place in the queue came back
            pass
        return outcomes, most[1]

    outcomes, most = asyncio.run(ask())
    refused = [one for one in outcomes if one is not None]
    assert (len(refused), most) == (3, 2)
    assert all(
        isinstance(one, Problem) and one.status == 503 and one.headers == {"Retry-After": "5"}
        for one in refused
    )


def test_work_that_was_admitted_goes_on_however_many_wait() -> None:
    async def ask() -> str:
        turns = Turns(at_once=1, waiting=1)
        async with turns:
            waiting = asyncio.create_task(taken(turns, most=[0, 0]))
            going_on = asyncio.create_task(again(turns))
            await asyncio.sleep(0)
            with pytest.raises(Problem):
                async with turns:
                    pass
        await waiting
        return await going_on

    assert asyncio.run(ask()) == "went on"


async def again(turns: Turns) -> str:
    async with turns.next():
        return "went on"


def test_a_waiter_that_leaves_gives_its_place_back() -> None:
    async def ask() -> None:
        turns = Turns(at_once=1, waiting=1)
        async with turns:
            waiting = asyncio.create_task(taken(turns, most=[0, 0]))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            waiting = asyncio.create_task(taken(turns, most=[0, 0]))
            await asyncio.sleep(0)
        await waiting

    asyncio.run(ask())


def test_reports_beyond_the_queue_are_refused_and_the_others_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, asked = threading.Event(), AT_ONCE + WAITING + 4
    signed, at_work, most = reports._signed, [0], [0]
    lock = threading.Lock()

    def slowly(*given: object) -> bytes:
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        going.wait(20)
        with lock:
            at_work[0] -= 1
        return signed(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(reports, "_signed", slowly)
    write(
        tmp_path / "bj-01.journal",
        RoundOpened(at=at(12), table="BJ-01", round=1),
        RoundClosed(at=at(20), table="BJ-01"),
    )
    with house(tmp_path, tmp_path / "state") as own:
        own.staff()
        with own.signed_in("surveillance") as officer, ThreadPoolExecutor(asked) as people:
            path = "/api/sessions/bj-01/report.html"
            answers = [people.submit(officer.get, path) for _ in range(asked)]
            refused = [one.result() for one in islice(as_completed(answers), 4)]
            going.set()
            given = [one.result().status_code for one in answers]
    assert (given.count(200), given.count(503)) == (asked - 4, 4)
    assert [one.status_code for one in refused] == [503] * 4
    assert all(one.headers["Retry-After"] == "5" for one in refused)
    assert most[0] == AT_ONCE
