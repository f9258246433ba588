"""Every mistake of the format, made in the middle of a random round, once."""

from tests.settlement.plain.slips import cards as cards
from tests.settlement.plain.slips import deal as deal
from tests.settlement.plain.slips import dealer as dealer
from tests.settlement.plain.slips import options as options
from tests.settlement.plain.slips import payment as payment
from tests.settlement.plain.slips import wagers as wagers
from tests.settlement.plain.slips.clumsy import WAYS, Clumsy

__all__ = ["WAYS", "Clumsy"]
