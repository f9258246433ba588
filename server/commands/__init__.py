"""The command line: a file a verb, with its options, its work and its words."""

import os

# Typer and FastAPI load pydantic, which would search all installed packages for plugins: 20 ms.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
