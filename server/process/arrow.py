"""The only module that loads Apache Arrow, with its tracing off.

Arrow's packages are built with OpenTelemetry: with ``ARROW_TRACING_BACKEND=otlp_http`` in a
machine's environment it sends a trace of everything that it reads and writes over HTTP. It reads
the variable once, as it is loaded.
"""

import os

os.environ.pop("ARROW_TRACING_BACKEND", None)

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc
from pyarrow import parquet as pq

__all__ = ["ipc", "pa", "pc", "pq"]
