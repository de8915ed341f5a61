"""`evals run` with the real promptfoo: each Python process that promptfoo starts is forked from one."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from endpoints.settings import FORKED_PYTHON
from evals.forking.start import fork_server
from tests.support.fork_server import gone, until

if TYPE_CHECKING:
    from tests.evals.conftest import Demo

_TELL = """
import os, sys
from pathlib import Path

def parent():
    return f"{os.getppid()} {Path(f'/proc/{os.getppid()}/cmdline').read_bytes().decode().split(chr(0))[-3]}"

def call_api(prompt, options, context):
    return {"output": parent()}

def get_assert(output, context):
    return {"pass": True, "score": 1.0, "reason": parent()}

def afterEach(context, hook):
    return {"result": {"metadata": {"hook": parent()}}}
"""


def _told(demo: Demo, **more: str) -> list[str]:
    suite = demo.root / "suites" / "demo"
    (suite / "provider.py").write_text(_TELL)
    (suite / "check.py").write_text(_TELL)
    config = suite / "promptfooconfig.yaml"
    config.write_text(config.read_text() + "extensions: [file://check.py:afterEach]\n")
    ended = demo.run("--filter-pattern", "T04", **more)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (file,) = (demo.home / "results").glob("*.json")
    (row,) = json.loads(file.read_text())["results"]["results"]
    (check,) = row["gradingResult"]["componentResults"]
    return [row["response"]["output"], check["reason"], row["metadata"]["hook"]]


def test_provider_assertion_and_hook_of_a_run_are_forked_from_one_process(demo: Demo) -> None:
    provider, assertion, hook = _told(demo)
    assert provider == assertion == hook
    pid, _, module = provider.partition(" ")
    assert module == "evals.forking.server"
    until(lambda: gone(int(pid)))


def test_another_python_that_was_asked_for_is_the_one_that_is_started(demo: Demo) -> None:
    other = demo.root / "other-python"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    told = _told(demo, PROMPTFOO_PYTHON=str(other))
    assert not [parent for parent in told if "evals.forking.server" in parent]


def test_what_an_earlier_run_has_left_in_the_environment_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPTFOO_PYTHON", str(FORKED_PYTHON))
    monkeypatch.setenv("EVALS_PYTHON", "/gone/python")
    with fork_server():
        assert os.environ["EVALS_PYTHON"] == sys.executable
    assert os.environ["EVALS_PYTHON"] == "/gone/python"


@pytest.mark.parametrize("asked_for", [None, sys.executable, "/another/python"])
def test_the_variables_of_a_fork_server_are_those_of_its_block(
    monkeypatch: pytest.MonkeyPatch, asked_for: str | None
) -> None:
    monkeypatch.delenv("PROMPTFOO_PYTHON", raising=False)
    if asked_for is not None:
        monkeypatch.setenv("PROMPTFOO_PYTHON", asked_for)
    before = dict(os.environ)
    with fork_server():
        inside = os.environ.get("PROMPTFOO_PYTHON")
        assert "EVALS_FORK_SERVER" in os.environ
    assert inside == (asked_for if asked_for == "/another/python" else str(FORKED_PYTHON))
    assert dict(os.environ) == before
