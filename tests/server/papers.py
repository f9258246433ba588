"""A PDF as an ordinary reader has it: what poppler's tools print about it."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Font:
    """A font of a file."""

    is_embedded: bool
    is_subset: bool
    has_unicode: bool


class Paper:
    """A PDF. Without poppler's tools whatever asks it something is skipped."""

    def __init__(self, pdf: bytes) -> None:
        self._pdf = pdf

    def text(self) -> str:
        """Return every text in the order in which it is drawn."""
        return self._ask("pdftotext", "-raw", behind=("-",))

    def info(self) -> dict[str, str]:
        """Return what a reader prints about the file."""
        pairs = (line.partition(":") for line in self._ask("pdfinfo").splitlines())
        return {name: value.strip() for name, _, value in pairs}

    def fonts(self) -> list[Font]:
        """Return the fonts."""
        lines = self._ask("pdffonts").splitlines()[2:]
        marks = (re.findall(r"\b(yes|no)\b", line)[-3:] for line in lines)
        return [Font(*(mark == "yes" for mark in three)) for three in marks]

    def structure_text(self) -> str:
        """Return the structure with its attributes and texts."""
        return self._ask("pdfinfo", "-struct-text")

    def structure(self) -> list[str]:
        """Return the kinds of the structure's elements, in order."""
        lines = self._ask("pdfinfo", "-struct").splitlines()
        return [found[1] for line in lines if (found := re.match(r" *([A-Z]\w*)", line))]

    def pictures(self) -> int:
        """Return how many pictures are drawn."""
        return len(self._ask("pdfimages", "-list").splitlines()) - 2

    def signature(self) -> str:
        """Return what a reader prints about the signature."""
        return self._ask("pdfsig", allowed=(0, 1, 2))

    def _ask(
        self,
        tool: str,
        *options: str,
        behind: tuple[str, ...] = (),
        allowed: tuple[int, ...] = (0,),
    ) -> str:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (apt-get install poppler-utils)")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "paper.pdf"
            file.write_bytes(self._pdf)
            command = [tool, *options, str(file), *behind]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode in allowed, run.stderr
        return run.stdout
