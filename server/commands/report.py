"""``pitwatch report``: verify a report's signature."""

from pathlib import Path

import msgspec
from rich.text import Text

from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from server.report.signature import read_report
from stream.clock import utc
from stream.signing import named_key


def verify_report(file: Path, key: str | None, *, as_json: bool) -> Exit:
    """Check a report and print what is proven: without ``key``, not its signer.

    Raises:
        TechnicianError: it is unsigned, has changed, or another key signed it.
        InstallerError: the key is invalid.
    """
    found = read_report(file, None if key is None else named_key(key, "--key"))
    proven = Exit.UNPROVEN if key is None else Exit.CLEAN
    if as_json:
        print_json(msgspec.to_builtins(found) | {"file": str(file), "key_given": key is not None})
        return proven
    line = Text("unchanged", style="bold green" if key else "bold yellow")
    line.append(f"  {file}: as it was signed at {utc(found.at)}")
    line.append(f"\nsha256 {found.sha256}\nsigned by {found.key}", style="dim")
    if found.certificate is not None:
        line.append("\nPDF signature fits", "green")
        line.append(f": {found.certificate.subject}")
        line.append(f"\ncertificate sha256 {found.certificate.fingerprint}", style="dim")
    if key is None:
        line.append("\nnot proven: who signed it. Anybody can sign a changed report", "yellow")
        line.append(" with their own key; give the service's key with --key", "yellow")
    screen().print(line)
    return proven
