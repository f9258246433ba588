"""Milestone and Genetec, found by their entry points and sent to a recording server."""

from base64 import b64decode
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.integration.config import Destination, Site
from server.integration.genetec import bookmark
from server.integration.message import Message
from server.integration.milestone import MilestoneSettings, analytics_event
from server.integration.registry import ENTRY_POINTS, kinds
from server.integration.store import RelayStore
from tests.server.integration.receivers import Receiver, receiving
from tests.server.integration.relays import SERVICE, configured, metric, relaying
from tests.server.service.house import until

CAMERA: Final = "6f1d8a52-9c1e-4f0e-8a53-3f0f3c2b7a10"
NAMES: Final = {"m": "urn:milestone-systems"}


def vms(kind: str, receiver: Receiver, **options: Any) -> Destination:
    settings = {"url": f"http://127.0.0.1:{receiver.port}/WebSdk", "cameras": {"BJ-07": CAMERA}}
    return Destination(
        name=kind,
        kind=kind,
        start="beginning",
        first_wait_ms=1,
        longest_wait_s=0.05,
        tries=2,
        settings=settings | options,
    )


def genetec(folder: Path, receiver: Receiver, **options: Any) -> Destination:
    (folder / "password").write_text("a password")
    (folder / "application").write_text("an application id")
    secrets = {"password": {"file": "password"}, "application": {"file": "application"}}
    return vms("genetec", receiver, user="pitwatch", **secrets, **options)


def test_they_are_found_by_their_entry_points() -> None:
    found = {entry.name: entry.dist for entry in entry_points(group=ENTRY_POINTS)}
    assert {"milestone", "genetec"} <= found.keys()
    assert {"milestone", "genetec"} <= set(kinds())


def test_xprotect_gets_an_analytics_event_at_the_cameras_moment(
    evening: Path, tmp_path: Path
) -> None:
    with receiving() as receiver:
        to = configured(tmp_path, vms("milestone", receiver, event="Pitwatch & Co"))
        with relaying(evening, tmp_path, to):
            until(lambda: receiver.taken)
    sent = receiver.taken[0]
    assert sent.headers["Content-Type"].startswith("text/xml")
    root = ElementTree.fromstring(sent.body)
    assert root.tag == "{urn:milestone-systems}AnalyticsEvent"

    def text(path: str) -> str:
        return root.findtext(path, "", NAMES)

    assert text("m:EventHeader/m:Message") == "Pitwatch & Co"
    assert text("m:EventHeader/m:Type") == "violation"
    assert text("m:EventHeader/m:Source/m:FQID/m:ObjectId") == CAMERA
    incident = text("m:EventHeader/m:CustomTag")
    assert incident.startswith("bj-07.")
    assert text("m:Vendor/m:CustomData") == f"{SERVICE}/#/incidents/{incident}"
    assert text("m:Vendor/m:CustomData") in text("m:Description")
    assert text("m:Location") == "BJ-07"
    assert text("m:EventHeader/m:Timestamp").endswith("Z")


def test_security_center_gets_a_bookmark_on_the_tables_camera(
    evening: Path, tmp_path: Path
) -> None:
    with (
        receiving() as receiver,
        relaying(evening, tmp_path, configured(tmp_path, genetec(tmp_path, receiver))),
    ):
        until(lambda: receiver.taken)
    sent = receiver.taken[0]
    scheme, _, word = sent.headers["Authorization"].partition(" ")
    assert (scheme, b64decode(word)) == ("Basic", b"pitwatch;an application id:a password")
    address = urlsplit(sent.path)
    assert address.path == "/WebSdk/action"
    (action,) = parse_qs(address.query)["q"]
    name, _, rest = action.partition("(")
    camera, moment, *text = rest.removesuffix(")").split(",")
    assert name == "AddCameraBookmark"
    assert camera == CAMERA.replace("-", "")
    assert moment.endswith("Z")
    assert len(text) == 1, "a comma would part it into more arguments than there are"
    assert f"{SERVICE}/#/incidents/bj-07." in text[0]


@pytest.mark.parametrize("answer", [b'{"Rsp": {"Status": "Fail"}}', b"<html>", b"[]"])
def test_a_bookmark_that_was_not_added_is_no_delivery(
    evening: Path, tmp_path: Path, answer: bytes
) -> None:
    with receiving(Receiver(answer=answer)) as receiver:
        to = configured(tmp_path, genetec(tmp_path, receiver))
        with relaying(evening, tmp_path, to) as meters:
            until(lambda: metric(meters, "dead_letters_total", "genetec") >= 1)
            assert metric(meters, "delivered_total", "genetec") == 0


@pytest.mark.slow
@given(text=st.text(), table=st.text(min_size=1), session=st.text(min_size=1))
def test_no_text_of_any_table_changes_the_form_that_the_makers_read(
    text: str, table: str, session: str
) -> None:
    message = Message(
        id=f"{quote(session)}:1",
        kind="violation",
        session=session,
        seq=1,
        table=table,
        at=1,
        round=1,
        text=text,
        data={},
    )
    site = Site(Path(), SERVICE)
    settings = MilestoneSettings(url="http://x.example/")
    root = ElementTree.fromstring(analytics_event(message, settings, site))
    assert root.findtext("m:EventHeader/m:Type", "", NAMES) == "violation"
    action = bookmark(CAMERA, message, site)
    assert action.count("(") == action.count(")") == 1
    assert action.count(",") == 2


def test_a_table_without_a_camera_is_a_dead_letter_with_the_reason(
    evening: Path, tmp_path: Path
) -> None:
    with receiving() as receiver:
        to = configured(tmp_path, genetec(tmp_path, receiver, cameras={"BJ-99": CAMERA}))
        with relaying(evening, tmp_path, to) as meters:
            until(lambda: metric(meters, "dead_letters_total", "genetec") >= 1)
    store = RelayStore.open(tmp_path)
    letter = store.letters("dead")[0]
    store.close()
    assert letter.why == "no camera is configured for table BJ-07"
    assert not receiver.sent
