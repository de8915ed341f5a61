"""What the doctor sees from inside promptfoo."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest

from evals.doctor_checks import inside_promptfoo
from evals.inside_promptfoo import PACKAGES


def test_packages_that_the_python_of_promptfoo_lacks_are_named_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    monkeypatch.setenv("PROMPTFOO_PYTHON", str(python))
    findings = inside_promptfoo()
    assert [finding.text for finding in findings if f", {python}" in finding.text]
    (fault,) = [finding for finding in findings if not finding.ok]
    assert fault.text == f"packages missing in that Python: {', '.join(PACKAGES)}"
    assert fault.mend.startswith("unset PROMPTFOO_PYTHON, or remove .venv ")


def test_a_python_that_does_not_run_is_a_fault_with_a_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPTFOO_PYTHON", str(tmp_path / "nothing"))
    faults = [finding for finding in inside_promptfoo() if not finding.ok]
    assert len(faults) == 1
    assert faults[0].mend
