"""The trained networks: their manifests, and running them."""

import hashlib
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

import models
from models.errors import TechnicianError
from vision.inference import InferenceSession, open_session


@dataclass(frozen=True)
class Network:
    """A network ready to run, with the contents of its manifest."""

    manifest: dict[str, Any]
    session: InferenceSession

    def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Run a batch ``(B, H, W, 3)`` uint8 BGR."""
        (answer,) = self.session.run(None, {"picture": np.ascontiguousarray(pictures)})
        return np.asarray(answer, np.float32)


def load_network(name: str) -> Network:
    """Load a shipped network and check it against its manifest.

    Raises:
        TechnicianError: the network is missing or is not the one its manifest describes.
    """
    folder = resources.files(models) / "networks"
    try:
        manifest = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        weights = (folder / f"{name}.onnx").read_bytes()
    except FileNotFoundError as missing:
        raise _damaged(name, "the network is missing") from missing
    if hashlib.sha256(weights).hexdigest() != manifest["sha256"]:
        raise _damaged(name, "the network's file differs from its manifest")
    return Network(manifest, open_session(weights))


def _damaged(name: str, what: str) -> TechnicianError:
    return TechnicianError(
        what,
        where=f"models/networks/{name}",
        way_out="Reinstall Pitwatch, or train it again: python -m vision.training",
    )
