"""Whether a device of this machine is plugged in: the node that its address names.

A device that is plugged in again gets its node back at once. A device behind a network has no node.
"""

import os
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    """Distinguishes a device node from an earlier one of the same name.

    It includes mode and owner. udev sets them a moment after it creates the node, and the port
    cannot be opened before.
    """

    filesystem: int
    inode: int
    device: int
    mode: int
    owner: int
    group: int


def local_path(url: str) -> Path | None:
    """Return the node that an address names; ``None`` for addresses such as ``socket://``."""
    return None if "://" in url or os.name != "posix" else Path(url)


def node_at(path: Path) -> Node | None:
    """Return the node at a path, through links; ``None`` while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return Node(
        found.st_dev, found.st_ino, found.st_rdev, found.st_mode, found.st_uid, found.st_gid
    )
