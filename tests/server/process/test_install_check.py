"""What ``verify-install`` finds in a folder as a wheel's installation leaves it."""

import base64
import hashlib
import importlib.util
import py_compile
from pathlib import Path

import pytest

from models.errors import TechnicianError
from server.process.install_check import InstallDifferences, check_install

FILES = {
    "pitwatch/__init__.py": b"LIMIT = 17\n",
    "settlement/dealer.py": b"def draws(total):\n    return total < 17\n",
    "models/networks/reader.onnx": bytes(range(256)),
}


def line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    described = tmp_path / "pitwatch-0.1.0.dist-info"
    described.mkdir()
    record = "".join(line(*one) for one in FILES.items())
    (described / "RECORD").write_text(record + "pitwatch-0.1.0.dist-info/RECORD,,\n")
    return tmp_path


def found(root: Path) -> InstallDifferences:
    differences = check_install(root)
    assert differences is not None
    return differences


def test_what_the_wheel_installed_is_unaltered(root: Path) -> None:
    assert found(root) == InstallDifferences(len(FILES), (), (), ())


@pytest.mark.parametrize("name", FILES)
def test_one_changed_bit_is_named(root: Path, name: str) -> None:
    content = bytearray(FILES[name])
    content[-1] ^= 1
    (root / name).write_bytes(content)
    assert (found(root).changed, found(root).altered) == ((name,), True)


def test_a_missing_file_is_named(root: Path) -> None:
    (root / "models/networks/reader.onnx").unlink()
    assert found(root) == InstallDifferences(len(FILES), (), ("models/networks/reader.onnx",), ())


def test_an_added_file_is_named(root: Path) -> None:
    (root / "settlement/dealer.pyc").write_bytes(b"imported without a source")
    assert found(root).added == ("settlement/dealer.pyc",)


def test_a_file_whose_hash_was_taken_from_the_manifest_counts_as_added(root: Path) -> None:
    record = root / "pitwatch-0.1.0.dist-info" / "RECORD"
    lines = [
        "settlement/dealer.py,," if one.startswith("settlement/dealer.py") else one
        for one in record.read_text().splitlines()
    ]
    record.write_text("\n".join(lines) + "\n")
    assert found(root).added == ("settlement/dealer.py",)


def test_python_s_own_cache_of_a_source_is_no_difference(root: Path) -> None:
    for optimize in (0, 1, 2):
        py_compile.compile(str(root / "settlement/dealer.py"), optimize=optimize, doraise=True)
    assert not found(root).altered


def test_a_cache_that_differs_from_its_source_is_named(root: Path, tmp_path: Path) -> None:
    source = root / "settlement/dealer.py"
    other = tmp_path / "other.py"
    other.write_bytes(FILES["settlement/dealer.py"].replace(b"17", b"16"))
    cache = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(other), cfile=cache, dfile=str(source), doraise=True)
    assert found(root).changed == (str(Path(cache).relative_to(root)),)


def test_a_folder_without_a_manifest_of_any_wheel_is_a_checkout(root: Path) -> None:
    (root / "pitwatch-0.1.0.dist-info" / "RECORD").unlink()
    (root / "pitwatch-0.1.0.dist-info").rmdir()
    assert check_install(root) is None


@pytest.mark.parametrize("content", [None, "", "other/__init__.py,,\n"])
def test_a_manifest_that_is_gone_or_empty_is_refused(root: Path, content: str | None) -> None:
    record = root / "pitwatch-0.1.0.dist-info" / "RECORD"
    record.unlink()
    if content is not None:
        record.write_text(content)
    with pytest.raises(TechnicianError, match="RECORD"):
        check_install(root)


def test_two_versions_over_each_other_are_refused(root: Path) -> None:
    (root / "pitwatch-0.0.9.dist-info").mkdir()
    with pytest.raises(TechnicianError, match=r"0\.0\.9.*0\.1\.0"):
        check_install(root)
