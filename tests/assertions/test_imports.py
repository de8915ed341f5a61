"""What an assertion's process loads: each module costs every case of every run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import assertions
from assertions.config_check import stamped
from tests.assertions.makers import call, evidence_of

ROOT = Path(__file__).resolve().parents[2]
SLOW = ("dataclasses", "datetime", "fnmatch", "jsonschema", "pathlib", "referencing", "requests", "unicodedata", "yaml")
COMPARING = "assertions.matching.value_match"

PROGRAM = """
import json, sys
before = set(sys.modules)
from assertions import {name}
with open(sys.argv[1]) as file:
    context = json.load(file)
result = {name}.get_assert("Done.", context)
print(json.dumps([result["pass"], result["reason"], sorted(set(sys.modules) - before)]))
"""

CONFIGS: dict[str, dict[str, Any]] = {
    "tool_sequence": {"steps": ["get_spoke", "create_spoke_pull_request"]},
    "tool_not_executed": {"tools": ["delete_*"]},
    "argument_match": {"tool": "get_spoke", "args": {"name": {"$regex": "^spoke"}}},
    "input_diff": {"changes": [{"replace": "/name", "value": "b"}]},
}


def loaded_by(name: str, config: dict[str, Any], folder: Path) -> list[str]:
    read = replace(call("get_spoke", name="spoke-a"), result={"configuration": {"name": "a"}})
    made = [read, call("create_spoke_pull_request", configuration={"name": "b"})]
    context = {"config": config, "metadata": evidence_of(made).record().to_metadata(), "vars": {}}
    file = folder / "context.json"
    file.write_text(json.dumps(context), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name), str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    passed, reason, modules = json.loads(done.stdout)
    assert passed, reason
    return list(modules)


@pytest.mark.parametrize("name", CONFIGS)
def test_judging_with_a_stamped_config_loads_nothing_slow(name: str, tmp_path: Path) -> None:
    modules = loaded_by(name, stamped(name, CONFIGS[name], {}), tmp_path)
    assert [module for module in modules if module in SLOW] == []
    assert (COMPARING in modules) is (name in ("argument_match", "input_diff"))


def test_a_config_without_a_stamp_is_checked_there_and_then(tmp_path: Path) -> None:
    assert "jsonschema" in loaded_by("tool_sequence", CONFIGS["tool_sequence"], tmp_path)


@pytest.mark.parametrize("name", dir(assertions))
def test_every_name_that_is_offered_can_be_imported(name: str) -> None:
    assert getattr(assertions, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assertions' has no attribute 'grades'"):
        getattr(assertions, "grades" + "")
