"""Read a suite's case file into promptfoo tests, and find what is wrong with case files before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

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
    problems: set[Problem] = set()
    documents: list[Document] = []
    offered: frozenset[str] = frozenset(extra_tools)
    try:
        offered |= offered_tools(checkout)
    except YamlProblem as error:
        problems.add(Problem(error.file, error.line, error.message))
    for file in files:
        try:
            documents.append(read_yaml(file.resolve()))
        except YamlProblem as error:
            problems.add(Problem(error.file, error.line, error.message))
    for document in documents:
        problems.update(schema_problems(document))
    cases = [case for document in documents for case in cases_of(document)]
    for case in cases:
        problems.update(problems_of_case(case, offered))
        problems.update(config_problems(case))
    problems.update(problems_among(cases))
    if problems:
        raise CaseFileError(sorted(problems))
    return cases


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
