"""Which modules are compiled is found in their folders: a new one needs no entry."""

from pathlib import Path

import pytest

from settlement import native


def test_a_new_module_is_compiled_and_gives_the_form_another_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in native.sources(native.RECKONING):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(native, "_ROOT", str(tmp_path))
    before = [native.folder(form) for form in native.FORMS]
    (tmp_path / "settlement/added.py").write_text("")
    assert "settlement/added.py" in native.modules(native.ENGINE)
    assert "settlement/added.py" not in native.modules(native.RECONCILER)
    assert not set(before) & {native.folder(form) for form in native.FORMS}


@pytest.mark.parametrize("form", native.FORMS, ids=lambda form: form.name)
def test_what_is_not_compiled_is_a_module_that_there_is(form: native.Form) -> None:
    missing = [name for name in form.interpreted if not Path(form.package, f"{name}.py").is_file()]
    assert not missing
