"""How long each command of README.md takes: ``python -m lab.bench.readme``.

They run in order from the installed wheel in an empty folder. A command that serves is timed
until it answers, and then stopped. Processor time is that of commands that end by themselves; it
changes little with what else the machine does.
"""

import tempfile
from pathlib import Path

from tests.packaging.readme import run_commands
from tests.packaging.running import Shell
from tests.packaging.wheel import installed_wheel


def main() -> None:
    """Build, install, run and print."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "work")
        folder.mkdir()
        shell = Shell(installed_wheel(Path(place)), folder)
        run_commands(shell)
    print("    wall      CPU")
    for line, seconds in shell.seconds.items():
        cpu = f"{shell.cpu_s[line]:6.1f} s" if line in shell.cpu_s else "        "
        print(f"{seconds:6.1f} s {cpu}  {line}")


if __name__ == "__main__":
    main()
