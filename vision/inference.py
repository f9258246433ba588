"""The only module that loads ONNX Runtime, with its usage reporting off.

The runtime reports usage to its vendor: at import it writes a device id and an event queue under
the user's cache folder, then looks up the vendor's event host. It reads its switch once, at import;
``disable_telemetry_events`` alone comes too late for the files.
"""

import os
from typing import Any, Final, TypeAlias

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

onnxruntime.disable_telemetry_events()

THREADS: Final = 2
"""Threads of a network; the result is the same for any number. Not measured."""

InferenceSession: TypeAlias = Any
"""``onnxruntime.InferenceSession``, which comes without types."""


def open_session(weights: bytes, *, allow_spinning: bool = False) -> InferenceSession:
    """Load a network's weights to run on the CPU."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(allow_spinning)))
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
