"""The examples of `docs/assertions.md` are judged, and their reasons compared word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from assertions.config_check import assertion_names, load_schema
from assertions.run_check import grade
from assertions.verdict import Verdict
from endpoints.settings import CHECKOUT
from tests.assertions.makers import call, evidence_of
from tests.local.model.serving import KEY, served_model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "assertions.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
VERDICTS = {"PASS": Verdict.PASS, "FAIL": Verdict.FAIL, "NOT EVALUATED:": Verdict.NOT_EVALUATED}


def examples() -> list[Any]:
    found: list[Any] = []
    for (language, written), (next_language, outcome) in pairwise(BLOCKS):
        if language == "yaml" and next_language == "text" and outcome.startswith(tuple(VERDICTS)):
            (assertion,) = yaml.safe_load(written)
            found.append(pytest.param(assertion, outcome.strip(), id=f"{len(found)}-{Path(assertion['value']).stem}"))
    return found


def conversation() -> Any:
    described = next(yaml.safe_load(text) for language, text in BLOCKS if text.startswith("calls:"))
    calls = []
    for each in described["calls"]:
        made = call(each["name"], each.get("status", "ok"), each["turn"], each["batch"], **each["arguments"])
        calls.append(replace(made, result=each.get("result")))
    evidence = evidence_of(calls)
    return replace(evidence, episode=replace(evidence.record(), messages=tuple(described["messages"])))


@pytest.fixture(scope="module", autouse=True)
def judge() -> Iterator[None]:
    """The local stand-in is asked where an example needs a judge."""
    with served_model() as url, pytest.MonkeyPatch.context() as environment:
        environment.setenv("EVALS_MODEL_BASE_URL", url)
        environment.setenv("EVALS_MODEL_API_KEY", KEY)
        environment.setenv("EVALS_JUDGE_MODEL", "")
        yield


@pytest.mark.parametrize(("assertion", "outcome"), examples())
def test_an_example_has_the_outcome_that_the_page_says(assertion: dict[str, Any], outcome: str) -> None:
    name = Path(assertion["value"]).stem
    result = grade(name, import_module(f"assertions.{name}").check, conversation(), assertion["config"])
    word = next(word for word in VERDICTS if outcome.startswith(word))
    expected = outcome if word.endswith(":") else outcome.removeprefix(word).lstrip()
    assert (result.verdict, result.reason) == (VERDICTS[word], expected)


def test_there_are_examples_of_passes_and_failures() -> None:
    words = {parameters.values[1].split()[0] for parameters in examples()}
    assert words >= {"PASS", "FAIL"}


def test_every_assertion_that_the_page_shows_is_followed_by_its_outcome() -> None:
    shown = [written for language, written in BLOCKS if language == "yaml" and "assertions/" in written]
    alone = "assert:"  # how an assertion stands in a case
    assert len(examples()) == len([written for written in shown if not written.startswith(alone)])
    judged = {"rubric", "groundedness", "user_goal", "task_completion"}
    assert judged <= {Path(parameters.values[0]["value"]).stem for parameters in examples()}


def test_the_quotation_of_the_rubric_is_the_one_that_the_page_shows() -> None:
    example = next(one.values[0] for one in examples() if one.values[0]["value"].endswith("rubric.py"))
    result = grade("rubric", import_module("assertions.rubric").check, conversation(), example["config"])
    assert f"`{result.components[0].reason}`" in re.sub(r"\s+", " ", TEXT)


@pytest.mark.parametrize("name", [name for name in assertion_names() if name not in ("goals", "scenario")])
def test_the_page_names_every_key_of_a_config(name: str) -> None:
    assert name in assertion_names()
    missing = [key for key in load_schema(name)["properties"] if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", TEXT)]
    assert missing == []


def test_the_truth_tables_of_page_and_readme_are_those_of_the_code() -> None:
    import assertions.tool_calls.forbidden as forbidden
    import assertions.tool_calls.sequence as sequence

    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    for module, first, text in (
        (sequence, "| calls |", TEXT),
        (sequence, "| calls |", readme),
        (forbidden, "| status", TEXT),
    ):
        in_code = [_verdicts(line) for line in str(module.__doc__).splitlines() if line.startswith("|")]
        assert in_code == [_verdicts(line) for line in _table(text, first)]


def _table(text: str, first: str) -> list[str]:
    lines = text[text.index(first) :].splitlines()
    return lines[: next(index for index, line in enumerate(lines) if not line.startswith("|"))]


def _verdicts(line: str) -> list[str]:
    return [cell.strip().lower().split(" (")[0].split(", ")[0] for cell in line.strip("|").split("|")[1:]]
