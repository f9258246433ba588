"""Check an incident against the table's journal; only the file is needed.

The bundle is sound already: every file is the one that was exported. Here its facts are derived
again from the proven entries, and its recorded files compared with the journal's hashes.
"""

from collections.abc import Iterator, Sequence

import msgspec

from models.errors import InputRefused
from server.archive.incident import EVENTS, PROOF, Facts, subject_of
from server.archive.incident_claims import differences, found_unsigned, of_recordings, tables_named
from server.archive.incident_recordings import Differs
from server.bundle.bundle import Asked, Bundle, Open, Verdict
from server.bundle.manifest import damaged
from server.house.wording import counted
from stream.excerpt import Proof, faults, signed_by


def check_incident(bundle: Bundle, asked: Asked) -> Verdict:
    """Check an incident; return what the table's key proves of it.

    Raises:
        TechnicianError: naming the difference from what the table recorded, or another table's key.
    """
    facts, files = bundle.manifest.about_as(Facts, bundle.path), bundle.content
    for name in (EVENTS, PROOF):
        if name not in files:
            raise damaged(bundle.path, f"{name} is missing")
    bodies = files[EVENTS].split(b"\n")[:-1]
    try:
        proof = msgspec.json.decode(files[PROOF], type=Proof)
        for difference in _differences(facts, proof, bodies, bundle):
            raise damaged(bundle.path, difference)
        recordings = of_recordings(facts, proof, bodies, files)
    except Differs as fault:
        raise damaged(bundle.path, str(fault)) from fault
    except InputRefused as fault:
        raise damaged(bundle.path, f"{fault.where}: {fault.what}") from fault
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise damaged(bundle.path, f"{PROOF} does not follow its format") from fault
    key = signed_by(proof)
    if asked.tables and key not in asked.tables:
        by = "not signed" if key is None else f"signed by another key, {key}"
        raise damaged(bundle.path, f"its events are {by}; a table's key was named")
    details = {
        "events": proof.last - proof.first + 1,
        "journal_key": key,
        "exporter_key": bundle.signer,
        "manifest": facts,
        "trusted": {"table": bool(asked.tables), "exporter": bool(asked.makers)},
    }
    proven = _proven(facts, recordings) if asked.tables else ()
    left = (
        *_unproven_entries(proof, bodies, is_trusted=bool(asked.tables)),
        *(Open(what, of_maker=True) for what in recordings),
    )
    return Verdict(tuple(proven), left, details, tuple(_contents(facts)))


def _differences(
    facts: Facts, proof: Proof, bodies: Sequence[bytes], bundle: Bundle
) -> Iterator[str]:
    if (proof.first, proof.last) != (facts.first, facts.last):
        yield "its proof is of other events"
    if bundle.manifest.subject not in (subject_of(facts), f"table {facts.table}"):
        yield "its manifest is not of the table and time that its facts name"
    if [(proof.to, proof.head)] != [(one.entries, one.head) for one in bundle.manifest.journals]:
        yield "its proof is not of the entry that it rests on"
    for difference in faults(proof, bodies):
        yield f"{EVENTS}: {difference}"
    yield from differences(facts, proof, bodies, bundle.content)


def _proven(facts: Facts, recordings: Sequence[str]) -> Iterator[str]:
    entries = counted(facts.last - facts.first + 1, "entry", "entries")
    yield f"table, times and {entries} {facts.first} to {facts.last}, by the table's key"
    if facts.round is not None:
        yield f"that the entries belong to round {facts.round}, by the table's key"
    if not recordings:
        yield "all video and bytes of that time, in recorded/ and serial/, by the table's key"


def _unproven_entries(proof: Proof, bodies: Sequence[bytes], *, is_trusted: bool) -> Iterator[Open]:
    key = signed_by(proof)
    if key is None:
        yield Open("the entries: no signature of the journal covers them")
    elif not is_trusted:
        yield Open(
            f"the entries: key {key} signed them; anybody can sign changed entries with their own "
            "key; give the table's key with --table-key"
        )
    if not tables_named(proof, bodies):
        yield Open("the table: the journal names none")
    for first, last in found_unsigned(proof, bodies):
        yield Open(
            f"entries {first} to {last}: a process found them unsigned when it started, and did "
            "not see them written"
        )


def _contents(facts: Facts) -> Iterator[str]:
    clips = sum(span is not None for span in facts.clips.values())
    yield f"{counted(facts.last - facts.first + 1, 'event')}, {counted(clips, 'clip')}"
    for name, span in sorted(facts.clips.items()):
        if span is None:
            yield f"no clip of camera {name} is in the file"
