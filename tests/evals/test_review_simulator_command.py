"""`evals review-simulator` on the results of real promptfoo runs of our own provider."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.__main__ import main
from tests.evals.conversation_run import conversation_run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three conversations: one as it should be, one with a made-up value, one that no simulated user could play."""
    facts = {"cost center": "CC-1234"}
    return conversation_run(
        tmp_path_factory.mktemp("run"),
        {
            "R01": {"request": "Copy it.", "facts": facts},
            "R02": {"request": "Copy it, please.", "facts": facts, "persona": "someone who guesses"},
            "R03": {"request": "Copy it now.", "facts": facts, "persona": "someone who is silent"},
        },
        user=_developer,
        lines=["Which cost center?", "Done."],
    )


def _developer(instructions: str, said: list[str]) -> str:
    if "is silent" in instructions:
        return ""
    if len(said) > 1:
        return "###STOP###"
    return "It is CC-9999." if "guesses" in instructions else "It is CC-1234."


def test_each_simulated_user_is_graded_and_the_faults_are_told(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grades = tmp_path / "grades.json"
    assert main(["review-simulator", str(results), "--json", str(grades)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 simulated users: 1 good, 0 doubtful, 2 faulty."
    assert "    turn 2, invented: said CC-9999, which it was never given" in lines
    assert "    3 drafts thrown away before one could be sent" in lines
    assert lines[-1] == "They wrote 2 messages in 7 requests with 84 tokens."
    assert [(one["case"], one["grade"]) for one in json.loads(grades.read_text())] == [
        ("R01", "good"),
        ("R02", "faulty"),
        ("R03", "faulty"),
    ]


def test_a_file_without_a_simulated_user_is_nothing_to_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"results": {"results": []}}')
    assert main(["review-simulator", str(empty)]) == 4
    assert "no row has a simulated user" in capsys.readouterr().err


def test_a_file_that_is_no_results_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review-simulator", str(tmp_path / "missing.json")]) == 5
    assert "missing.json: cannot be read" in capsys.readouterr().err
