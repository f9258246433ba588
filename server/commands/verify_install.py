"""``pitwatch verify-install``: compare the installed program with its wheel."""

from dataclasses import asdict

import msgspec
import typer
from rich.text import Text

from server.commands.options import Json
from server.house.wording import counted
from server.process.exit_status import Exit
from server.process.install_check import InstallDifferences, check_install
from server.process.program import ROOT, Program, this_program
from server.process.terminal import print_json, screen

app = typer.Typer()


@app.command("verify-install", epilog="[dim]pitwatch verify-install --json[/dim]")
def verify_install(*, as_json: Json = False) -> None:
    """Compare the installed program with the manifest of its wheel; print the program's hash.

    The command lists files that were changed, removed or added. Every journal records the
    program's hash among its first entries.

    Exit 0 if nothing differs, 2 if something does, 5 in a checkout, which has no manifest.
    """
    raise typer.Exit(print_differences(as_json=as_json))


def print_differences(*, as_json: bool) -> Exit:
    """Compare the program's files with its manifest, and print the differences.

    Raises:
        TechnicianError: the manifest is missing, or there are several.
    """
    found, program = check_install(), this_program()
    if as_json:
        print_json(_as_json(found, program))
    else:
        screen().print(_as_text(found, program), soft_wrap=True)
    if found is None:
        return Exit.UNPROVEN
    return Exit.REFUSED if found.altered else Exit.CLEAN


def _as_json(found: InstallDifferences | None, program: Program) -> dict[str, object]:
    state = "checkout" if found is None else "altered" if found.altered else "unchanged"
    differences = {} if found is None else asdict(found)
    return {"state": state, "folder": str(ROOT)} | differences | msgspec.structs.asdict(program)


def _as_text(found: InstallDifferences | None, program: Program) -> Text:
    if found is None:
        text = Text("not proven", style="bold yellow")
        text.append("  this is a checkout: no wheel was installed, so there is no manifest")
    elif found.altered:
        text = Text("altered", style="bold red")
        text.append(f"  {counted(found.checked, 'file')} compared with the wheel's manifest")
        for word in ("changed", "missing", "added"):
            for name in getattr(found, word):
                text.append(f"\n{word}: {name}")
    else:
        text = Text("unchanged", style="bold green")
        text.append(f"  {counted(found.checked, 'file')} are as the wheel installed them")
    text.append(f"\nversion {program.version} in {ROOT}\nprogram hash {program.program_hash}")
    if program.compiled_hash:
        text.append(f"\ncompiled engine {program.compiled_hash}")
    for name, digest in program.networks.items():
        text.append(f"\nnetwork {name} {digest}", style="dim")
    return text
