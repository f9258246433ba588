"""What happened at a table, inferred from every sensor at once.

A *story* is one account of the round: what lies where, and the facts so far. An observation
may mean several things. Each meaning continues a story, weighed by how likely the observation is
in it. Unlikely stories are dropped. Facts are published once the remaining stories agree on them.
When the round is over, the engine settles each remaining story, and a person is asked where money
or a verdict differs.

=================  ==========================================================================
``odds``           how likely each thing is: every constant of the inference
``in_play``        the cards and hands of the round in play
``table``          what lies on the table, by one account of it
``record``         the facts of that account, in order
``card_facts``     what the facts tell of single cards
``holds``          how long a fact is held because it may yet be stated otherwise
``story``          what happened at the table, by one account of it
``shoe``           what left a shoe that reads its cards, and which card it became
``grammar``        who gets the next card, and how likely each card would be
``meaning``        a sighting, and what it may mean
``camera``         what a sighting may mean in a story, and how likely
``deals``          which cards a new track may be
``places``         how likely a card lies where it is seen
``likeness``       how likely a card looks as it is read
``taking``         what changes as a sighting comes to mean something
``going``          what it means that a card is off the felt
``chips``          what a change of chips may mean
``entries``        what people state
``missed``         mistakes that a card unseen would explain
``blind``          mistakes that rest on times in which no camera saw the felt
``closing``        what is asked of a round that is over
``reckoning``      the stories side by side, and what is published
=================  ==========================================================================
"""

from typing import Final

from settlement.native import RECKONING, found

_folder = found(RECKONING)

COMPILED: Final = _folder is not None
"""Whether the reckoning runs in its compiled form."""

if _folder is not None:
    __path__.insert(0, _folder)

# The path must be set before the first of the modules is imported.
# ruff: noqa: E402

from settlement.reckoning.reckoning import Dealing, Reckoning

__all__ = ["COMPILED", "Dealing", "Reckoning"]
