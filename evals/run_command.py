"""`evals run`: check everything that can be checked, run promptfoo, clean up, and say how it went."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from endpoints.settings import CHECKOUT, problems
from evals.command_line import CommandError
from evals.exit_codes import Exit, worst
from evals.forking.start import fork_server
from evals.provider_check import check_providers
from evals.replay import only_replays
from evals.run_request import RunRequest, read_request
from evals.selection import Selectable, check_selection
from evals.sign_in.session import signed_in
from evals.suite_run import run_suite
from evals.suites import CaseSource, Suite, choose, find_suites
from evals.unknown_variables import unknown_variables


def main(arguments: list[str]) -> int:
    """Run the suites that were asked for and return the exit code of `evals.exit_codes`."""
    request = read_request(arguments)
    if request is None:
        return Exit.PASSED
    known = find_suites(request.root or CHECKOUT)
    suites = choose(request.suites, known)
    replays = only_replays()
    check_providers(request, suites)
    check_cases(request, suites, known)
    for finding in unknown_variables():
        print(f"Warning: {finding.text}; {finding.mend}", file=sys.stderr)
    if not replays:
        _check_endpoints()
    codes = []
    with nullcontext() if replays else signed_in(device=request.device), fork_server():
        for suite in suites:
            ran = run_suite(request, suite)
            from evals.summary import in_words  # imported already, while promptfoo was starting

            print(in_words(ran.outcome), flush=True)
            if ran.broke_off:
                print(ran.broke_off, file=sys.stderr)
            code = worst([ran.outcome.exit, Exit.NOT_EVALUATED]) if ran.broke_off else ran.outcome.exit
            codes.append(code)
            if code is Exit.INTERRUPTED:
                break
    selected = [code for code in codes if code is not Exit.NOTHING_SELECTED]
    return worst(selected or codes)


def check_cases(request: RunRequest, suites: Sequence[Suite], known: Mapping[str, Suite]) -> None:
    """Read the case files of all suites, because ids are unique over all; complain about the chosen suites' only.

    Raises:
        CommandError: a case is faulty, or the filters select nothing.
    """
    from formats.case_files import read_cases
    from formats.problems import CaseFileError

    chosen = {source.file: source for suite in suites for source in suite.sources}
    others = {source.file: source for suite in known.values() for source in suite.sources if source.file not in chosen}
    tools = {name for source in (*chosen.values(), *others.values()) for name in source.tools}
    try:
        cases = read_cases([*others, *chosen], tools)
    except CaseFileError as error:
        ours = [problem for problem in error.problems if problem.file in {file.resolve() for file in chosen}]
        if ours:
            raise CommandError("\n".join(map(str, ours))) from error
        cases = read_cases(chosen, tools)
    for suite in suites:
        files = {source.file.resolve(): source for source in suite.sources}
        selectable = [
            _selectable(case.test, files[case.document.file]) for case in cases if case.document.file in files
        ]
        check_selection(request, suite, selectable)


def _selectable(test: Mapping[str, object], source: CaseSource) -> Selectable:
    metadata = test["metadata"]
    own = metadata if isinstance(metadata, dict) else {}
    return Selectable(str(test["description"]), {**own, "suite": source.suite})


def _check_endpoints() -> None:
    """Raises CommandError when a variable is missing or a configured address does not answer."""
    from evals.reachability import ask_all

    found = problems()
    if not found:
        found = [answer.sentence for answer in ask_all() if answer.problem]
    if found:
        raise CommandError("\n".join(found))
