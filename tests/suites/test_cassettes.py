"""The recordings in the checkout: complete, clean, and enough to run all cases with neither portal nor model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from endpoints import redaction
from endpoints.settings import CHECKOUT
from models.cassettes.tape import read_tape
from models.cassettes.volatile import levelled
from tests.suites.replays import CASES, PROVIDERS, VOLATILE, again, replay, without
from tests.suites.test_runs import Run, run_suites

FOLDERS = [CHECKOUT / "suites" / suite / "cassettes" for suite in PROVIDERS]
FILES = sorted(file for folder in FOLDERS for file in folder.glob("*.jsonl"))
KNOWN_HOSTS = re.compile(r"127\.0\.0\.1:0|json-schema\.org|(?:[\w-]+\.)*(?:example|contoso\.example)")


def _cassette(case: str) -> Path:
    suite = str(CASES[case]["metadata"]["suite"])
    return CHECKOUT / "suites" / suite / "cassettes" / f"{case}.jsonl"


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_a_cassette(case: str) -> None:
    assert _cassette(case).is_file(), f"{case} has no cassette. To record it: {again(case)}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_cassette_has_a_case(file: Path) -> None:
    case = file.name.partition(".")[0]
    assert case in CASES, f"{file.relative_to(CHECKOUT)} belongs to no case; remove it, or name its case {case}"
    assert CASES[case]["metadata"]["suite"] == file.parent.parent.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_of_a_run_or_of_a_machine_stands_in_a_cassette(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert redaction.find(text) == []
    found = set(re.findall(r"https?://([\w.:-]+)", text)) | set(re.findall(r"\b127\.0\.0\.1(?::\d+)?", text))
    assert [host for host in found if not KNOWN_HOSTS.fullmatch(host)] == []
    for word in (f"{CHECKOUT}/", "/home/", "/root/", "/Users/", "/tmp/", "localhost", "uthorization"):
        assert word not in text, f"{word} stands in {file.name}"
    assert not re.search(r"20\d\d-\d\d-\d\dT\d\d:\d\d", text), "a time stands there"
    for line in text.splitlines():
        assert levelled(json.loads(line)) == json.loads(line), "what is volatile is written as its stand-in"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_suites(tmp_path_factory.mktemp("home"), "all", EVALS_CASSETTES="none")


def test_all_26_cases_pass_from_their_cassettes_with_neither_portal_nor_model(replayed: Run) -> None:
    assert replayed.code == 0, replayed.console
    assert "26 passed of 26 cases in " in replayed.console
    assert "Pull requests: 0 opened (17 replayed)." in replayed.console
    assert "model requests, spent when they were recorded." in replayed.console
    assert {row["success"] for row in replayed.rows.values()} == {True}
    assert not (replayed.home / "portal").exists(), "the local portal was started"
    assert not list(replayed.home.glob("ledger/*")), "something set out to create something"


def test_what_was_created_when_it_was_recorded_says_so_everywhere(replayed: Run) -> None:
    for case, row in replayed.rows.items():
        record = row["response"]["metadata"]
        assert record["cassette"] == {"file": str(_cassette(case).relative_to(CHECKOUT)), "mode": "none"}
        assert {call["replayed"] for call in record["toolCalls"]} <= {True}
        assert {pull["replayed"] for pull in record["pullRequests"]} <= {True}
        assert {pull["atHost"]["askedAt"] for pull in record["pullRequests"]} <= {""}
        assert "cleanup" not in record
        if record["pullRequests"]:
            assert row["namedScores"]["pull_request.replayed"] == 1
            assert '"reason": "from a recording; not looked up at the host"' in json.dumps(row["gradingResult"])


def test_two_replays_are_the_same_but_for_what_is_listed(replayed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for case, row in replayed.rows.items():
        second = replay(case, monkeypatch)
        assert second["output"] == row["response"]["output"]
        assert without(second["metadata"], VOLATILE) == without(row["response"]["metadata"], VOLATILE), case


def test_no_answer_of_a_judge_is_left_unused(replayed: Run) -> None:
    for case, row in replayed.rows.items():
        asked = sum(
            details["usage"]["requests"]
            for part in row["gradingResult"]["componentResults"]
            if "value" in part["assertion"]
            for details in part.get("metadata", {}).values()
        )
        kept = [one for one in read_tape(_cassette(case)) if one.boundary.startswith("check ")]
        assert len(kept) == asked == (CASES[case]["metadata"]["suite"] == "spoke-qa"), case


def test_other_instructions_are_an_error_of_every_case_that_tells_how_to_record_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = (CHECKOUT / "agent_config/agents/spoke/instructions.md").read_text(encoding="utf-8")
    lines = original.split("\n")
    lines[2] += " Be brief."
    changed = tmp_path / "instructions.md"
    changed.write_text("\n".join(lines), encoding="utf-8")
    for case in CASES:
        error = replay(case, monkeypatch, instructions=str(changed))["error"]
        first, second, *diff = error.split("\n")
        assert first == (
            f"provider_error: model spoke-agent: {case}.jsonl has no recording of this request at model agent. "
            f"To record the case anew: {again(case)}"
        )
        assert second == "The nearest recording differs:"
        assert any(line.startswith("-") and original.split("\n")[2] in line for line in diff)
        assert any(line.startswith("+") and "Be brief." in line for line in diff)


def test_a_changed_case_ends_a_replay_with_the_command_that_records_it_anew(tmp_path: Path) -> None:
    suite = tmp_path / "suites" / "spoke-create"
    suite.mkdir(parents=True)
    for name in ("promptfooconfig.yaml", "cases.yaml"):
        text = (CHECKOUT / "suites/spoke-create" / name).read_text(encoding="utf-8")
        text = text.replace("file://../..", f"file://{CHECKOUT}").replace("suites/spoke-create/", f"{suite}/")
        (suite / name).write_text(text.replace("logRetentionDays must be 30", "logRetentionDays must be 60"))
    words = ("spoke-create", "--root", str(tmp_path), "--filter-pattern", "^C01")
    run = run_suites(tmp_path / "home", *words, EVALS_CASSETTES="none")
    assert run.code == 2, run.console
    assert "To record the case anew: EVALS_CASSETTES=all npm run eval -- spoke-create --filter-pattern '^C01'" in (
        run.console.replace("\n", " ")
    )
    assert "logRetentionDays must be 60" in run.rows["C01"]["error"]


def test_a_misspelt_mode_is_refused_before_anything_starts(tmp_path: Path) -> None:
    run = run_suites(tmp_path, "all", EVALS_CASSETTES="nnoe")
    assert run.code == 5
    assert run.console.endswith("EVALS_CASSETTES: expected one of none, once, new_episodes, all, off, found 'nnoe'\n")
    assert not (tmp_path / "results").exists()
