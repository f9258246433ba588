"""No destination receives a card that was not shown at the table."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from server.integration.config import Destination
from tests.server.integration.receivers import Receiver, broker, receiving
from tests.server.integration.relays import configured, hook, metric, relaying
from tests.server.integration.test_brokers import destination, subscribed
from tests.server.integration.test_video_management import genetec, vms
from tests.server.service.house import until, write
from tests.server.service.test_redaction import BURNED, HOLE, NEXT, shoe

SECRETS = (HOLE, BURNED, NEXT, '"draw"', '"raw"', "missing_from", "number 9", "Draw", "MissingFrom")


def everything(to: Destination) -> Destination:
    return msgspec.structs.replace(to, send=("*",), tables=())


def destinations(folder: Path, receiver: Receiver) -> dict[str, Any]:
    cameras = {"BJ-03": "6f1d8a52-9c1e-4f0e-8a53-3f0f3c2b7a10"}
    return {
        "hook": hook(receiver.url),
        "milestone": vms("milestone", receiver, cameras=cameras),
        "genetec": genetec(folder, receiver, cameras=cameras),
    }


@pytest.mark.parametrize("kind", ["hook", "milestone", "genetec"])
@pytest.mark.parametrize("shoes", [1, 2])
def test_over_http(tmp_path: Path, kind: str, shoes: int) -> None:
    played = [event for n in range(shoes) for event in shoe(1_000 * n + 1, n + 1)]
    write(tmp_path / "redacted.journal", *played)
    with receiving() as receiver:
        to = everything(destinations(tmp_path, receiver)[kind])
        with relaying(tmp_path, tmp_path, configured(tmp_path, to)) as meters:
            until(lambda: metric(meters, "delivered_total", kind) >= 12 * shoes)
    sent = "\n".join(sent.path + sent.body.decode() for sent in receiver.taken)
    assert "card_dealt" in sent
    for secret in SECRETS:
        assert secret not in sent


@pytest.mark.slow
def test_over_mqtt(tmp_path: Path) -> None:
    write(tmp_path / "redacted.journal", *shoe(1_000, 1))
    with broker(tmp_path) as found, subscribed(found) as received:
        to = configured(tmp_path, everything(destination(found)))
        with relaying(tmp_path, tmp_path, to):
            until(lambda: len(received.messages) >= 12)
    sent = "\n".join(message.topic + message.payload.decode() for message in received.messages)
    assert "CardDealt" in sent
    for secret in SECRETS:
        assert secret not in sent
