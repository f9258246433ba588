"""Analytics events to a Milestone XProtect event server: an XML document a POST.

The event server takes ``AnalyticsEvent`` of the namespace ``urn:milestone-systems``, on port
9090 unless it was changed; ``Message`` must be the name of an analytics event that was made in
the Management Client. Source: Milestone Developer Documentation, "Analytics Event and MAD
protocol". It was tried on a recording server, not on XProtect.
"""

import re
from typing import Annotated, Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

import msgspec
from msgspec import Meta

from server.integration.config import HttpSettings, Site
from server.integration.message import Message, link_of, utc_text
from server.integration.outgoing import Poster
from server.integration.registry import Registration

NAMESPACE: Final = "urn:milestone-systems"
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Guid = Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]


class MilestoneSettings(HttpSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one event server."""

    event: Annotated[str, Meta(min_length=1, max_length=100)] = "Pitwatch"
    """The analytics event's name, as it was made in the Management Client."""
    cameras: dict[str, Guid] = msgspec.field(default_factory=dict)
    """The camera's id in XProtect for each table; a missing table goes by its own name."""


class Milestone:
    """One event server."""

    def __init__(self, settings: MilestoneSettings, site: Site) -> None:
        self._settings, self._site = settings, site
        self._poster = Poster(settings, site.folder)

    def deliver(self, message: Message) -> None:
        """Send a message; raises ``NotDelivered``."""
        body = analytics_event(message, self._settings, self._site)
        headers = {"Content-Type": "text/xml; charset=utf-8", "User-Agent": "Pitwatch"}
        self._poster.post(self._poster.path, body, headers)

    def close(self) -> None:
        """Close the connection."""
        self._poster.close()


def analytics_event(message: Message, settings: MilestoneSettings, site: Site) -> bytes:
    """Return a message as XProtect requires it; its ``ID`` stays the same when it is sent again."""
    link = link_of(message, site.service_url)
    root = ElementTree.Element("AnalyticsEvent", xmlns=NAMESPACE)
    header = ElementTree.SubElement(root, "EventHeader")
    _add(header, "ID", str(uuid5(NAMESPACE_URL, f"{site.service_url}/{message.id}")))
    _add(header, "Timestamp", utc_text(message.at or 0, 7))
    _add(header, "Type", message.kind)
    _add(header, "Message", settings.event)
    _add(header, "CustomTag", message.incident or message.id)
    source = ElementTree.SubElement(header, "Source")
    camera = settings.cameras.get(message.table)
    if camera is None:
        _add(source, "Name", message.table)
    else:
        _add(ElementTree.SubElement(source, "FQID"), "ObjectId", camera)
    _add(root, "Description", f"{message.text} {link}")
    _add(root, "Location", message.table)
    vendor = ElementTree.SubElement(root, "Vendor")
    _add(vendor, "Name", "Pitwatch")
    _add(vendor, "CustomData", link)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


MILESTONE: Final = Registration(MilestoneSettings, Milestone)
