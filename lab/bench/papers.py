"""What a PDF report costs: ``python -m lab.bench.papers``.

Processor time, as the machine may be shared: of the layout with its fonts, and of both signatures.
"""

import argparse
import tempfile
import time
from pathlib import Path

from lab.bench.record import Claim, add_option, record
from server.report.as_paper import as_paper
from server.report.certificate import identity_in
from server.report.document import Document, Section, Table
from server.report.signature import report_of, signed_paper
from stream.signing import Signer

MADE_NS = 1_790_000_000_000_000_000
HEADINGS = ("#Round", "Opened", "Status", "#House", "#Mistakes", "#Open")
OPENED = "Jan 1, 2026, 22:00:02 UTC+02:00"


def report(rounds: int) -> Document:
    """Return a session's report of this many rounds."""
    rows = tuple((str(one), OPENED, "final", "+15,00", "0", "0") for one in range(rounds))
    section = Section("Rounds", (Table(HEADINGS, rows),))
    return Document("Session report", "a bench", (section,), "the foot " * 30, MADE_NS)


def main() -> None:
    """Print the cost of reports of several lengths."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    asked = parser.parse_args()
    claims: list[Claim] = []
    with tempfile.TemporaryDirectory() as folder:
        signer = Signer.create(Path(folder) / "report.key")
        identity = identity_in(Path(folder), "bench", MADE_NS)
        for rounds in (50, 500, 2000):
            began = time.process_time()
            paper = as_paper(report(rounds))
            laid = time.process_time()
            whole = signed_paper(paper, report_of("bench", MADE_NS), signer, identity)
            ended = time.process_time()
            print(
                f"{rounds:5} rounds: {laid - began:.2f} s laid out, {ended - laid:.2f} s signed, "
                f"{len(whole) / 1e6:.2f} MB"
            )
            drawn = f"{rounds:,} rounds: laid out, fonts embedded, tagged"
            claims += [
                Claim(drawn, round(laid - began, 2), "s"),
                Claim(f"{rounds:,} rounds: both signatures", round(ended - laid, 2), "s"),
                Claim(f"{rounds:,} rounds: size", round(len(whole) / 1e6, 2), "MB"),
            ]
    if asked.record:
        record("papers", claims)


if __name__ == "__main__":
    main()
