"""Training: render, train, calibrate and export the networks.

It uses only the blocks of ``ultralytics``. ``ultralytics`` contacts no host, installs nothing, and
keeps its settings under ``.cache`` of this tree instead of the user's folders.
"""

import os
from pathlib import Path

os.environ["YOLO_OFFLINE"] = "true"
os.environ["YOLO_AUTOINSTALL"] = "false"
os.environ["YOLO_CONFIG_DIR"] = str(Path(__file__).parents[2] / ".cache" / "ultralytics")
