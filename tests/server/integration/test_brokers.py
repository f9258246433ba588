"""MQTT 5 in the form of ONVIF's event broker, published to a real mosquitto."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from models.events import RoundOpened
from server.commands.relay import trial
from server.integration.config import Destination
from server.integration.delivery import Fate, NotDelivered
from server.integration.registry import make_deliverer
from tests.server.integration.receivers import Broker, broker
from tests.server.integration.relays import configured, metric, relaying
from tests.server.service.house import until, write

pytestmark = pytest.mark.slow

mqtt = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed: make test")

WORD: Final = "a broker's password"


def destination(found: Broker, **options: Any) -> Destination:
    settings = {"host": "127.0.0.1", "port": found.port, "tls": False, "prefix": "house/pit-1"}
    return Destination(
        name="broker",
        kind="mqtt",
        start="beginning",
        first_wait_ms=1,
        longest_wait_s=0.05,
        settings=settings | {"timeout_ms": 2000} | options,
        send=("violation", "round_opened"),
    )


@dataclass
class Received:
    """What a subscriber of the broker received."""

    messages: list[Any] = field(default_factory=list)

    def payloads(self) -> list[Any]:
        return [msgspec.json.decode(message.payload) for message in self.messages]


@contextmanager
def subscribed(found: Broker, word: str | None = None) -> Iterator[Received]:
    """Subscribe to everything; a subscription is kept while the broker is away."""
    received, ready = Received(), threading.Event()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.reconnect_delay_set(1, 1)
    client.on_connect = lambda *_: client.subscribe("#", 1)
    client.on_subscribe = lambda *_: ready.set()
    client.on_message = lambda _client, _data, message: received.messages.append(message)
    if word is not None:
        client.username_pw_set("pitwatch", word)
    client.connect("127.0.0.1", found.port)
    client.loop_start()
    try:
        assert ready.wait(10)
        yield received
    finally:
        client.disconnect()
        client.loop_stop()


def test_a_mistake_is_published_in_onvifs_form(evening: Path, tmp_path: Path) -> None:
    with (
        broker(tmp_path) as found,
        subscribed(found) as received,
        relaying(evening, tmp_path, configured(tmp_path, destination(found))),
    ):
        until(lambda: any("Violation" in one.topic for one in received.messages))
    message = next(one for one in received.messages if "Violation" in one.topic)
    payload = msgspec.json.decode(message.payload)
    assert message.topic == "house/pit-1/onvif-ej/pitwatch:Table/Violation/&BJ-07/bj-07"
    assert message.qos == 1
    assert message.properties.ContentType == "application/json"
    assert set(payload) == {"UtcTime", "Source", "Data"}
    assert payload["Source"] == {"Table": "BJ-07", "Session": "bj-07"}
    data = payload["Data"]
    assert data["Incident"] == f"bj-07.{data['Round']}"
    assert data["Link"].endswith(f"/#/incidents/{data['Incident']}")
    assert {"Code", "Clause", "Text", "Id", "Seq"} <= set(data)
    assert all(isinstance(value, str | int | float) for value in data.values())


def test_a_broker_that_goes_and_comes_back_gets_everything(tmp_path: Path) -> None:
    rounds = [RoundOpened(round=n, at=n * 1_000, table="BJ-09") for n in range(1, 9)]
    with broker(tmp_path) as found, subscribed(found) as received:
        write(tmp_path / "a.journal", *rounds)
        found.stop()
        with relaying(tmp_path, tmp_path, configured(tmp_path, destination(found))) as meters:
            until(lambda: metric(meters, "failed_total", "broker") > 2)
            assert metric(meters, "delivered_total", "broker") == 0
            found.start()
            until(lambda: metric(meters, "delivered_total", "broker") >= 8)
            assert metric(meters, "dead_letters_total", "broker") == 0
    numbers = [payload["Data"]["Round"] for payload in received.payloads()]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("word", [WORD, "the wrong one"])
def test_only_with_the_brokers_password_is_anything_taken(tmp_path: Path, word: str) -> None:
    (tmp_path / "word").write_text(word + "\n")
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with broker(tmp_path, password=WORD) as found:
        to = destination(found, user="pitwatch", password={"file": "word"})
        with relaying(tmp_path, tmp_path, configured(tmp_path, to)) as meters:
            counted = "delivered_total" if word == WORD else "failed_total"
            until(lambda: metric(meters, counted, "broker") >= 1)
            assert metric(meters, "dead_letters_total", "broker") == 0


def test_a_silent_broker_is_given_up_in_time(tmp_path: Path) -> None:
    with broker(tmp_path) as found:
        settings = configured(tmp_path, destination(found, timeout_ms=300))
        found.stop()
        deliverer = make_deliverer(settings.config.destinations[0], settings.site)
        with pytest.raises(NotDelivered, match="broker") as failed:
            deliverer.deliver(trial(1))
    assert failed.value.fate is Fate.WAIT
