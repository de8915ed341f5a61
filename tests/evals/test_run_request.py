"""The typed line is taken apart as promptfoo itself would read it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from evals.command_line import CommandError
from evals.installation import environment, promptfoo_command
from evals.promptfoo_flags import FLAGS
from evals.run_request import read_request


@pytest.mark.parametrize(
    ("words", "suites", "passed"),
    [
        (["all", "--filter-metadata", "priority=smoke"], ["all"], ["--filter-metadata", "priority=smoke"]),
        (["spoke-create", "--filter-pattern", "C01"], ["spoke-create"], ["--filter-pattern", "C01"]),
        (["--filter-pattern=C01", "spoke-create"], ["spoke-create"], ["--filter-pattern", "C01"]),
        (["--no-cache", "spoke-qa", "spoke-create"], ["spoke-qa", "spoke-create"], ["--no-cache"]),
        (["-j4", "--repeat", "2", "all"], ["all"], ["-j", "4", "--repeat", "2"]),
        (["all", "-o", "a.html", "b.csv", "--no-table"], ["all"], ["-o", "a.html", "b.csv", "--no-table"]),
        (["all", "--resume", "eval-1"], ["all"], ["--resume", "eval-1"]),
        (["--resume", "--no-table", "all"], ["all"], ["--resume", "--no-table"]),
        (["--var", "x=-1", "--filter-pattern", "-x"], [], ["--var", "x=-1", "--filter-pattern", "-x"]),
        ([], [], []),
    ],
)
def test_suites_are_told_from_the_values_of_flags(words: list[str], suites: list[str], passed: list[str]) -> None:
    request = read_request(words)
    assert request is not None
    assert (list(request.suites), list(request.passed)) == (suites, passed)


def test_models_become_variables() -> None:
    request = read_request(["--model=a", "--user-model", "b", "--judge-model", "c", "--root", "/x/../y"])
    assert request is not None
    assert request.models == {"EVALS_AGENT_MODEL": "a", "EVALS_USER_MODEL": "b", "EVALS_JUDGE_MODEL": "c"}
    assert request.root == Path("/y")
    assert request.passed == ()


def test_a_flag_that_was_given_twice_has_both_values() -> None:
    request = read_request(["--filter-metadata", "a=1", "--filter-metadata=b=2", "-j", "3"])
    assert request is not None
    assert request.values("--filter-metadata") == ["a=1", "b=2"]
    assert request.given("-j", "--max-concurrency")
    assert not request.given("--repeat")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--filter-patern", "x"], "There is no flag --filter-patern; did you mean --filter-pattern?"),
        (["--modle", "x"], "There is no flag --modle; did you mean --model?"),
        (["--filter-pattern"], "--filter-pattern needs a value."),
        (["-o", "--no-table"], "-o needs a value."),
        (["--watch"], "--watch has no place in `evals run`"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=re.escape(sentence)):
        read_request(words)


def test_help_is_printed_and_asks_for_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_request(["all", "--help"]) is None
    text = capsys.readouterr().out
    assert "yarn eval all --filter-metadata priority=smoke" in text
    assert "3 the cleanup left something" in text


def test_the_table_of_flags_is_the_one_of_the_installed_promptfoo(tmp_path: Path) -> None:
    text = subprocess.run(
        promptfoo_command("eval", "--help"),
        env={**environment(), "PROMPTFOO_CONFIG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    kinds = {"": "nothing", "<...>": "many", "<>": "one", "[]": "perhaps"}
    told = {}
    for names, value in re.findall(r"^  ((?:-\w, )?--[\w-]+(?:, --[\w-]+)*)( [<\[][^>\]]*[>\]])?  ", text, re.M):
        shape = re.sub(r"[^<>\[\].]", "", value)
        told[tuple(names.split(", "))] = kinds[shape]
    told.pop(("-h", "--help"))
    assert told == {flag.names: flag.takes for flag in FLAGS}
