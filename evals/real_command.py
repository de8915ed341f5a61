"""`evals real`: a few cases with a real small language model, which is fetched when it is first asked for."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from endpoints.settings import SETTINGS, home
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.promptfoo_flags import BY_NAME
from evals.run_request import RunRequest, read_request

CASES = ("C01", "C02", "C18", "C22")
"""Without a filter: a plain copy, one where facts must be asked for, one to refuse, and a page that gives orders."""

CASE_SECONDS = 300
LEAST_SECONDS = 15

_EXAMPLES = """\
  npm run eval:real
  npm run eval:real -- --filter-pattern C18
  npm run eval:real -- --case-seconds 900        # on a slow or busy machine

exit codes (an agent that fails is expected and does not count):
  0 every case ended with a record and within its limits   2 one did not   3 the cleanup left something
  4 no case selected   5 set-up or configuration   130 stopped by Ctrl-C"""

_DESCRIPTION = f"""\
Let a real small language model play the agent and the developer, on the local portal. The first run fetches it (1.1 GB,
checked by its SHA-256) and what runs it, into EVALS_HOME. It needs 3 GB of free memory and no account, and computes on
this machine: some minutes a case. Without a filter it runs {", ".join(CASES)}; any filter of `promptfoo eval` chooses
among the cases of spoke-create. docs/real-model.md tells what to expect."""

_KEPT = frozenset({"EVALS_HOME", "EVALS_REDACT_EMAILS", "PROMPTFOO_CONFIG_DIR", "PROMPTFOO_PYTHON"})
"""Variables that this command heeds. A model of this size is let loose on nothing but the local portal."""

_FILTERS = ("--filter-", "-n")
_ALSO = ("--repeat",)


def main(arguments: list[str]) -> int:
    """Run the cases and say how it went. The exit code tells whether the machinery held, not how good the agent was.

    Raises:
        CommandError: a wrong line, no room for the model, or it can not be had or started.
    """
    options, rest = _parser().parse_known_args(arguments)
    request = _request(rest)
    # Late: `--help` needs nothing of it.
    from evals.forking.start import fork_server
    from evals.real_model.engine_process import serving
    from evals.real_model.fetching import FOLDER, fetched
    from evals.real_model.limits import CONFIG, read_limits
    from evals.real_model.machine import check_memory
    from evals.real_model.pinned import read_pinned
    from evals.real_model.report import RealRun, in_words
    from evals.run_command import check_cases
    from evals.suite_run import run_suite
    from evals.suites import read_suite

    _only_local()
    suite = read_suite("real-model", CONFIG)
    check_cases(request, [suite], {suite.name: suite})
    pinned = read_pinned()
    check_memory()
    found = fetched(home(), pinned, _say)
    _say(f"Loading {pinned.model.title} …")
    with serving(found, pinned.model.name, home() / FOLDER / "engine.log") as service, fork_server():
        os.environ.update(
            {
                "EVALS_MODEL_BASE_URL": service.url,
                "EVALS_MODEL_API_KEY": service.key,
                "EVALS_AGENT_MODEL": pinned.model.name,
                "EVALS_USER_MODEL": pinned.model.name,
                # The providers end a case shortly before promptfoo would give it up.
                "REQUEST_TIMEOUT_MS": str((options.case_seconds + LEAST_SECONDS) * 1000),
                "PROMPTFOO_EVAL_TIMEOUT_MS": str((options.case_seconds + 8 * LEAST_SECONDS) * 1000),
            }
        )
        ran = run_suite(request, suite)
    limits = read_limits(float(options.case_seconds))
    run = RealRun(pinned.model.title, ran.outcome, limits, ran.broke_off)
    print(in_words(run), flush=True)
    return run.exit if ran.outcome.rows or ran.outcome.interrupted else Exit.NOTHING_SELECTED


def _parser() -> argparse.ArgumentParser:
    line = parser("real", _DESCRIPTION, _EXAMPLES)
    line.usage = "evals real [--case-seconds N] [promptfoo's filters]"
    line.add_argument(
        "--case-seconds",
        type=_seconds,
        default=CASE_SECONDS,
        metavar="N",
        help=f"seconds that one conversation may take; {CASE_SECONDS} unless given",
    )
    return line


def _seconds(text: str) -> int:
    if not text.isdecimal() or not LEAST_SECONDS <= int(text) <= 3600:
        raise argparse.ArgumentTypeError(f"a whole number from {LEAST_SECONDS} to 3600 is allowed, and not {text!r}")
    return int(text)


def _request(words: list[str]) -> RunRequest:
    """The line for promptfoo: one case at a time, each anew, and our choice of cases unless there is a filter."""
    request = read_request(words)
    if request is None:
        raise CommandError("evals real: see `npm run eval:real -- --help`.")
    if request.suites or request.models or request.root or request.device:
        raise CommandError("evals real has a suite, models and a portal of its own; it takes filters of cases only.")
    flags = [word for word in request.passed if word in BY_NAME]
    for flag in flags:
        if not flag.startswith(_FILTERS) and flag not in _ALSO:
            raise CommandError(f"{flag} has no place in `evals real`, which takes filters of cases and --repeat only.")
    passed = [*request.passed, "-j", "1", "--no-cache"]
    if not any(flag.startswith(_FILTERS) for flag in flags):
        passed += ["--filter-pattern", f"^({'|'.join(CASES)}) "]
    return replace(request, passed=tuple(passed))


def _only_local() -> None:
    """Forget configured services and whatever else changes a run, for this process and what it starts."""
    for setting in SETTINGS:
        if setting.name not in _KEPT:
            os.environ.pop(setting.name, None)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
