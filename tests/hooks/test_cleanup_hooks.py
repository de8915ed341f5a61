"""The hooks in a real promptfoo run, against a pull-request host over HTTP."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chaos.stage import FULL_NAME, Stage
from episodes.creations import read_ledger
from episodes.ledger import Ledger, ledger_file, left_file, now
from episodes.left_behind import read_left
from tests.support.github_server import REPOSITORY, TOKEN, GitHub, github_server
from tests.support.promptfoo import CHECKOUT, Run, run_promptfoo

PROVIDER = Path(__file__).with_name("creating_provider.py")
HOOKS = CHECKOUT / "hooks"
ALL_HOOKS = ("cleanup.py:beforeAll", "cleanup.mjs:afterEach", "cleanup.py:afterAll")
ONLY_PYTHON = ("cleanup.py:beforeAll", "cleanup.py:afterEach", "cleanup.py:afterAll")


@pytest.fixture(scope="module")
def server() -> Iterator[GitHub]:
    with github_server() as state:
        yield state


def _case(description: str, answer: str = "done", **names: Any) -> dict[str, Any]:
    return {
        "description": description,
        "vars": {"case": description, **names},
        "assert": [{"type": "equals", "value": answer}],
    }


def _config(*cases: dict[str, Any], hooks: tuple[str, ...] = ALL_HOOKS, folder: Path = HOOKS) -> dict[str, Any]:
    return {
        "prompts": ["{{case}}"],
        "providers": [{"id": f"file://{PROVIDER}"}],
        "tests": list(cases),
        "extensions": [f"file://{folder}/{hook}" for hook in hooks],
    }


def _environment(home: Path, server: GitHub) -> dict[str, str]:
    return {
        "EVALS_HOME": str(home),
        "EVALS_PULL_REQUEST_API": server.url,
        "EVALS_PULL_REQUEST_TOKEN": TOKEN,
        "EVALS_REPOSITORIES": REPOSITORY,
    }


def _counting_python(folder: Path) -> tuple[Path, Path]:
    """A Python that writes down what it was started with, in a folder with a space, and the file that tells."""
    program, log = folder / "a python" / "python", folder / "started"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    return program, log


def _copied_hooks(folder: Path) -> Path:
    """The hooks in a checkout whose path has a space."""
    checkout = folder / "a checkout"
    for file in ("hooks/cleanup.mjs", "hooks/cleanup.py", "setup/checkout.mjs"):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / file, checkout / file)
    return checkout / "hooks"


def _hook_processes(hooks: Path, started: Path) -> int:
    return sum(f"{hooks}/cleanup.py" in line for line in started.read_text().splitlines())


@dataclass(frozen=True)
class Finished:
    """A run with one case of each kind, what it left on the host, and how many processes its hooks took."""

    run: Run
    home: Path
    server: GitHub
    hook_processes: int

    def cleanup(self, description: str) -> list[dict[str, Any]]:
        return list(self.run.row(description)["metadata"]["cleanup"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, server: GitHub) -> Finished:
    home = tmp_path_factory.mktemp("home")
    earlier = Ledger.open(home, "eval-earlier", server.url)
    earlier.intent("test-0-prompt-0-repeat-0", "c", "portal", "create", "evals/earlier")
    text = earlier.path.read_text()
    row = json.loads(text)
    earlier.path.write_text(json.dumps({**row, "pid": 0}) + "\n")

    server.open_pull(1, "human", user="ann")
    for number in (2, 3, 5, 6, 7, 8):
        server.open_pull(number, f"evals/{number}/spoke", created_at=now())
    merged = server.open_pull(4, "evals/4/spoke", created_at=now())
    merged.state, merged.merged_at = "closed", now()
    copied = tmp_path_factory.mktemp("copied")
    hooks, (python, started) = _copied_hooks(copied), _counting_python(copied)
    run = run_promptfoo(
        tmp_path_factory.mktemp("run"),
        _config(
            _case("creates nothing"),
            _case("creates nothing and raises", then="raise"),
            _case("replays what another run created", creates=8, branch="evals/8/spoke", then="replay"),
            _case("creates one", creates=2, branch="evals/2/spoke", then="answer"),
            _case("is blocked but creates one", "refused", creates=3, branch="evals/3/spoke", then="answer"),
            _case("creates one that is merged", creates=4, branch="evals/4/spoke", then="answer"),
            _case("creates one and raises", creates=5, branch="evals/5/spoke", then="raise"),
            _case("creates one and loses the answer", creates=6, branch="evals/6/spoke", then="lose"),
            _case("names one that the ledger does not know", creates=7, branch="evals/7/spoke", then="forget"),
            folder=hooks,
        ),
        {**_environment(home, server), "PROMPTFOO_PYTHON": str(python)},
    )
    return Finished(run, home, server, _hook_processes(hooks, started))


def test_a_row_that_creates_nothing_is_left_as_it_is(finished: Finished) -> None:
    row = finished.run.row("creates nothing")
    assert row["success"]
    assert "cleanup" not in row["metadata"]
    assert "cleanup_ok" not in row["namedScores"]


def test_what_a_row_created_is_abandoned_and_said_so(finished: Finished) -> None:
    row = finished.run.row("creates one")
    assert row["success"]
    assert row["namedScores"]["cleanup_ok"] == 1
    (entry,) = finished.cleanup("creates one")
    assert (entry["id"], entry["action"], entry["result"], entry["branch"]) == ("2", "abandon", "abandoned", "deleted")
    assert entry["url"] == f"https://github.test/{REPOSITORY}/pull/2"
    assert finished.server.pulls[2].state == "closed"
    assert row["metadata"]["pullRequests"][0]["id"] == "2"


def test_a_blocked_case_that_created_one_fails_and_is_cleaned_up(finished: Finished) -> None:
    row = finished.run.row("is blocked but creates one")
    assert not row["success"]
    assert row["namedScores"]["cleanup_ok"] == 1
    assert finished.server.pulls[3].state == "closed"


def test_a_merged_pull_request_keeps_the_verdict_and_loses_the_score(finished: Finished) -> None:
    row = finished.run.row("creates one that is merged")
    assert row["success"]
    assert row["namedScores"]["cleanup_ok"] == 0
    assert [entry["result"] for entry in finished.cleanup("creates one that is merged")] == ["completed"]


def test_what_a_broken_provider_created_is_swept_at_the_end(finished: Finished) -> None:
    row = finished.run.row("creates one and raises")
    assert "cleanup" not in (row.get("metadata") or {})
    assert finished.server.pulls[5].state == "closed"


def test_a_lost_answer_is_looked_up_on_the_host(finished: Finished) -> None:
    row = finished.run.row("creates one and loses the answer")
    assert row["namedScores"]["cleanup_ok"] == 1
    assert [entry["id"] for entry in finished.cleanup("creates one and loses the answer")] == ["6"]
    assert finished.server.pulls[6].state == "closed"


def test_a_record_is_no_proof_of_its_own(finished: Finished) -> None:
    description = "names one that the ledger does not know"
    assert finished.run.row(description)["namedScores"]["cleanup_ok"] == 0
    assert [entry["result"] for entry in finished.cleanup(description)] == ["unproven"]
    assert finished.server.pulls[7].state == "open"


def test_nobody_elses_pull_request_is_touched(finished: Finished) -> None:
    assert finished.server.pulls[1].state == "open"
    assert finished.server.pulls[8].state == "open"
    assert {"human", "evals/4/spoke", "evals/7/spoke", "evals/8/spoke", "main"} == set(finished.server.branches)


def test_what_is_left_stands_in_the_marker_file_with_the_way_to_finish(finished: Finished) -> None:
    left = read_left(finished.home, finished.run.eval_id)
    assert left is not None
    assert len(left.sentences) == len(left.by_hand) == 1
    assert "merged into main" in left.sentences[0]
    assert f"https://github.test/{REPOSITORY}/pull/7" in left.by_hand[0]
    assert left.command == f"npm run evals -- cleanup --run {finished.run.eval_id}"
    assert f"left behind: {left.sentences[0]}" in " ".join(finished.run.printed.split())


def test_leftovers_of_earlier_runs_are_reported_and_not_touched(finished: Finished) -> None:
    assert "1 earlier run left 1 thing to clean up (eval-earlier)" in finished.run.printed
    assert read_ledger(ledger_file(finished.home, "eval-earlier")).unsettled


def test_a_row_that_timed_out_is_swept_at_the_end(tmp_path: Path) -> None:
    with github_server() as server:
        server.open_pull(2, "evals/2/spoke", created_at=now())
        run = run_promptfoo(
            tmp_path / "run",
            _config(_case("hangs", creates=2, branch="evals/2/spoke", then="hang")),
            {**_environment(tmp_path / "home", server), "PROMPTFOO_EVAL_TIMEOUT_MS": "8000"},
        )
        assert "timed out" in run.row("hangs")["error"]
        assert server.pulls[2].state == "closed"
        assert not left_file(tmp_path / "home", run.eval_id).exists()


def test_only_a_row_that_can_have_created_something_starts_a_process_for_its_hook(finished: Finished) -> None:
    scores = {row["testCase"]["description"]: row["namedScores"].get("cleanup_ok") for row in finished.run.rows}
    assert {description for description, score in scores.items() if score is None} == {
        "creates nothing",
        "creates nothing and raises",
        "creates one and raises",
        "replays what another run created",
    }
    assert len(scores) == 9
    assert finished.hook_processes == 7, "before the run, after it, and for five rows"


def test_the_python_hook_cleans_a_row_up_as_well_with_a_process_for_each(tmp_path: Path) -> None:
    hooks, (python, started) = _copied_hooks(tmp_path), _counting_python(tmp_path)
    with github_server() as server:
        for number in (2, 3, 4):
            server.open_pull(number, f"evals/{number}/spoke", created_at=now())
        run = run_promptfoo(
            tmp_path / "run",
            _config(
                _case("creates nothing"),
                _case("raises", then="raise"),
                _case("replays what another run created", creates=4, branch="evals/4/spoke", then="replay"),
                _case("creates one", creates=2, branch="evals/2/spoke", then="answer"),
                _case("creates one and loses the answer", creates=3, branch="evals/3/spoke", then="lose"),
                hooks=ONLY_PYTHON,
                folder=hooks,
            ),
            {**_environment(tmp_path / "home", server), "PROMPTFOO_PYTHON": str(python)},
        )
        assert [pull.state for pull in server.pulls.values()] == ["closed", "closed", "open"]
    assert [row["namedScores"].get("cleanup_ok") for row in run.rows] == [None, None, None, 1, 1]
    assert _hook_processes(hooks, started) == 7


def test_a_hook_that_can_not_be_started_is_said_and_what_it_missed_is_swept_at_the_end(tmp_path: Path) -> None:
    python, _ = _counting_python(tmp_path)
    text = python.read_text()
    python.write_text(text.replace("exec", 'case "$1" in */cleanup.py) echo "no room" >&2; exit 3;; esac\nexec'))
    with github_server() as server:
        server.open_pull(2, "evals/2/spoke", created_at=now())
        run = run_promptfoo(
            tmp_path / "run",
            _config(_case("creates one", creates=2, branch="evals/2/spoke", then="answer")),
            {**_environment(tmp_path / "home", server), "PROMPTFOO_PYTHON": str(python)},
        )
        assert server.pulls[2].state == "closed"
    assert run.exit_code == 0
    assert "cleanup" not in run.row("creates one")["metadata"]
    assert "ERROR: afterEach could not be run: no room" in run.printed


def test_sixteen_at_a_time_with_repeats_two_providers_and_two_runs_are_each_cleaned_up(tmp_path: Path) -> None:
    with github_server() as server, ThreadPoolExecutor(2) as pool:

        def run_of(numbers: range) -> Run:
            cases = []
            for number in numbers:
                server.open_pull(number, f"evals/{number}/spoke", created_at=now())
                cases.append(_case(f"case {number}", creates=number, branch=f"evals/{number}/spoke", then="answer"))
            config = _config(*cases)
            (provider,) = config["providers"]
            config["providers"] = [provider | {"label": label} for label in ("one", "two")]
            return run_promptfoo(
                tmp_path / f"run-{numbers.start}",
                config,
                # Of each provider; by themselves they would be 16.
                {**_environment(tmp_path / "home", server), "PROMPTFOO_PYTHON_WORKERS": f"{len(numbers)}"},
                ["-j", "16", "--repeat", "2"],
            )

        runs = list(pool.map(run_of, (range(1, 5), range(5, 6))))
        for run, rows in zip(runs, (16, 4), strict=True):
            assert [row["namedScores"].get("cleanup_ok") for row in run.rows] == [1] * rows
            assert not left_file(tmp_path / "home", run.eval_id).exists()
        assert [pull.state for pull in server.pulls.values()] == ["closed"] * 5
        assert list(server.branches) == ["main"]


def test_the_local_portal_is_found_again_though_it_had_ended_in_between(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "home")
    stage.start()
    stage.open_foreign("evals/abc/spoke", "Ours", "")
    stage.open_foreign("human/spoke", "Theirs", "")
    ours, theirs = stage.foreign
    stage.kill()
    run = run_promptfoo(
        tmp_path / "run",
        _config(_case("one", creates=int(ours.number), branch=ours.branch, then="answer", repository=FULL_NAME)),
        {"EVALS_HOME": str(tmp_path / "home")},
    )
    assert run.row("one")["namedScores"]["cleanup_ok"] == 1
    stage.start()
    try:
        statuses = {pull.id: pull.status for pull in stage.pull_requests()}
        assert statuses == {ours.number: "abandoned", theirs.number: "active"}
        assert set(stage.tips()) == {"main", "human/spoke"}
    finally:
        stage.stop()


def test_a_host_that_is_down_costs_no_verdict_and_no_result(tmp_path: Path) -> None:
    with github_server() as server:
        environment = _environment(tmp_path / "home", server)
    run = run_promptfoo(
        tmp_path / "run",
        _config(_case("creates one", creates=2, branch="evals/2/spoke", then="answer")),
        environment,
    )
    assert run.exit_code == 0
    row = run.row("creates one")
    assert row["success"]
    assert row["namedScores"]["cleanup_ok"] == 0
    left = read_left(tmp_path / "home", run.eval_id)
    assert left is not None
    assert "no answer" in left.sentences[0]


def test_hooks_that_break_down_cost_no_verdict_and_no_result(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the data folder should be")
    run = run_promptfoo(tmp_path / "run", _config(_case("creates nothing"), _case("other")), {"EVALS_HOME": str(home)})
    assert run.exit_code == 0
    assert [row["success"] for row in run.rows] == [True, True]
    assert "broke down: NotADirectoryError" in run.printed
