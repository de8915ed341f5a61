"""The stack says which package is missing, before it listens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.promptfoo import CHECKOUT


@pytest.mark.parametrize("package", ["uvloop", "jsonschema_rs"])
def test_a_package_that_is_not_installed_is_named_with_what_to_do(package: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{package}'\")")
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    command = ["-m", "local", "serve", "--data", str(tmp_path / "data"), "--socket", str(sockets / "s")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *command], cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert f"lacks a package: No module named '{package}'; `npm run eval` installs" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(sockets.iterdir()) == []
