"""Read a suite's case file into promptfoo tests, and find what is wrong with case files before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from formats import checked
from formats.assertion_configs import checked_by, config_problems
from formats.case_rules import Case, cases_of, problems_among, problems_of_case
from formats.case_schema import schema_problems
from formats.file_paths import absolute
from formats.problems import CaseFileError, Problem
from formats.tool_names import offered_tools
from formats.yaml_document import Document, YamlProblem, read_yaml

CHECKOUT = Path(__file__).resolve().parent.parent


def read_cases(files: Iterable[Path], extra_tools: Collection[str] = (), checkout: Path = CHECKOUT) -> list[Case]:
    """Read and check case files together.

    Args:
        files: the case files; ids have to be unique over all of them.
        extra_tools: names of tools that are offered besides those known from `agent_config/`.
        checkout: where `agent_config/` lies.

    Raises:
        CaseFileError: with every problem found, each with file and line.
    """
    listed = list(files)
    mark = checked.digest(listed, extra_tools, checkout)
    problems: set[Problem] = set()
    documents: list[Document] = []
    for file in listed:
        try:
            documents.append(read_yaml(file.resolve()))
        except YamlProblem as error:
            problems.add(Problem(error.file, error.line, error.message))
    cases = [case for document in documents for case in cases_of(document)]
    if not checked.is_known(mark, checkout):
        problems.update(_problems(documents, cases, extra_tools, checkout))
    if problems:
        raise CaseFileError(sorted(problems))
    checked.remember(mark, checkout)
    return cases


def _problems(
    documents: Iterable[Document], cases: Sequence[Case], extra_tools: Collection[str], checkout: Path
) -> Iterator[Problem]:
    offered = frozenset(extra_tools)
    try:
        offered |= offered_tools(checkout)
    except YamlProblem as error:
        yield Problem(error.file, error.line, error.message)
    for document in documents:
        yield from schema_problems(document)
    for case in cases:
        yield from problems_of_case(case, offered)
        yield from config_problems(case)
    yield from problems_among(cases)


def as_test(case: Case, provider: str | None, suite: str | None) -> dict[str, Any]:
    """The case as promptfoo gets it.

    Every `file://` path becomes absolute, seen from the case file. `provider` is the label of the only provider that
    runs the case (None: every one), `suite` becomes `metadata.suite`. Lists never multiply a case. The config of each
    of our assertions carries the mark that it has been checked, so that no assertion's process checks it again.
    """
    test: dict[str, Any] = absolute(case.test, case.document.file.parent)
    test["assert"] = [checked_by(assertion) for assertion in test["assert"]]
    test["options"] = {**test.get("options", {}), "disableVarExpansion": True}
    if suite is not None:
        test["metadata"] = {**test["metadata"], "suite": suite}
    if provider is not None:
        test["providers"] = [provider]
    return test
