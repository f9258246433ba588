"""``pitwatch journal``: is the record what was written, by whom, and where is its copy?"""

from collections.abc import Iterable
from pathlib import Path

from rich.text import Text

from models.errors import OperatorError
from server.console import print_json, screen
from server.wording import counted
from stream.copies import backup_journal
from stream.journal import Verified, verify_journal
from stream.signing import Signer, fingerprint, read_public_key


def show_verified(file: Path, keys: Iterable[Path], *, as_json: bool) -> None:
    """Check a journal and say so.

    Raises:
        TechnicianError: naming the first bad entry.
        InstallerError: a public key is none.
    """
    public = [read_public_key(key) for key in keys]
    found = verify_journal(file, public)
    if as_json:
        print_json(_facts(file, found) | {"keys_given": [key.hex() for key in public]})
    else:
        screen().print(_story(file, found, trusted=bool(public)))


def back_up(file: Path, copy: Path, *, as_json: bool) -> None:
    """Copy a journal, verify the copy and say so; raises as :func:`backup_journal`."""
    found = backup_journal(file, copy)
    if as_json:
        print_json(_facts(copy, found))
    else:
        screen().print(_story(copy, found, trusted=False))


def export_keys(file: Path, public: Path | None, *, as_json: bool) -> None:
    """Make the private key where there is none, and write its public half.

    Raises:
        InstallerError: the private key's file is no key, or others can read it.
        OperatorError: a file cannot be written, or stands where the public key would go.
    """
    target = public or file.with_name(file.name + ".pub.pem")
    made = not file.exists()
    signer = Signer.create(file) if made else Signer.read(file)
    _write_public(target, signer)
    if as_json:
        said = {"private": str(file), "public": str(target), "made": made}
        print_json(said | {"key": signer.public.hex(), "fingerprint": fingerprint(signer.public)})
        return
    line = Text("made" if made else "kept", style="bold green")
    line.append(f"  {file}: keep it on the table's machine, readable by its user alone")
    line.append(f"\n      {target}: give it to whoever verifies, by a way of its own")
    line.append(f"\nkey {signer.public.hex()}", style="dim")
    line.append(f"\nfingerprint {fingerprint(signer.public)}", style="dim")
    screen().print(line)


def _write_public(target: Path, signer: Signer) -> None:
    text = signer.public_pem()
    if target.exists() and target.read_bytes() != text:
        raise OperatorError(
            "another public key stands there", where=str(target), way_out="Name a new file"
        )
    target.write_bytes(text)


def _facts(file: Path, found: Verified) -> dict[str, object]:
    return {
        "file": str(file),
        "entries": found.entries,
        "head": found.head,
        "sealed": found.sealed,
        "signed": found.signed,
        "keys": list(found.keys),
    }


def _story(file: Path, found: Verified, *, trusted: bool) -> Text:
    line = Text("intact", style="bold green")
    line.append(f"  {file}: {counted(found.entries, 'entry', 'entries')}, chain unbroken")
    line.append(f"\nhead {found.head}", style="dim")
    if found.signed:
        whose = "the key given" if trusted else f"key {', '.join(found.keys)}"
        line.append(f"\nsigned up to entry {found.signed} by {whose}")
    if found.signed and not trusted:
        line.append("\nname the table's public key with --key to know it is its own", "yellow")
    if not found.sealed:
        unproved = "unused bytes of its pages may have changed unnoticed"
        line.append(f"\nnot closed in order: its entries are proved, {unproved}", style="yellow")
    return line
