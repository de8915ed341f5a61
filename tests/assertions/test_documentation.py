"""The examples of `docs/assertions.md` are judged, and their reasons compared word for word."""

from __future__ import annotations

import re
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
from tests.assertions.makers import call, evidence_of

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
    described = next(yaml.safe_load(text)["calls"] for language, text in BLOCKS if text.startswith("calls:"))
    calls = []
    for each in described:
        made = call(each["name"], each.get("status", "ok"), each["turn"], each["batch"], **each["arguments"])
        calls.append(replace(made, result=each.get("result")))
    return evidence_of(calls)


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


@pytest.mark.parametrize("name", [name for name in assertion_names() if name not in ("goals", "scenario")])
def test_the_page_names_every_key_of_a_config(name: str) -> None:
    assert name in assertion_names()
    missing = [key for key in load_schema(name)["properties"] if not re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", TEXT)]
    assert missing == []


def test_the_truth_table_of_the_page_is_that_of_the_code() -> None:
    import assertions.tool_calls.forbidden as forbidden
    import assertions.tool_calls.sequence as sequence

    for module, first in ((sequence, "| calls |"), (forbidden, "| status")):
        in_code = [_verdicts(line) for line in str(module.__doc__).splitlines() if line.startswith("|")]
        on_page = [_verdicts(line) for line in _table(TEXT, first)]
        assert in_code == on_page


def _table(text: str, first: str) -> list[str]:
    lines = text[text.index(first) :].splitlines()
    return lines[: next(index for index, line in enumerate(lines) if not line.startswith("|"))]


def _verdicts(line: str) -> list[str]:
    return [cell.strip().lower().split(" (")[0].split(", ")[0] for cell in line.strip("|").split("|")[1:]]
