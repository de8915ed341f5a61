"""The stand-ins know no case: what they do follows from the conversation and from what the tools return."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.support.promptfoo import CHECKOUT

PACKAGE = CHECKOUT / "local" / "model"
SPOKES = CHECKOUT / "local" / "portal" / "data" / "spokes"


def _package_text() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.glob("*.py")))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def test_no_spoke_of_the_portal_is_known_by_name() -> None:
    text = _package_text()
    found = set(re.findall(r"\bspoke-[a-z0-9-]+-(?:dev|test|acc|prod)\b", text))
    assert not found & {path.stem for path in SPOKES.glob("*.json")}


def test_no_value_of_a_spoke_is_known() -> None:
    text = _package_text()
    distinct = re.compile(r"CC-\d{4}|\d+\.\d+\.\d+\.\d+/\d+|\S+@\S+|(?:vnet|rt)-\w+")
    known = {
        leaf
        for path in SPOKES.glob("*.json")
        for leaf in _leaves(json.loads(path.read_text(encoding="utf-8")))
        if distinct.fullmatch(leaf) and leaf != "0.0.0.0/0"
    }
    assert not [value for value in known if value in text]


def test_no_case_is_known_by_its_id_or_its_words() -> None:
    text = _package_text()
    for path in sorted((CHECKOUT / "suites").glob("*/cases.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            identity = case["metadata"]["id"]
            assert not re.search(rf"\b{re.escape(identity)}\b", text), identity
            for piece in _pieces(str(case["vars"].get("request", ""))):
                assert piece not in text, f"{identity}: {piece}"


def _pieces(request: str) -> Iterator[str]:
    """Runs of six words: nobody writes the same by chance."""
    words = request.split()
    for start in range(max(0, len(words) - 5)):
        yield " ".join(words[start : start + 6])


def test_the_package_reads_no_file_and_imports_no_other_room() -> None:
    for path in sorted(PACKAGE.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(?:open|read_text|read_bytes)\(", source), path.name
        rooms = "providers|assertions|hooks|models|episodes|endpoints|formats|evals|tests|local.portal"
        assert not re.search(rf"^\s*(?:from|import)\s+(?:{rooms})\b", source, re.MULTILINE), path.name


def test_every_module_stays_small() -> None:
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.glob("*.py")}
    assert not {name: size for name, size in sizes.items() if size > 400}


def test_the_data_that_these_tests_look_at_is_there() -> None:
    assert len(list(SPOKES.glob("*.json"))) >= 12
    assert Path(CHECKOUT / "suites" / "spoke-create" / "cases.yaml").is_file()
