"""`evals cleanup` on ledgers of killed runs, against a pull-request host over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from episodes.ledger import Ledger, ledger_file, left_file, now
from episodes.left_behind import finish_command, read_left, unfinished_runs, write_left
from episodes.record import PullRequest
from evals.__main__ import main
from tests.support.github_server import REPOSITORY, TOKEN, GitHub, github_server


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    with github_server() as state:
        monkeypatch.setenv("EVALS_HOME", str(tmp_path))
        monkeypatch.setenv("EVALS_PULL_REQUEST_API", state.url)
        monkeypatch.setenv("EVALS_PULL_REQUEST_TOKEN", TOKEN)
        monkeypatch.setenv("EVALS_REPOSITORIES", REPOSITORY)
        yield state


def _killed_run(home: Path, server: GitHub, run: str, number: int, *, alive: bool = False, at: str = "") -> None:
    """A run that opened one pull request and was killed before its hooks."""
    branch = f"evals/{run}/spoke"
    server.open_pull(number, branch, created_at=now())
    ledger = Ledger.open(home, run)
    ledger.intent("test-0-prompt-0-repeat-0", "c", "portal", "create", f"evals/{run}")
    url = f"https://github.test/{REPOSITORY}/pull/{number}"
    ledger.result("test-0-prompt-0-repeat-0", "c", PullRequest(url, str(number), REPOSITORY, branch, "active"))
    rows = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    if not alive:
        rows[0]["pid"] = 0
    ledger.path.write_text("".join(json.dumps({**row, "at": at or row["at"]}) + "\n" for row in rows))


def test_nothing_left_is_nothing_to_do(server: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cleanup"]) == 0
    assert capsys.readouterr().out == "Nothing to clean up.\n"
    assert server.requests == []


def test_all_killed_runs_are_cleaned_up(tmp_path: Path, server: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    server.open_pull(40, "human")
    _killed_run(tmp_path, server, "E1", 41)
    _killed_run(tmp_path, server, "E2", 42)
    write_left(tmp_path, "E1", ["failed: no answer"])

    assert main(["cleanup"]) == 0
    assert {number: pull.state for number, pull in server.pulls.items()} == {40: "open", 41: "closed", 42: "closed"}
    assert not left_file(tmp_path, "E1").exists()
    out = capsys.readouterr().out
    assert f"abandoned, branch deleted: https://github.test/{REPOSITORY}/pull/41 (test-0-prompt-0-repeat-0)" in out
    assert main(["cleanup"]) == 0
    assert "Nothing to clean up." in capsys.readouterr().out


def test_a_dry_run_changes_nothing_and_ends_3(
    tmp_path: Path, server: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_run(tmp_path, server, "E1", 41)

    assert main(["cleanup", "--dry-run"]) == 3
    assert server.writes() == []
    out = capsys.readouterr().out
    assert "would abandon" in out
    assert finish_command("E1") in out


def test_a_run_that_is_going_on_is_left_alone_unless_it_is_named(
    tmp_path: Path, server: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_run(tmp_path, server, "E1", 41, alive=True)

    assert main(["cleanup"]) == 0
    assert "E1: still going on, skipped." in capsys.readouterr().out
    assert server.pulls[41].state == "open"
    assert main(["cleanup", "--run", "E1"]) == 0
    assert server.pulls[41].state == "closed"


def test_only_runs_of_an_age_are_cleaned_up(tmp_path: Path, server: GitHub) -> None:
    _killed_run(tmp_path, server, "old", 41, at="2026-01-01T00:00:00+00:00")
    _killed_run(tmp_path, server, "new", 42)

    assert main(["cleanup", "--older-than", "2h"]) == 0
    assert (server.pulls[41].state, server.pulls[42].state) == ("closed", "open")


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("age", ["2", "h", "2 h", "-2h", "two hours"])
def test_an_age_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], age: str) -> None:
    assert main(["cleanup", f"--older-than={age}"]) == 5
    assert "such as 2h" in capsys.readouterr().err


def test_what_can_not_be_cleaned_up_ends_3_with_the_way_to_finish(
    tmp_path: Path, server: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_run(tmp_path, server, "E1", 41)
    server.pulls[41].merged_at = now()

    assert main(["cleanup"]) == 3
    out = capsys.readouterr().out
    assert "LEFT  completed" in out
    assert f"/{REPOSITORY}/pull/41" in out
    assert finish_command("E1", by_hand=True) in out
    left = read_left(tmp_path, "E1")
    assert left is not None
    assert "merged into main" in left.sentences[0]


def test_what_a_person_dealt_with_is_not_reported_again(
    tmp_path: Path, server: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    _killed_run(tmp_path, server, "E1", 41)
    server.pulls[41].merged_at = now()
    main(["cleanup"])
    server.requests.clear()

    assert main(["cleanup", "--run", "E1", "--settled-by-hand"]) == 0
    assert server.requests == []
    assert not left_file(tmp_path, "E1").exists()
    capsys.readouterr()
    assert main(["cleanup"]) == 0
    assert capsys.readouterr().out == "Nothing to clean up.\n"


@pytest.mark.usefixtures("server")
def test_dealing_by_hand_needs_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cleanup", "--settled-by-hand"]) == 5
    assert "needs --run" in capsys.readouterr().err


@pytest.mark.usefixtures("server")
def test_what_no_ledger_proves_stays_reported_until_a_person_dealt_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_left(tmp_path, "E1", [], ["unproven: https://github.test/x/pull/7"])

    assert main(["cleanup"]) == 3
    assert "LEFT  unproven: https://github.test/x/pull/7" in capsys.readouterr().out
    assert left_file(tmp_path, "E1").exists()
    assert main(["cleanup", "--run", "E1", "--settled-by-hand"]) == 0
    assert not left_file(tmp_path, "E1").exists()


def test_branches_can_be_kept(tmp_path: Path, server: GitHub) -> None:
    _killed_run(tmp_path, server, "E1", 41)
    assert main(["cleanup", "--keep-branches"]) == 0
    assert "evals/E1/spoke" in server.branches


@pytest.mark.usefixtures("server")
def test_a_marker_that_can_not_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    left_file(tmp_path, "E1").parent.mkdir(parents=True, exist_ok=True)
    left_file(tmp_path, "E1").write_text("{torn")
    left = read_left(tmp_path, "E1")
    assert left is not None
    assert "can not be read" in left.sentences[0]
    assert main(["cleanup"]) == 0
    assert not left_file(tmp_path, "E1").exists()


def test_a_settled_run_is_read_again_only_when_something_was_added(tmp_path: Path, server: GitHub) -> None:
    _killed_run(tmp_path, server, "E1", 41)
    main(["cleanup"])
    path = ledger_file(tmp_path, "E1")
    text = path.read_text()
    path.write_text("x" * len(text))
    assert unfinished_runs(tmp_path) == []

    path.write_text(text)
    Ledger.open(tmp_path, "E1").intent("late", "c", "portal", "create", "evals/late")
    assert [run.run_id for run in unfinished_runs(tmp_path)] == ["E1"]


def test_the_ledger_keeps_what_was_done(tmp_path: Path, server: GitHub) -> None:
    _killed_run(tmp_path, server, "E1", 41)
    main(["cleanup"])
    rows = [json.loads(line) for line in ledger_file(tmp_path, "E1").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["intent", "result", "swept"]
    assert rows[2]["outcome"] == "abandoned"
