"""A report's formats of times and amounts."""

from collections.abc import Iterable
from dataclasses import dataclass

from models.money import Cents
from server.house.formatting import Formats
from server.house.wording import capitalised
from settlement.balance import Totals


@dataclass(frozen=True, slots=True)
class Words:
    """A report's formats of times and amounts."""

    formats: Formats
    currency: str

    def moment(self, at_ns: int | None) -> str:
        """Write an instant in the house's zone; a missing one gets a word of its own."""
        return self.formats.moment(at_ns) if at_ns else "not known"

    def fine(self, at_ns: int) -> str:
        """Write an instant to the millisecond."""
        return self.formats.moment(at_ns, fine=True)

    def amount(self, minor: Cents) -> str:
        """Write an amount; the report states its currency elsewhere."""
        return self.formats.amount(minor, self.currency)

    def signed(self, minor: Cents | None) -> str:
        """Write a gain or loss."""
        return self.formats.signed(minor, self.currency)

    def sentences(self, says: Iterable[str]) -> str:
        """Write what a round came to."""
        return self.formats.sentences(says, self.currency)

    def still_open(self, totals: Totals) -> str:
        """Write what is still to be paid."""
        return capitalised(self.formats.still_open(totals, self.currency))

    def sentence(self, detail: str) -> str:
        """Write a mistake's detail."""
        return self.formats.sentence(detail, self.currency)

    def question(self, asked: str) -> str:
        """Write the question of a suspected mistake."""
        return self.formats.question(asked, self.currency)

    def about(self, at_ns: int) -> tuple[tuple[str, str], ...]:
        """Describe the report's zone and currency."""
        return (
            ("Times", f"of the house: {self.formats.zone(at_ns)}"),
            ("Amounts", f"in {self.currency}"),
        )
