"""Training code: renders, trains, calibrates and exports the networks.

Only the blocks of ``ultralytics`` are used. It looks up no host, installs nothing, and keeps its
settings under ``.cache`` of this tree instead of the user's folders.
"""

import os
from pathlib import Path

os.environ["YOLO_OFFLINE"] = "true"
os.environ["YOLO_AUTOINSTALL"] = "false"
os.environ["YOLO_CONFIG_DIR"] = str(Path(__file__).parents[2] / ".cache" / "ultralytics")
