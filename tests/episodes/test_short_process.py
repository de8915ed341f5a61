"""Only a process that ends at once may go without garbage collection."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT

SCRIPT = """
import gc, sys
sys.path.insert(0, {checkout!r})
from episodes import short_process
short_process.begin()
short_process.end()
print(gc.isenabled(), gc.get_freeze_count() > 0)
"""


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("wrapper.py", "False True"),
        ("cleanup.py", "False True"),
        ("persistent_wrapper.py", "True False"),
        ("grade.py", "True False"),
    ],
)
def test_garbage_is_collected_everywhere_but_in_short_processes(name: str, printed: str, tmp_path: Path) -> None:
    script = tmp_path / name
    script.write_text(SCRIPT.format(checkout=str(CHECKOUT)), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed
