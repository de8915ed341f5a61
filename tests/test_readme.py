"""What the README shows must be what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from endpoints.settings import CHECKOUT
from evals.commands import COMMANDS
from evals.exit_codes import Exit
from formats.case_files import read_cases

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SCRIPTS = json.loads((CHECKOUT / "package.json").read_text(encoding="utf-8"))["scripts"]


def blocks(text: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


def test_the_case_that_is_explained_is_the_one_in_the_suite() -> None:
    cases = yaml.safe_load((CHECKOUT / "suites/spoke-create/cases.yaml").read_text(encoding="utf-8"))
    (shown,) = [yaml.safe_load(block) for block in blocks(README)]
    assert shown == [case for case in cases if case["metadata"]["id"] == "C01"]


def test_every_command_that_is_shown_exists() -> None:
    for text in (README, CONTRIBUTING):
        for name in re.findall(r"(?:npm run|yarn) ([a-z:-]+)", text):
            assert name in SCRIPTS, name
    for name in re.findall(r"yarn evals ([a-z][a-z-]+)", README):
        assert name in {command.name for command in COMMANDS}, name


def test_every_exit_code_has_its_row() -> None:
    rows = {int(number) for number in re.findall(r"^\| (\d) \|", README, re.MULTILINE)}
    assert rows == {code for code in Exit if code != Exit.INTERRUPTED}


def test_every_room_that_is_named_is_there() -> None:
    for name in re.findall(r"^\| `([a-z_]+)/`", CONTRIBUTING, re.MULTILINE):
        assert (CHECKOUT / name).is_dir(), name


def test_the_example_of_a_new_case_is_a_case_that_the_loader_takes(tmp_path: Path) -> None:
    (example,) = blocks(CONTRIBUTING)
    file = tmp_path / "cases.yaml"
    file.write_text(example.replace("file://../..", f"file://{CHECKOUT}"), encoding="utf-8")
    (case,) = read_cases([file])
    assert case.test["metadata"]["id"] == "C23"
