"""Settles many files in one process: ``python -m tests.settlement.settling FOLDER``.

Each ``RULEBOOK.NAME.jsonl`` of the folder is settled as by ``pitwatch settle --json``; its exit
status and output are printed as one JSON line.
"""

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import msgspec

from server.commands.app import run


def main(folder: Path) -> None:
    """Settle the files of a folder, sorted by name."""
    for file in sorted(folder.glob("*.jsonl")):
        rulebook = file.name.partition(".")[0]
        output = StringIO()
        with redirect_stdout(output):
            status = run(["settle", str(file), "--rulebook", rulebook, "--json"])
        print(msgspec.json.encode((file.name, status, output.getvalue())).decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
