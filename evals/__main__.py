"""`python -m evals <command> …`; also `npm run evals -- <command> …` and, with an active .venv, `evals <command> …`."""

from __future__ import annotations

import sys

from evals.command_line import CommandError
from evals.commands import COMMANDS, find, main_of
from evals.env_file import load_env_file
from evals.exit_codes import Exit


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit code. Every problem that a person can mend is one sentence on stderr."""
    name, *arguments = (sys.argv[1:] if words is None else words) or ["--help"]
    if name in ("-h", "--help", "help"):
        print(_help())
        return Exit.PASSED
    command = find(name)
    try:
        if command is None:
            raise CommandError(f"There is no command {name}; there are {', '.join(one.name for one in COMMANDS)}.")
        if command.reads_env_file and not {"-h", "--help"} & set(arguments):
            load_env_file()
        return main_of(command, arguments)
    except CommandError as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _help() -> str:
    width = max(len(command.name) for command in COMMANDS)
    lines = [f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS]
    return "\n".join(
        [
            "usage: evals <command> …     (npm run evals -- <command> …, yarn evals <command> …)",
            "",
            "commands:",
            *lines,
            "",
            "evals <command> --help tells more about one of them.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
