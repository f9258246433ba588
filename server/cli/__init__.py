"""The command line: arguments and help, one file a group of commands."""

import os

# Typer and FastAPI load pydantic, which would search all installed packages for plugins: 20 ms.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
