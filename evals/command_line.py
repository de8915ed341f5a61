"""What all commands share: a parser whose complaints are one sentence, and the error that ends a command."""

from __future__ import annotations

import argparse
from typing import NoReturn

from evals.exit_codes import Exit


class CommandError(Exception):
    """Ends a command with a sentence for the person and an exit code."""

    def __init__(self, sentence: str, code: Exit = Exit.SETUP) -> None:
        super().__init__(sentence)
        self.code = code


class Parser(argparse.ArgumentParser):
    """argparse with our exit code for a wrong command line."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{self.prog}: {message}. See `npm run {self.prog.replace(' ', ' -- ', 1)} --help`.")


def parser(name: str, description: str, examples: str) -> Parser:
    """The parser of the command `evals <name>`. `examples` are lines of a shell, as they are typed."""
    return Parser(
        prog=f"evals {name}",
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
