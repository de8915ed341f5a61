"""One suite through promptfoo, from its start until nothing is left of it."""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from endpoints.settings import SettingsError, home, value
from evals.command_line import CommandError
from evals.exit_codes import Exit
from evals.installation import environment, promptfoo_command
from evals.promptfoo_process import Ended, run_promptfoo
from evals.replay import only_replays
from evals.run_request import RunRequest
from evals.suites import Suite

if TYPE_CHECKING:
    from evals.summary import RunOutcome

CONCURRENCY = 4
"""Cases at the same time, unless -j says otherwise: a case mostly waits for its models. The local model computes here,
so with it there are no more than this machine has processors."""


@dataclass(frozen=True)
class SuiteRun:
    """`broke_off` says in words that promptfoo ended before its last case; it is empty when it did not."""

    outcome: RunOutcome
    broke_off: str = ""


def run_suite(request: RunRequest, suite: Suite) -> SuiteRun:
    """Run one suite through promptfoo, and clean up after it.

    Raises:
        CommandError: promptfoo ended before any case had, or its results can not be read.
    """
    begun = time.monotonic()
    file = _results_file(suite.name)
    streamed = file.with_suffix(".jsonl")
    try:
        ended = _start(request, suite, file, streamed)
    except CommandError:
        streamed.unlink(missing_ok=True)
        raise
    seconds = time.monotonic() - begun
    # Imported already, while promptfoo was starting.
    from evals.leftovers import find_eval_id, settle
    from evals.results import ResultsError, read_results
    from evals.summary import RunOutcome

    try:
        results = read_results(file if file.exists() else streamed)
    except ResultsError as error:
        raise CommandError(str(error), Exit.NOT_EVALUATED) from error
    if not results.rows:
        streamed.unlink(missing_ok=True)
    if not results.complete and not results.rows and not ended.interrupted:
        raise CommandError(
            f"promptfoo ended with code {ended.code} before any case of {suite.name} had; the reason stands above."
        )
    eval_id = results.eval_id or find_eval_id(file)
    leftovers = settle(home(), eval_id, results.rows, interrupted=not results.complete)
    written = results.file if results.complete or results.rows else None
    outcome = RunOutcome(suite.name, results.rows, leftovers, seconds, written, ended.interrupted, not _remote())
    if results.complete or ended.interrupted:
        return SuiteRun(outcome)
    problem = f"promptfoo broke off with code {ended.code}; the cases above are those that had ended."
    return SuiteRun(outcome, problem)


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
    """Start the local stack while promptfoo itself starts; this process keeps it alive until the cleanup is done. A run
    that only replays needs none. Also import what is needed when the run has ended.

    Raises:
        CommandError: the local portal and model did not start.
    """
    for name in ("evals.leftovers", "evals.results", "evals.summary"):
        import_module(name)
    if only_replays():
        return
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
