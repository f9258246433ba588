"""Of every kind of bundle the same is proven: whatever changes in it is found."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from models.errors import PitwatchError
from server.bundle.bundle import Asked, proven_of, read_bundle
from server.bundle.containers import container_of
from server.bundle.earlier import SUMS
from server.bundle.manifest import MANIFEST, opened, sealed
from server.commands.app import run
from server.commands.verify import asked_for, verified
from server.process.exit_status import Exit
from stream.scratch import scratch_folder
from stream.signing import Signer, named_key
from tests.server.bundle.made import EARLIER, KINDS, Made, bundles
from tests.thoroughness import examples

FOLDERS = ("history/2026-03-01", "backup")
SEALS = (MANIFEST, SUMS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return bundles(tmp_path_factory.mktemp("made"))


def copied(bundle: Path, place: Path) -> Path:
    """A copy of a bundle, to be changed."""
    target = place / bundle.name
    if bundle.is_dir():
        return Path(shutil.copytree(bundle, target, dirs_exist_ok=True))
    return Path(shutil.copyfile(bundle, target))


def is_found(bundle: Path, asked: Asked) -> bool:
    """Whether a bundle is refused, before anything of its kind is looked at."""
    try:
        proven_of(read_bundle(bundle), asked)
    except PitwatchError:
        return True
    return False


# --- what is proven of a sound one ----------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_a_bundle_is_proven_with_the_keys_and_the_journal(made: Made, kind: str) -> None:
    path, maker, table = made.folder / kind, made.maker.fingerprint, made.table.fingerprint
    keys = ["--key", maker]
    tables = [] if kind in FOLDERS[:1] else ["--table-key", table]
    journals = [made.journals[kind]]
    if kind == "backup":
        assert run(["verify", str(path), *keys, *tables]) == Exit.CLEAN
        return
    named = [word for journal in journals for word in ("--journal", str(journal))]
    assert run(["verify", str(path), *keys, *tables, *named]) == Exit.CLEAN


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_makers_key_it_is_not_proven_who_made_it(made: Made, kind: str) -> None:
    tables = [made.table.fingerprint] if kind in {"incident.zip", "backup"} else []
    _, verdict = verified(made.folder / kind, asked_for(tables=tables))
    assert [one.what.split(":")[0] for one in verdict.left] == ["who made it, and when"]
    assert verdict.left[0].of_maker


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_version_before_made_is_still_verified(kind: str) -> None:
    maker, table = str(EARLIER / "service.pem"), str(EARLIER / "table.pem")
    keys = ["--table-key", table] if kind == "incident.zip" else []
    keys += [] if kind in FOLDERS else ["--key", maker]
    path = str(EARLIER / kind)
    assert run(["verify", path, *keys]) == (Exit.UNPROVEN if kind in FOLDERS else Exit.CLEAN)
    assert run(["verify", path, *keys, "--allow-unsigned"]) == Exit.CLEAN
    if kind not in FOLDERS:
        assert run(["verify", path, "--key", table]) == Exit.REFUSED


def test_a_journal_that_a_bundle_does_not_rest_on_is_refused(made: Made) -> None:
    other = made.journals["history/2026-03-01"]
    words = ["verify", str(made.folder / "incident.zip"), "--allow-unsigned"]
    assert run([*words, "--journal", str(other)]) == Exit.REFUSED


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_asked_for_and_could_not_be_compared_is_not_proven(made: Made, kind: str) -> None:
    words = ["verify", str(made.folder / kind), "--key", made.maker.fingerprint]
    needs_journal = kind not in {"incident.zip", "backup"}
    status = run([*words, "--table-key", made.table.fingerprint])
    assert status == (Exit.UNPROVEN if needs_journal else Exit.CLEAN)
    if kind != "snapshot.png":
        status = run([*words, "--recording", str(made.folder)])
        assert status == Exit.UNPROVEN


def test_of_several_bundles_each_is_verified_and_the_damaged_one_named(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = copied(made.folder / "report.html", tmp_path)
    damaged.write_bytes(damaged.read_bytes().replace(b"nothing", b"anything"))
    places = [str(damaged), *(str(made.folder / kind) for kind in FOLDERS)]
    assert run(["verify", *places, "--key", made.maker.fingerprint, "--json"]) == Exit.REFUSED
    printed = capsys.readouterr()
    kinds = [msgspec.json.decode(line)["kind"] for line in printed.out.splitlines()]
    assert kinds == ["day", "backup"]
    assert "report.html" in printed.err


def test_a_folder_of_bundles_has_each_of_them_verified(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that was renamed is known by its manifest, and one without a manifest by its name."""
    for name in ("days/2026-03-01", "days/before", ".days.part/2026-03-01"):
        shutil.copytree(made.folder / "history" / "2026-03-01", tmp_path / name)
    verify = ["verify", str(tmp_path), "--key", made.maker.fingerprint]
    assert run(verify) == Exit.CLEAN
    assert capsys.readouterr().out.count("intact") == 2
    (tmp_path / "backups" / "20260601T200000Z").mkdir(parents=True)
    assert run(verify) == Exit.REFUSED
    assert "20260601T200000Z" in capsys.readouterr().err
    assert run(["verify", str(tmp_path / "backups" / "20260601T200000Z")]) == Exit.REFUSED


# --- what is found of one that was changed --------------------------------------------------

BOTH = [
    *(pytest.param(False, kind, id=kind) for kind in KINDS),
    *(pytest.param(True, kind, id=f"earlier-{kind}") for kind in KINDS),
]


def sound(made: Made, *, is_earlier: bool, kind: str) -> tuple[Path, Asked]:
    """A bundle, and the key that signed it."""
    if not is_earlier:
        return made.folder / kind, Asked((made.maker.fingerprint,))
    maker = named_key(str(EARLIER / "service.pem"), "--key")
    return EARLIER / kind, Asked() if kind in FOLDERS else Asked((maker,))


def parts_of(bundle: Path) -> list[Path]:
    return (
        sorted(one for one in bundle.rglob("*") if one.is_file()) if bundle.is_dir() else [bundle]
    )


@pytest.mark.parametrize(("is_earlier", "kind"), BOTH)
@given(data=st.data())
@settings(max_examples=examples(400), deadline=None)
def test_any_bit_that_changes_is_found(
    made: Made, is_earlier: bool, kind: str, data: st.DataObject
) -> None:
    bundle, asked = sound(made, is_earlier=is_earlier, kind=kind)
    with scratch_folder("pitwatch-") as place:
        changed = copied(bundle, place)
        part = data.draw(st.sampled_from(parts_of(changed)))
        content = bytearray(part.read_bytes())
        near = st.integers(max(0, len(content) - 2500), len(content) - 1)  # seals stand at the end
        at = data.draw(st.one_of(st.integers(0, len(content) - 1), near))
        content[at] ^= 1 << data.draw(st.integers(0, 7))
        part.write_bytes(content)
        assert is_found(changed, asked)


@pytest.mark.parametrize(("is_earlier", "kind"), BOTH)
@given(data=st.data())
@settings(max_examples=examples(120), deadline=None)
def test_what_was_cut_off_or_added_within_a_file_is_found(
    made: Made, is_earlier: bool, kind: str, data: st.DataObject
) -> None:
    bundle, asked = sound(made, is_earlier=is_earlier, kind=kind)
    with scratch_folder("pitwatch-") as place:
        changed = copied(bundle, place)
        part = data.draw(st.sampled_from(parts_of(changed)))
        content = part.read_bytes()
        begin = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(begin, len(content)))
        more = data.draw(st.binary(max_size=40))
        assume(content[begin:end] != more)
        part.write_bytes(content[:begin] + more + content[end:])
        assert is_found(changed, asked)


def added(folder: Path) -> None:
    (folder / "note.txt").write_bytes(b"")


def hidden(folder: Path) -> None:
    (folder / parts_of(folder)[0].parent.name / ".more").parent.mkdir(exist_ok=True)
    (folder / parts_of(folder)[0].parent.name / ".more").write_bytes(b"more")


def removed(folder: Path) -> None:
    parts_of(folder)[-1].unlink()


def renamed(folder: Path) -> None:
    part = parts_of(folder)[-1]
    part.rename(part.with_name("other"))


def swapped(folder: Path) -> None:
    one, *_, other = [part for part in parts_of(folder) if part.name not in SEALS]
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def linked(folder: Path) -> None:
    part = parts_of(folder)[-1]
    part.rename(folder.parent / "elsewhere")
    part.symlink_to(folder.parent / "elsewhere")


def unsealed(folder: Path) -> None:
    for name in SEALS:
        (folder / name).unlink(missing_ok=True)


@pytest.mark.parametrize("is_earlier", [False, True], ids=["now", "earlier"])
@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize("change", [added, hidden, removed, renamed, swapped, linked, unsealed])
def test_a_file_that_was_added_removed_renamed_or_swapped_is_found(
    made: Made, tmp_path: Path, is_earlier: bool, kind: str, change: Callable[[Path], None]
) -> None:
    bundle, asked = sound(made, is_earlier=is_earlier, kind=kind)
    changed = copied(bundle, tmp_path)
    assert not is_found(changed, asked)
    change(changed)
    assert is_found(changed, asked)


# --- what is found of one that somebody made anew -------------------------------------------


def seal_of(bundle: Path) -> bytes:
    if bundle.is_dir():
        return (bundle / MANIFEST).read_bytes()
    content = bundle.read_bytes()
    return container_of(content).split(content)[1]


def with_seal(bundle: Path, seal: bytes) -> None:
    """Put another seal into a bundle."""
    if bundle.is_dir():
        (bundle / MANIFEST).write_bytes(seal)
        return
    content = bundle.read_bytes()
    container = container_of(content)
    bundle.write_bytes(container.join(container.split(content)[0], seal))


def resealed(bundle: Path, signer: Signer | None = None, **changes: object) -> None:
    """Make the manifest anew, as somebody does who lacks the maker's key."""
    manifest, _ = opened(seal_of(bundle), bundle)
    with_seal(bundle, sealed(replace(manifest, **changes), signer))


def with_signature(bundle: Path, **changes: object) -> None:
    seal = msgspec.json.decode(seal_of(bundle))
    with_seal(bundle, msgspec.json.encode(seal | changes) + b"\n")


@pytest.mark.parametrize("kind", KINDS)
def test_a_seal_that_another_made_is_found(made: Made, tmp_path: Path, kind: str) -> None:
    stranger = Signer.create(tmp_path / "stranger.key")
    asked = Asked((made.maker.fingerprint,))
    forgeries: list[Callable[[Path], None]] = [
        resealed,
        lambda bundle: resealed(bundle, stranger),
        lambda bundle: resealed(bundle, at=1),
        lambda bundle: resealed(bundle, subject="another"),
        lambda bundle: resealed(bundle, journals=()),
        lambda bundle: with_signature(bundle, signature=""),
        lambda bundle: with_signature(bundle, signature="0" * 128),
        lambda bundle: with_signature(bundle, signature=None),
        lambda bundle: with_signature(bundle, key=""),
        lambda bundle: with_signature(bundle, key=None),
        lambda bundle: with_signature(bundle, key=stranger.public.hex()),
        lambda bundle: with_signature(bundle, sha256="0" * 64),
    ]
    for number, forge in enumerate(forgeries):
        (tmp_path / str(number)).mkdir()
        forged = copied(made.folder / kind, tmp_path / str(number))
        forge(forged)
        assert is_found(forged, asked), number
    for number in range(5, 12):  # a broken seal is refused by whoever asks
        assert is_found(tmp_path / str(number) / Path(kind).name, Asked()), number


@pytest.mark.parametrize("kind", KINDS)
def test_a_bundle_that_says_that_it_is_of_another_kind_is_refused(
    made: Made, tmp_path: Path, kind: str
) -> None:
    own = opened(seal_of(made.folder / kind), kind)[0].kind
    for other in {"incident", "snapshot", "report", "day", "backup"} - {own}:
        forged = copied(made.folder / kind, tmp_path)
        resealed(forged, kind=other)
        with pytest.raises(PitwatchError):
            verified(forged, Asked())
