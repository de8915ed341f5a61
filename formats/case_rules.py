"""What a JSON Schema cannot say about cases: rules over several cases, over tools and over placeholders."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from formats.assertion_configs import is_ours
from formats.file_paths import missing
from formats.problems import Problem, nearest, shortest
from formats.tool_names import is_offered, named_tools
from formats.yaml_document import Document, Step

MOST_SMOKE_CASES = 6
"""The short run stays short: so many cases with `priority: smoke` over all suites, and no more."""

_PLACEHOLDER = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}|\$\{([A-Za-z_]\w*)\}")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Case:
    """One case of a file. `index` counts from 0."""

    document: Document
    index: int

    @property
    def test(self) -> dict[str, Any]:
        """The case as it stands in the file: a plain promptfoo test."""
        test: dict[str, Any] = self.document.value[self.index]
        return test

    @property
    def metadata(self) -> dict[str, Any]:
        metadata = self.test.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def id(self) -> str:
        return str(self.metadata.get("id", ""))

    def problem(self, path: Sequence[Step], message: str) -> Problem:
        return Problem(self.document.file, self.document.line((self.index, *path)), message)

    @property
    def assertions(self) -> list[dict[str, Any]]:
        """The entries of `assert`; an entry that is no mapping is an empty one here."""
        listed = self.test.get("assert")
        return [one if isinstance(one, dict) else {} for one in listed] if isinstance(listed, list) else []

    @property
    def variables(self) -> dict[str, Any]:
        variables = self.test.get("vars")
        return variables if isinstance(variables, dict) else {}


def cases_of(document: Document) -> list[Case]:
    """The cases of a file; entries that are not even a mapping are left to the schema."""
    value = document.value
    return (
        [Case(document, n) for n, test in enumerate(value) if isinstance(test, dict)] if isinstance(value, list) else []
    )


def problems_of_case(case: Case, offered: Collection[str]) -> Iterator[Problem]:
    """The rules for a case alone."""
    description = case.test.get("description")
    if case.id and isinstance(description, str) and description.split(maxsplit=1)[:1] != [case.id]:
        yield case.problem(["description"], f"must begin with the id {case.id}, so that --filter-pattern finds it")
    yield from _placeholders(case, case.variables)
    yield from _credentials(case, (), case.test)
    for position, assertion in enumerate(case.assertions):
        file = missing(assertion.get("value"), case.document.file.parent)
        if file is not None:
            hint = nearest(file.name, (one.name for one in file.parent.glob("*")))
            yield case.problem(
                ["assert", position, "value"],
                f"assert[{position + 1}].value: there is no file {file.name} in {shortest(file.parent)}{hint}",
            )
        for path, name in named_tools(assertion.get("config")):
            if not is_offered(name, offered):
                yield case.problem(
                    ["assert", position, "config", *path],
                    f"no server offers a tool {name}{nearest(name, offered)}; known are {', '.join(sorted(offered))}",
                )


def _credentials(case: Case, path: tuple[Step, ...], value: Any) -> Iterator[Problem]:
    """promptfoo stores a case as it is written, before any of our code could mask anything in it."""
    from endpoints.redaction import find

    if isinstance(value, dict):
        for key, item in value.items():
            yield from _credentials(case, (*path, key), item)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _credentials(case, (*path, position), item)
    elif isinstance(value, str) and find(value):
        yield case.problem(path, "holds what looks like a credential, and promptfoo would store it; take it out")


def problems_among(cases: Sequence[Case]) -> Iterator[Problem]:
    """The rules over the cases of all files."""
    yield from _repeated_ids(cases)
    yield from _nested_values(cases)
    smoke = [case for case in cases if case.metadata.get("priority") == "smoke"]
    for case in smoke[MOST_SMOKE_CASES:]:
        yield case.problem(
            ["metadata", "priority"],
            f"there are {len(smoke)} smoke cases, and at most {MOST_SMOKE_CASES} are allowed; make some of them full",
        )


def _repeated_ids(cases: Sequence[Case]) -> Iterator[Problem]:
    first: dict[str, Case] = {}
    for case in cases:
        earlier = first.setdefault(case.id, case)
        if case.id and earlier is not case:
            place = earlier.problem(["metadata", "id"], "")
            yield case.problem(
                ["metadata", "id"],
                f"the id {case.id} is taken by {str(place).rstrip(': ')}; ids are unique over all suites",
            )


def _nested_values(cases: Sequence[Case]) -> Iterator[Problem]:
    """A value that is part of another one would select both: --filter-metadata compares parts of values."""
    values: dict[str, dict[str, Case]] = {}
    for case in cases:
        for key, value in case.metadata.items():
            if isinstance(value, str) and value:
                values.setdefault(key, {}).setdefault(value, case)
    for key, found in values.items():
        for value, case in found.items():
            inside = [other for other in found if other != value and other in value]
            for other in inside:
                place = str(found[other].problem(["metadata", key], "")).rstrip(": ")
                yield case.problem(
                    ["metadata", key],
                    f"{key} {value} contains the value {other} of {place}, so --filter-metadata {key}={other} "
                    "would select both; no value may be part of another one",
                )


def _placeholders(case: Case, variables: Mapping[str, Any]) -> Iterator[Problem]:
    folder = case.document.file.parent
    elsewhere = [("assert", n, "config") for n, one in enumerate(case.assertions) if is_ours(one, folder)]
    for path, text in _texts(case.test, ()):
        if "rubricPrompt" in path or path[:3] in elsewhere:
            continue  # promptfoo fills it with values of its own; our assertions check their configs themselves
        for match in _PLACEHOLDER.finditer(text):
            name = _NAME.match(match.group(1) or "")
            if match.group(2) is None and name and (name.group() in variables or name.group() == "env"):
                continue
            known = f"the vars of this case are {', '.join(variables)}" if variables else "this case has no vars"
            yield case.problem(path, f"nothing fills the placeholder {match.group()}; {known}")


def _texts(value: Any, path: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
