import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.slow(shows="the command line")
def test_help_and_settling_load_neither_pixels_nor_networks() -> None:
    asked = (
        "import sys; from server.cli.app import run; run(['settle', '--help']);"
        "from server.archive import settling; from server.house import rulebooks;"
        "print([name for name in ('av', 'cv2', 'numpy', 'onnxruntime', 'serial')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_service_starts_without_what_makes_pdfs_and_judges_passwords() -> None:
    asked = (
        "import sys, server.service.app; print([name for name in"
        " ('fpdf', 'pyhanko', 'zxcvbn', 'onnxruntime') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["settle"], ["replay"], ["nonsense"], ["settle", "x", "-q"]])
def test_a_command_that_cannot_be_understood_is_exit_2(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "server", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
