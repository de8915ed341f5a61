"""The suites as a person runs them: real promptfoo, real portal, real git, and the stand-in model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from endpoints import local_stack, resolve
from endpoints.settings import CHECKOUT
from episodes.hosts import host_for
from tests.suites.replays import LIVE_ONLY, VOLATILE, again, as_replayed, replay, without

BEGINNING = "2000-01-01T00:00:00Z"


@dataclass(frozen=True)
class Run:
    code: int
    console: str
    home: Path

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The rows of promptfoo's results file, by case."""
        (file,) = (self.home / "results").glob("*.json")
        rows = json.loads(file.read_text(encoding="utf-8"))["results"]["results"]
        return {row["testCase"]["metadata"]["id"]: row for row in rows}

    def pull_requests(self) -> list[str]:
        """The state of every pull request on this run's portal."""
        host = resolve({"EVALS_HOME": str(self.home)}).pull_request_host
        client = host_for(host)
        try:
            return [pull.status for pull in client.created_since(host.repositories[0], BEGINNING)]
        finally:
            client.close()


def start(home: Path, *command: str, **variables: str) -> Run:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("EVALS_", "PROMPTFOO_"))}
    environment |= {"EVALS_HOME": str(home), "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"), "EVALS_CASSETTES": "off"}
    environment |= variables
    done = subprocess.run(
        command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=400, check=False
    )
    return Run(done.returncode, done.stdout + done.stderr, home)


def run_suites(home: Path, *words: str, **variables: str) -> Run:
    return start(home, sys.executable, "-m", "evals", "run", *words, **variables)


def test_all_26_cases_pass_leave_no_open_pull_request_and_are_what_their_cassettes_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_suites(tmp_path, "all")
    assert run.code == 0, run.console
    assert "spoke-create: 22 passed\n" in run.console
    assert "spoke-qa: 4 passed\n" in run.console
    assert "26 passed of 26 cases in " in run.console
    assert "Pull requests: 17 opened, 17 abandoned." in run.console
    assert run.pull_requests() == ["abandoned"] * 17
    for case, row in run.rows.items():
        replayed = replay(case, monkeypatch)
        assert "error" not in replayed, replayed["error"]
        live = as_replayed(row["response"]["metadata"])
        assert without(replayed["metadata"], VOLATILE, LIVE_ONLY) == live, f"{case}: to record it anew: {again(case)}"


def test_a_careless_agent_fails_with_a_reason_for_each_row_and_is_cleaned_up_after(tmp_path: Path) -> None:
    words = ("spoke-create", "--model", "spoke-agent-careless", "--filter-pattern", "^C(02|18|19|20|21|22)")
    run = run_suites(tmp_path, *words)
    assert run.code == 1, run.console
    assert "0 passed, 6 failed of 6 cases" in run.console
    rows = run.rows
    parts = rows.pop("C02")["gradingResult"]["componentResults"][0]["componentResults"]
    (diff,) = [part["reason"] for part in parts if "input_diff.unexpected" in part.get("namedScores", {})]
    assert "unexpected:" in diff
    for case, row in rows.items():
        assert f"  {case}, failed: create_spoke_pull_request was attempted" in run.console
        assert row["metadata"]["cleanup"], "the hook says what it did"
        assert row["namedScores"]["cleanup_ok"] == 1
    states = run.pull_requests()
    assert states
    assert set(states) == {"abandoned"}


@pytest.mark.parametrize(
    ("config", "at_once", "cases"),
    [
        ("promptfooconfig.yaml", "1", ["C01", "Q01"]),
        ("suites/spoke-create/promptfooconfig.yaml", "2", ["C01", "C18"]),
    ],
)
def test_promptfoo_by_itself_starts_what_it_needs_and_nothing_stays(
    config: str, at_once: str, cases: list[str], tmp_path: Path
) -> None:
    results = tmp_path / "results" / "bare.json"
    results.parent.mkdir()
    python, started = tmp_path / "python", tmp_path / "started"
    python.write_text(f'#!/bin/sh\necho "$*" >> "{started}"\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    run = start(
        tmp_path,
        *("node", "setup/promptfoo.mjs", "eval", "-c", config, "-j", at_once, "-o", str(results)),
        *("--filter-pattern", f"^({'|'.join(cases)})"),
        PROMPTFOO_PYTHON=str(python),
    )
    assert run.code == 0, run.console
    assert {case: row["success"] for case, row in run.rows.items()} == dict.fromkeys(cases, True)
    hooks = [line for line in started.read_text(encoding="utf-8").splitlines() if "/hooks/cleanup.py" in line]
    assert len(hooks) == 3, "before the run, after it, and for the row that created something"
    deadline = time.monotonic() + 30
    while local_stack.running(tmp_path) is not None and time.monotonic() < deadline:
        time.sleep(0.2)
    assert local_stack.running(tmp_path) is None
    assert run.pull_requests() == ["abandoned"]
