"""Before the tests: those of a new checkout are compiled once, beside the linter."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals import checks_command


@pytest.fixture
def imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one test; each import of it is a line in the file that this returns."""
    (tmp_path / "tests").mkdir()
    written = tmp_path / "imports"
    (tmp_path / "tests" / "test_one.py").write_text(f"print('imported', file=open({str(written)!r}, 'a'))\n")
    monkeypatch.setattr(checks_command, "CHECKOUT", tmp_path)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    return written


def test_the_tests_of_a_new_checkout_are_compiled_and_those_of_another_are_not_collected_twice(imports: Path) -> None:
    for _ in range(2):
        with checks_command.compiled_meanwhile(all_tests=True):
            pass
        assert imports.read_text() == "imported\n"
    assert len(list(imports.parent.glob("tests/__pycache__/test_one.*-pytest-*.pyc"))) == 1


def test_nothing_is_compiled_when_only_some_tests_are_run(imports: Path) -> None:
    with checks_command.compiled_meanwhile(all_tests=False):
        pass
    assert not imports.exists()
