"""Reports agree with the journal to the cent, and have a signature that any change breaks."""

import re
import socket
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import httpx
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from models.errors import InstallerError
from server.bundle.bundle import Bundle, check_bundle
from server.commands.app import run
from server.process.exit_status import Exit
from server.report.as_page import POLICY, STYLE, as_page
from server.report.as_paper import as_paper
from server.report.certificate import Certified, Identity, identity_in, read_identity
from server.report.document import (
    Document,
    Pairs,
    Picture,
    Pictures,
    Quote,
    Section,
    Table,
    Text,
)
from server.report.pades import NotCertified, check_certified
from server.report.signature import check_report, report_of, signed_page, signed_paper
from stream.signing import Signer, named_key
from tests.server.papers import Paper
from tests.server.service.house import House, house
from vision.crops import encoded

FORMS = ("html", "pdf")


@pytest.fixture(scope="module")
def officer(at_work: House) -> Iterator[httpx.Client]:
    with at_work.signed_in("surveillance") as client:
        yield client


def fetched(client: httpx.Client, path: str) -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.content


def words(pdf: bytes) -> str:
    """Every text of a PDF."""
    return Paper(pdf).text()


def wrong_payment(at_work: House, client: httpx.Client) -> dict[str, object]:
    (found,) = at_work.get(client, "/api/violations", code="wrong_payout")["items"]
    return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_an_incidents_report_names_the_mistake_and_the_clause_it_breaks(
    at_work: House, officer: httpx.Client, form: str
) -> None:
    paid = wrong_payment(at_work, officer)
    made = fetched(officer, f"/api/incidents/bj-07.{paid['round']}/report.{form}")
    text = words(made) if form == "pdf" else made.decode()
    head = at_work.get(officer, "/api/sessions/bj-07")["head"]
    for due in ("wrong_payout", "kansas-shoe", str(paid["clause"]), head[:20], "High severity"):
        assert due in text
    detail = str(paid["detail"])
    assert detail.replace(" ", "") in text.replace(" ", "")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_sessions_report_has_every_round_and_mistake(
    at_work: House, officer: httpx.Client, form: str
) -> None:
    made = fetched(officer, f"/api/sessions/bj-07/report.{form}")
    text = words(made) if form == "pdf" else made.decode()
    assert "2 rounds, 2 mistakes found, 2 incidents open." in text
    for due in ("dealer_hit_hard_17", "wrong_payout", "BJ-07"):
        assert due in text


def test_who_may_not_see_money_gets_no_report(at_work: House) -> None:
    with at_work.signed_in("pit") as pit, at_work.anyone() as program:
        asked = {"label": "x", "scopes": ["take_out", "see_rounds"]}
        made = pit.post("/api/tokens", json=asked).json()
        program.headers["Authorization"] = f"Bearer {made['secret']}"
        assert program.get("/api/sessions/bj-07/report.html").status_code == 403
    with at_work.signed_in("engineer") as engineer:
        assert engineer.get("/api/incidents/bj-07.1/report.pdf").status_code == 403


def test_a_report_of_nothing_is_not_found(officer: httpx.Client) -> None:
    assert officer.get("/api/sessions/none/report.html").status_code == 404
    assert officer.get("/api/incidents/bj-07.99/report.pdf").status_code == 404
    assert officer.get("/api/incidents/bj-07.1/report.doc").status_code == 422


@pytest.mark.parametrize("form", FORMS)
def test_the_command_verifies_a_report_and_finds_a_change(
    at_work: House,
    officer: httpx.Client,
    form: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, key = tmp_path / f"report.{form}", tmp_path / "service.pem"
    file.write_bytes(fetched(officer, f"/api/sessions/bj-07/report.{form}"))
    key.write_bytes(fetched(officer, "/api/report-key"))
    assert run(["report", "verify", str(file), "--key", str(key)]) == Exit.CLEAN
    assert "intact" in capsys.readouterr().out
    own = named_key(str(key), "--key")
    assert run(["report", "verify", str(file), "--key", own]) == Exit.CLEAN
    assert f"signed by {own}" in capsys.readouterr().out
    assert run(["report", "verify", str(file)]) == Exit.UNPROVEN
    assert "who made it" in capsys.readouterr().out
    stranger = tmp_path / "other.pem"
    stranger.write_bytes(Signer.create(tmp_path / "other.key").public_pem())
    assert run(["report", "verify", str(file), "--key", str(stranger)]) == Exit.REFUSED
    assert "another key" in capsys.readouterr().err
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    assert run(["report", "verify", str(file)]) == Exit.REFUSED
    assert "changed" in capsys.readouterr().err


# --- signature ----------------------------------------------------------------------------

NOW_NS = 1_790_000_000_000_000_000


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.create(tmp_path_factory.mktemp("key") / "report.key")


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return identity_in(tmp_path_factory.mktemp("identity"), "Pitwatch reports", NOW_NS)


LETTERS = "Ольга Їжак · Αθήνα · Žluťoučký kůň · İstanbul ğüş · Łódź · ₴ € ₺"
SAMPLE = Document(
    "Suits ♠♥♦♣ (and brackets\\)",
    "It comes to nothing.",
    (
        Section("Texts", (Text("plain"), Text("wrong", "bad"), Pairs((("Name", "value"),)))),
        Section("Quotes", (Quote("“He must hit.”", "Rule Book, Playing the Game"),)),
        Section("A table", (Table(("Name", "#Sum"), (("<b>a & b</b>", "-1.50"),)),)),
        Section("Letters", (Text(LETTERS),)),
    ),
    "the foot",
    NOW_NS,
)


MANIFEST = report_of("a sample", NOW_NS)


def whole_of(form: str, key: Signer, identity: Identity) -> bytes:
    if form == "html":
        return signed_page(as_page(SAMPLE), MANIFEST, key)
    return signed_paper(as_paper(SAMPLE), MANIFEST, key, identity)


def checked(whole: bytes) -> Bundle:
    return check_bundle(whole, Path("the report"))


def certificate_of(whole: bytes) -> Certified:
    found = check_report(checked(whole)).details["certificate"]
    assert isinstance(found, Certified)
    return found


def test_both_signatures_are_checked(key: Signer, identity: Identity) -> None:
    whole = whole_of("pdf", key, identity)
    found = certificate_of(whole)
    assert "Pitwatch reports" in found.subject
    assert found.fingerprint == identity.fingerprint
    with pytest.raises(NotCertified, match="one PDF signature"):
        check_certified(as_paper(SAMPLE))
    changed = whole.replace(b"/Pitwatch", b"/Pitwatsh", 1).replace(b"Page", b"Pag3", 1)
    with pytest.raises(NotCertified):
        check_certified(changed)


def test_a_certificate_that_was_not_valid_then_is_not_proven(
    key: Signer, identity: Identity
) -> None:
    day_ns = 86_400_000_000_000
    for days, left in ((-1, 1), (0, 0), (3653, 0), (3654, 1)):
        manifest = report_of("a sample", NOW_NS + days * day_ns)
        whole = signed_paper(as_paper(SAMPLE), manifest, key, identity)
        assert len(check_report(checked(whole)).left) == left, days


def test_signing_and_checking_ask_nothing_of_a_network(
    key: Signer, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*asked: object) -> None:
        raise AssertionError(f"a connection was asked for: {asked}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert certificate_of(whole_of("pdf", key, identity))


def test_what_is_added_behind_a_pdfs_signature_is_found(key: Signer, identity: Identity) -> None:
    with pytest.raises(NotCertified, match="cover all of it"):
        check_certified(whole_of("pdf", key, identity) + b"\n% more\n")


# --- the certificate ----------------------------------------------------------------------


def test_a_certificate_is_made_once_and_kept(tmp_path: Path) -> None:
    made = identity_in(tmp_path, "Pitwatch reports", NOW_NS)
    assert identity_in(tmp_path, "another name", NOW_NS).fingerprint == made.fingerprint
    key = tmp_path / "report-certificate.key"
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_key_that_others_can_read_or_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        identity_in(tmp_path / name, name, NOW_NS)
    certificate = tmp_path / "one" / "report-certificate.pem"
    key, other = (tmp_path / name / "report-certificate.key" for name in ("one", "other"))
    with pytest.raises(InstallerError, match="not the key of"):
        read_identity(certificate, other)
    key.chmod(0o644)
    with pytest.raises(InstallerError, match="read by others"):
        read_identity(certificate, key)
    with pytest.raises(InstallerError, match=r"no X\.509 certificate"):
        read_identity(other, other)
    key.unlink()
    with pytest.raises(InstallerError, match="cannot be read"):
        identity_in(tmp_path / "one", "one", NOW_NS)


def issued(tmp_path: Path) -> tuple[Path, Path]:
    """Write an RSA certificate that a house's own authority vouches for, and its key."""
    root, key = (rsa.generate_private_key(65537, 2048) for _ in range(2))
    authority, owner = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        for name in ("Casino Authority", "Casino surveillance")
    )
    chain = [
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(authority)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2036, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=own is root, path_length=None), critical=True)
        .sign(root, SHA256())
        for name, own in ((owner, key), (authority, root))
    ]
    certificate, private = tmp_path / "casino.pem", tmp_path / "casino.key"
    certificate.write_bytes(b"".join(one.public_bytes(Encoding.PEM) for one in chain))
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
    return certificate, private


@pytest.mark.slow
def test_a_house_signs_with_a_certificate_of_its_own(evening: Path, tmp_path: Path) -> None:
    identity = read_identity(*issued(tmp_path))
    state = tmp_path / "state"
    with house(evening, state, identity=identity) as at_work:
        at_work.staff()
        with at_work.signed_in("audit") as audit:
            whole = fetched(audit, "/api/sessions/bj-07/report.pdf")
            assert fetched(audit, "/api/report-certificate") == identity.pem()
    found = certificate_of(whole)
    assert (found.subject, found.fingerprint) == (
        "Common Name: Casino surveillance",
        identity.fingerprint,
    )
    assert not (state / "report-certificate.pem").exists()
    signed = Paper(whole).signature()
    assert "Casino surveillance" in signed
    assert "Signature is Valid" in signed


def test_a_certificate_without_its_key_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate, key = issued(tmp_path)
    for option, file, other in (
        ("--report-certificate", certificate, "--report-key"),
        ("--report-key", key, "--report-certificate"),
    ):
        assert run(["serve", str(tmp_path), option, str(file)]) == Exit.REFUSED
        printed = capsys.readouterr().err
        assert f"Give {other} too" in printed
        assert printed.count("\n") == 1


# --- pages and paper ----------------------------------------------------------------------


def test_a_page_escapes_what_it_shows_and_needs_nothing_else() -> None:
    page = as_page(SAMPLE).decode()
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    styled = b64encode(sha256(STYLE.encode()).digest()).decode()
    assert f"<style>{STYLE}</style>" in page
    assert f"'sha256-{styled}'" in POLICY


@pytest.mark.slow
def test_the_same_report_gives_the_same_paper() -> None:
    assert as_paper(SAMPLE) == as_paper(SAMPLE)
    assert "<b>a & b</b>" in words(as_paper(SAMPLE))


@pytest.mark.slow
def test_any_letters_are_printed_in_fonts_that_the_file_embeds() -> None:
    paper = Paper(as_paper(SAMPLE))
    assert LETTERS in paper.text()
    assert "♠♥♦♣" in paper.text()
    assert len(paper.fonts()) == 2
    for font in paper.fonts():
        assert font.is_embedded
        assert font.is_subset
        assert font.has_unicode


@pytest.mark.slow
def test_a_letter_that_the_typefaces_lack_is_printed_as_its_number() -> None:
    def printed_with(name: str) -> str:
        return words(as_paper(Document("T", "t.", (Section(name, (Text(name),)),), "foot.")))

    text = printed_with("dealer 张 伟")
    assert text.count("dealer [U+5F20] [U+4F1F]") == 2
    assert "replaces characters that this document's typefaces lack" in text
    many = "張偉さんの手札を確認配牌확인" * 9
    assert len(re.findall(r"\bU\+[0-9A-F]{4}\b", printed_with(many))) == 2 * len(many)
    assert "[U+" not in printed_with("dealer Łukasz Ґ")


@pytest.mark.slow
def test_headings_tables_and_pictures_are_tagged() -> None:
    jpeg = jpeg_of(40, 20)
    pictures = Section("S", (Pictures((Picture(jpeg, "nine of spades"),)),))
    paper = Paper(as_paper(Document("P", "v.", (*SAMPLE.sections, pictures), "f", NOW_NS)))
    assert paper.info()["Tagged"] == "yes"
    kinds = paper.structure()
    for kind in ("H1", "H2", "P", "BlockQuote", "Table", "TR", "TH", "TD", "Figure", "Caption"):
        assert kind in kinds
    assert '"nine of spades"' in paper.structure_text()


@pytest.mark.slow
def test_a_long_table_goes_on_from_sheet_to_sheet_under_its_headings() -> None:
    rows = tuple((f"row {number}", str(number)) for number in range(300))
    long = Document("Long", "long.", (Section("All", (Table(("Name", "#Number"), rows),)),), "foot")
    paper = Paper(as_paper(long))
    sheets = int(paper.info()["Pages"])
    assert sheets > 4
    text = paper.text()
    assert text.count("Number") == sheets
    assert [f"row {number}" in text for number in range(300)] == [True] * 300
    assert f"{sheets} of {sheets}" in text


@pytest.mark.slow
def test_a_word_too_long_for_its_line_is_cut_and_nothing_of_it_is_lost() -> None:
    long = "0123456789abcdef" * 20
    table = Table(("Name", "Hash"), (("a", f"of {long} and words"),))
    text = words(as_paper(Document("L", "l.", (Section("S", (table,)),), "f")))
    assert long in text.replace("\n", "").replace(" ", "")


@pytest.mark.slow
def test_pictures_are_put_in_as_they_are() -> None:
    jpeg = jpeg_of(40, 20)
    shown = (Picture(jpeg, "a card"), Picture(None, "one that no camera saw"))
    report = Document("P", "v.", (Section("S", (Pictures(shown),)),), "f")
    pdf, page = as_paper(report), as_page(report)
    assert jpeg in pdf
    assert b64encode(jpeg) in page
    assert "one that no camera saw" in words(pdf)
    assert b"one that no camera saw" in page


def jpeg_of(width: int, height: int) -> bytes:
    return encoded(np.full((height, width, 3), 90, np.uint8))
