"""Reports say what the journal says, to the cent, and bear a signature that any change breaks."""

import io
import random
import re
import zlib
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from models.errors import InputRefused, TechnicianError
from server.cli import run
from server.exits import Exit
from server.pdf import Page, document, jpeg_size, numbered, wide, wrapped
from server.report.as_page import POLICY, STYLE, as_page
from server.report.as_paper import as_paper
from server.report.document import Document, Pairs, Picture, Pictures, Section, Table, Text
from server.report.signature import check_report, signed
from stream.signing import Signer
from tests.server.service.house import House

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
    """Every text of a PDF in the order in which it is drawn."""
    drawn = ""
    for found in re.finditer(rb"/FlateDecode /Length (\d+) >>\nstream\n", pdf):
        content = pdf[found.end() : found.end() + int(found[1])]
        drawn += zlib.decompress(content).decode("latin-1") + "\n"
    said = re.findall(r"\(((?:[^()\\]|\\.)*)\) Tj", drawn)
    return " ".join(re.sub(r"\\(.)", r"\1", one) for one in said)


def wrong_payment(at_work: House, client: httpx.Client) -> dict[str, object]:
    (found,) = at_work.get(client, "/api/violations", code="wrong_payout")["items"]
    return dict(found)


@pytest.mark.parametrize("form", FORMS)
def test_an_incidents_report_tells_the_mistake_and_the_clause_it_breaks(
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


@pytest.mark.parametrize("form", FORMS)
def test_a_sessions_report_tells_every_round_and_mistake(
    at_work: House, officer: httpx.Client, form: str
) -> None:
    made = fetched(officer, f"/api/sessions/bj-07/report.{form}")
    text = words(made) if form == "pdf" else made.decode()
    assert "2 rounds, 2 mistakes found, nothing open." in text
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
    assert "unchanged" in capsys.readouterr().out
    stranger = tmp_path / "other.pem"
    stranger.write_bytes(Signer.create(tmp_path / "other.key").public_pem())
    assert run(["report", "verify", str(file), "--key", str(stranger)]) == Exit.REFUSED
    assert "another key" in capsys.readouterr().err
    file.write_bytes(file.read_bytes().replace(b"Pitwatch", b"Pitwatsh", 1))
    assert run(["report", "verify", str(file)]) == Exit.REFUSED
    assert "changed after it was signed" in capsys.readouterr().err


# --- signature ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.create(tmp_path_factory.mktemp("key") / "report.key")


SAMPLE = Document(
    "Suits ♠♥♦♣ (and brackets\\)",
    "It comes to nothing.",
    (
        Section("Texts", (Text("plain"), Text("wrong", "bad"), Pairs((("Name", "value"),)))),
        Section("A table", (Table(("Name", "#Sum"), (("<b>a & b</b>", "-1.50"),)),)),
    ),
    "the foot",
)


@pytest.mark.parametrize("form", FORMS)
def test_any_bit_that_changes_is_found(key: Signer, form: str) -> None:
    content = as_page(SAMPLE) if form == "html" else as_paper(SAMPLE)
    whole = signed(content, "html" if form == "html" else "pdf", key, 7)
    assert check_report(whole, "report", key.public).at == 7
    draw = random.Random(4)
    line = len(content) * 8
    bits = [*range(line, len(whole) * 8), *(draw.randrange(line) for _ in range(500))]
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(TechnicianError):
            check_report(bytes(changed), "report", key.public)


def test_a_report_cut_short_or_with_more_behind_it_is_refused(key: Signer) -> None:
    whole = signed(as_page(SAMPLE), "html", key, 7)
    for changed in (whole[:-1], whole + b"\n", whole + whole, b"", b"\n", whole[: len(whole) // 2]):
        with pytest.raises(TechnicianError):
            check_report(changed, "report")


# --- pages and paper ----------------------------------------------------------------------


def test_a_page_escapes_what_it_shows_and_needs_nothing_else() -> None:
    page = as_page(SAMPLE).decode()
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    styled = b64encode(sha256(STYLE.encode()).digest()).decode()
    assert f"<style>{STYLE}</style>" in page
    assert f"'sha256-{styled}'" in POLICY


def test_the_same_report_gives_the_same_paper() -> None:
    assert as_paper(SAMPLE) == as_paper(SAMPLE)
    assert "<b>a & b</b>" in words(as_paper(SAMPLE))


def test_a_long_table_goes_on_from_sheet_to_sheet_under_its_headings() -> None:
    rows = tuple((f"row {number}", str(number)) for number in range(300))
    long = Document("Long", "long.", (Section("All", (Table(("Name", "#Number"), rows),)),), "foot")
    pdf = as_paper(long)
    sheets = pdf.count(b"/Type /Page ")
    assert sheets > 4
    said = words(pdf)
    assert said.count("Number") == sheets
    assert [f"row {number}" in said for number in range(300)] == [True] * 300
    assert f"{sheets} of {sheets}" in said


def test_every_object_of_the_file_stands_where_its_table_says() -> None:
    pdf = as_paper(SAMPLE)
    table = int(re.findall(rb"startxref\n(\d+)", pdf)[-1])
    assert pdf[table:].startswith(b"xref\n")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n ", pdf[table:]), start=1):
        assert pdf[int(place) :].startswith(b"%d 0 obj\n" % number)
    assert numbered([b"<< >>"]).endswith(b"%%EOF\n")


def test_lines_are_broken_where_they_are_too_long() -> None:
    text = "a hash of " + "0123456789abcdef" * 20 + " and words behind it"
    for bold in (False, True):
        lines = wrapped(text, 9, 200, bold=bold)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert all(wide(line, 9, bold=bold) <= 200 for line in lines)
    assert wrapped("", 9, 100) == [""]


def test_pictures_are_put_in_as_they_are() -> None:
    jpeg = jpeg_of(40, 20)
    assert jpeg_size(jpeg) == (40, 20, False)
    shown = Document("P", "v.", (Section("S", (Pictures((Picture(jpeg, "a card"),)),)),), "f")
    pdf = as_paper(shown)
    assert jpeg in pdf
    assert b"/Width 40 /Height 20" in pdf
    assert b64encode(jpeg) in as_page(shown)
    with pytest.raises(InputRefused, match="expected a JPEG"):
        document("t", [Page()], [b"no picture at all"])


def jpeg_of(width: int, height: int) -> bytes:
    """The head of a JPEG of that size: what its place in a file is reckoned by."""
    marks = io.BytesIO(b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08")
    marks.seek(0, io.SEEK_END)
    marks.write(height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x03" + bytes(9))
    return marks.getvalue() + b"\xff\xd9"
