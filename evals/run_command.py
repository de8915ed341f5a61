"""`evals run`: check everything that can be checked, run promptfoo, clean up, and say how it went."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from endpoints.settings import CHECKOUT, SettingsError, home, problems, value
from evals.command_line import CommandError
from evals.exit_codes import Exit, worst
from evals.fork_server import fork_server
from evals.installation import environment, promptfoo_command
from evals.promptfoo_process import Ended, run_promptfoo
from evals.run_request import RunRequest, read_request
from evals.selection import Selectable, check_selection
from evals.sign_in.session import signed_in
from evals.suites import CaseSource, Suite, choose, find_suites

CONCURRENCY = 4
"""Cases at the same time, unless -j says otherwise: a case mostly waits for its models. The local model computes here,
so with it there are no more than this machine has processors."""


def main(arguments: list[str]) -> int:
    """Run the suites that were asked for and return the exit code of `evals.exit_codes`."""
    request = read_request(arguments)
    if request is None:
        return Exit.PASSED
    known = find_suites(request.root or CHECKOUT)
    suites = choose(request.suites, known)
    _check_cases(request, suites, known)
    _check_endpoints()
    codes = []
    with signed_in(device=request.device), fork_server():
        for suite in suites:
            code = _run(request, suite)
            codes.append(code)
            if code is Exit.INTERRUPTED:
                break
    selected = [code for code in codes if code is not Exit.NOTHING_SELECTED]
    return worst(selected or codes)


def _check_cases(request: RunRequest, suites: Sequence[Suite], known: Mapping[str, Suite]) -> None:
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


def _run(request: RunRequest, suite: Suite) -> Exit:
    from evals.leftovers import find_eval_id, settle
    from evals.results import ResultsError, read_results
    from evals.summary import RunOutcome, in_words

    begun = time.monotonic()
    file = _results_file(suite.name)
    streamed = file.with_suffix(".jsonl")
    try:
        ended = _start(request, suite, file, streamed)
    except CommandError:
        streamed.unlink(missing_ok=True)
        raise
    seconds = time.monotonic() - begun
    try:
        results = read_results(file if file.exists() else streamed)
    except ResultsError as error:
        raise CommandError(str(error), Exit.NOT_EVALUATED) from error
    if results.complete or not results.rows:
        streamed.unlink(missing_ok=True)
    if not results.complete and not results.rows and not ended.interrupted:
        raise CommandError(
            f"promptfoo ended with code {ended.code} before any case of {suite.name} had; the reason stands above."
        )
    eval_id = results.eval_id or find_eval_id(file)
    leftovers = settle(home(), eval_id, results.rows, interrupted=not results.complete)
    written = results.file if results.complete or results.rows else None
    outcome = RunOutcome(suite.name, results.rows, leftovers, seconds, written, ended.interrupted)
    print(in_words(outcome), flush=True)
    if not results.complete and not ended.interrupted:
        print(f"promptfoo broke off with code {ended.code}; the cases above are those that had ended.", file=sys.stderr)
        return worst([outcome.exit, Exit.NOT_EVALUATED])
    return outcome.exit


def _start(request: RunRequest, suite: Suite, file: Path, streamed: Path) -> Ended:
    concurrency = (request.values("-j", "--max-concurrency") or [str(CONCURRENCY)])[-1]
    flags = [*request.passed]
    if not request.given("-j", "--max-concurrency"):
        flags += ["-j", concurrency]
    if not request.given("--table", "--no-table"):
        flags.append("--no-table")
    command = promptfoo_command("eval", "-c", str(suite.config), *flags, "-o", str(file), "-o", str(streamed))
    os.environ.update(request.models)
    own = {
        "PROMPTFOO_PYTHON_WORKERS": os.environ.get("PROMPTFOO_PYTHON_WORKERS", concurrency if _remote() else "1"),
        # promptfoo's own code for failed cases would leave through ours.
        "PROMPTFOO_FAILED_TEST_EXIT_CODE": "0",
    }
    if not request.given("--share"):
        own["PROMPTFOO_DISABLE_SHARING"] = "1"
    try:
        return run_promptfoo(command, environment(own), alongside=_endpoints)
    except SettingsError as error:
        raise CommandError(str(error)) from error


def _remote() -> bool:
    """Whether a case waits for a model elsewhere. The local model computes on this machine: one provider worker keeps
    it busy, and each worker more costs the start of another Python with its imports.
    """
    return bool(value("EVALS_MODEL_BASE_URL") or value("AZURE_OPENAI_ENDPOINT"))


def _endpoints() -> None:
    """Start the local stack while promptfoo itself starts; this process keeps it alive until the cleanup is done.

    Raises:
        CommandError: the local portal and model did not start.
    """
    from endpoints import resolve
    from endpoints.local_stack import StackError

    try:
        resolve()
    except StackError as error:
        raise CommandError(str(error)) from error


def _results_file(suite: str) -> Path:
    """A name that no other run has: its rows-so-far file is created here and now.

    Raises:
        CommandError: the folder cannot be made.
    """
    folder = home() / "results"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder}: no results can be written there ({error.strerror}); set EVALS_HOME.") from error
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    names = (f"{stamp}-{suite}{'' if number == 1 else f'-{number}'}.json" for number in itertools.count(1))
    return next(folder / name for name in names if _claimed((folder / name).with_suffix(".jsonl")))


def _claimed(file: Path) -> bool:
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
