"""A real RTSP server of GStreamer's, a process of its own: it needs the system's Python.

``rtsp_server.py PORT PIPELINE`` serves ``rtsp://127.0.0.1:PORT/table`` until it is killed. It
prints a line once it listens, and one with the time (nanoseconds) whenever it begins to show.
"""

import sys
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402 - the version comes first


def watch(_factory: object, media: Any) -> None:
    def changed(_media: object, state: int) -> None:
        if state == Gst.State.PLAYING:
            print(time.time_ns(), flush=True)

    media.connect("new-state", changed)


def main() -> None:
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(sys.argv[1])
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(sys.argv[2])
    factory.set_shared(True)
    factory.connect("media-configure", watch)
    server.get_mount_points().add_factory("/table", factory)
    if not server.attach(None):
        sys.exit(f"port {sys.argv[1]} is taken")
    print("listening", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
