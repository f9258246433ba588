"""The commands of README.md and of the tour in docs/commands.md, in order and in one folder."""

import signal
from contextlib import ExitStack
from typing import Final

from server.process.exit_status import Exit
from tests.packaging.running import Shell, answers, free_port, is_free
from tests.packaging.wheel import ROOT

PORT: Final = 8707
"""Where a service listens by default."""
_SERVING: Final = ("pitwatch console", "pitwatch serve")
_INDENT: Final = "    "
_ENDS: Final = (Exit.CLEAN, Exit.FINDINGS, Exit.UNPROVEN)
_SMALL: Final = " --size 1280x720 --fps 4"
"""An eighth of the pixels of a table that is simulated at the default size."""
_EXAMPLES: Final = "pitwatch examples examples"
_SHORT: Final = (
    f"pitwatch simulate examples/demo --force --table BJ-07 --rounds 1 --spots 2{_SMALL}"
)
"""Takes the place of the demo's five rounds, which `make demo` replays."""


PAGES: Final = (ROOT / "README.md", ROOT / "docs/commands.md")
"""The tour goes on in the folder that the README's commands leave."""


def indented() -> list[str]:
    """Return every line that the pages show as code, without its indent."""
    lines = (line for page in PAGES for line in page.read_text("utf-8").splitlines())
    return [line.removeprefix(_INDENT) for line in lines if line.startswith(_INDENT)]


def commands() -> list[str]:
    """Return every command of the program on the pages, as written but for its comment."""
    return [line.split("#")[0].strip() for line in indented() if line.startswith("pitwatch ")]


def run_commands(shell: Shell, *, small: bool = False) -> None:
    """Run them all; those that serve are stopped by Ctrl-C once they answer.

    Args: ``small`` films simulated tables with fewer pixels than the README does, and replays a
    round in place of the demo.
    """
    with ExitStack() as background:
        for written in commands():
            is_filmed = written.startswith("pitwatch simulate")
            line = _smaller(written) if small and is_filmed else written
            if line.startswith(_SERVING):
                _serve(shell, line)
            elif line.endswith("&"):
                background.enter_context(shell.beside(line.removesuffix("&").strip()))
            else:
                shell.run(line, *_ENDS)
            if small and line == _EXAMPLES:
                shell.run(_SHORT)


def _smaller(line: str) -> str:
    """Return a command that simulates a table, its picture small."""
    command, ampersand, _ = line.partition(" &")
    return command + _SMALL + ampersand


def _serve(shell: Shell, line: str) -> None:
    port = PORT if is_free(PORT) else free_port()
    placed = line if port == PORT else f"{line} --port {port}"
    with shell.running(placed, lambda: answers(port), signal.SIGINT):
        pass
