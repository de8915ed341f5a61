"""`evals checks`: everything that has to hold before a change is landed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from endpoints.settings import CHECKOUT
from evals.command_line import parser
from evals.exit_codes import Exit

_DESCRIPTION = """\
Run the linter, the format check, the type check and the tests. Every argument goes to pytest; without
any, all tests run, in four processes: many of them mostly wait."""

_EXAMPLES = """\
  npm test
  npm test -- tests/formats
  npm test -- -k smoke -x"""

_BEFORE = (
    ("linter", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy"]),
)


def main(arguments: list[str]) -> int:
    """All of it, even if an early part fails. Returns pytest's code, or 1 when only an early part failed."""
    if arguments[:1] in (["-h"], ["--help"]):
        parser("checks", _DESCRIPTION, _EXAMPLES).print_help()
        return Exit.PASSED
    with compiled_meanwhile(all_tests=not arguments):
        failed = [name for name, command in _BEFORE if not _holds(name, command)]
    tests = _module(["pytest", "-n", "4", "--dist", "loadfile", "--no-loadscope-reorder", *arguments])
    if failed:
        print(f"Not in order: {', '.join(failed)} (see above).", file=sys.stderr)
    return tests or (Exit.FAILED if failed else Exit.PASSED)


@contextmanager
def compiled_meanwhile(*, all_tests: bool) -> Iterator[None]:
    """Compile the tests of a new checkout while the block runs.

    Else each of the four processes compiles all of them, for 7 s of processor time each. Linter and type check leave a
    core free, on which one process does it for all.
    """
    if not all_tests or any((CHECKOUT / "tests").rglob("*-pytest-*.pyc")):
        yield
        return
    command = [sys.executable, "-m", "pytest", "--collect-only"]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        yield


def _holds(name: str, command: Sequence[str]) -> bool:
    code = _module(command)
    if code != 0:
        print(f"The {name} check failed: {' '.join(command)}", file=sys.stderr, flush=True)
    return code == 0


def _module(command: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", *command], cwd=CHECKOUT, check=False).returncode
