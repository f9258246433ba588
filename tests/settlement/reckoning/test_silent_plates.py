"""The line of the bet plates goes dead: wagers that stay on them are no mistake of the dealer's."""

import pytest

from models.events import CardSighted, PlateRead
from models.judgements import ReviewRaised
from tests.settlement.sessions import reconciled, session


@pytest.mark.parametrize("seed", [103, 104])
def test_wagers_that_all_stay_are_asked_about(seed: int) -> None:
    played = session("kansas-shoe", seed, rounds=3, spots=(1, 2, 4))
    first = next(at for at, (_, said) in enumerate(played.heard) if isinstance(said, CardSighted))
    heard = [
        timed
        for at, timed in enumerate(played.heard)
        if at < first or not isinstance(timed[1], PlateRead)
    ]
    found = [one for one in reconciled(played, heard) if isinstance(one, ReviewRaised)]
    asked = {one.round for one in found if "id the bet plates fall silent?" in one.review.what}
    assert asked == {1, 2, 3}
    for one in found:
        (silent,) = [account for account in one.accounts or () if "fell silent" in account.tells]
        assert not silent.mistakes
