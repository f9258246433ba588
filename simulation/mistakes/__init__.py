"""Every violation code as a mistake that is committed once, on purpose, and those ruled on.

A mistake is a function that plays a round (or the few that it needs) and errs in exactly one place.
Cards are rigged so that nothing else happens at the table meanwhile.
"""

from simulation.mistakes import cards as cards
from simulation.mistakes import deal as deal
from simulation.mistakes import dealer as dealer
from simulation.mistakes import options as options
from simulation.mistakes import payment as payment
from simulation.mistakes import rulings as rulings
from simulation.mistakes import wagers as wagers
from simulation.mistakes.catalogue import Mistake, knobs_for, known, mistake_for

__all__ = ["Mistake", "knobs_for", "known", "mistake_for"]
