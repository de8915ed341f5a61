"""Whose memory counts: a process, its children and theirs, and nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.process_memory import family, watched_memory

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory is measured on Linux only")
GRANDCHILD = "import time; time.sleep(60)"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"


@needs_proc
def test_a_family_is_the_process_its_child_and_the_childs_child() -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True) as child:
        try:
            while len(family(child.pid)) < 2:
                assert child.poll() is None
                time.sleep(0.02)
            found = family(os.getpid())
            assert {os.getpid(), *family(child.pid)} <= set(found)
        finally:
            os.killpg(child.pid, 9)
    assert os.getppid() not in found


@needs_proc
def test_memory_is_looked_at_while_the_process_runs() -> None:
    with watched_memory(os.getpid()) as peak:
        while not peak.megabytes:
            time.sleep(0.02)
    assert peak.megabytes > 5
