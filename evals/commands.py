"""The commands of `evals`, one module each.

A command's module has `main(arguments: list[str]) -> int`, parses its own arguments (`evals.command_line.parser`), and
raises `CommandError` to end with a sentence. It is imported only when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple


class Command(NamedTuple):
    name: str
    summary: str
    reads_env_file: bool = True
    """Variables of `.env` are set before it runs. Tests must not see a person's own endpoints."""

    @property
    def module(self) -> str:
        return f"evals.{self.name.replace('-', '_')}_command"


COMMANDS = (
    Command("run", "run suites through promptfoo, clean up, and say how it went"),
    Command("view", "look at the results in promptfoo's viewer, on this machine only"),
    Command("doctor", "check versions, variables and addresses, and say how to mend them", reads_env_file=False),
    Command("cleanup", "abandon what runs that were killed have left behind"),
    Command("real", "run a few cases with a real small language model, fetched on demand"),
    Command("grade", "judge recorded episodes again, in bulk and without an agent"),
    Command("judge-agreement", "let the judge grade a labelled set, and say how far it agrees"),
    Command("review-simulator", "grade the simulated users of a run"),
    Command("save-golden", "keep a finished conversation as a golden: fixed user turns and what they led to"),
    Command("propose-scenarios", "let a model propose scenarios for an agent, as cases for review"),
    Command("check-secrets", "look for credentials in what git tracks, or in what is about to be committed"),
    Command("checks", "linters, types and tests of this checkout (npm test)", reads_env_file=False),
)


def find(name: str) -> Command | None:
    return next((command for command in COMMANDS if command.name == name), None)


def main_of(command: Command, arguments: list[str]) -> int:
    code: int = import_module(command.module).main(arguments)
    return code


def missing_modules() -> list[str]:
    """Modules that the table names and this checkout lacks."""
    return [command.module for command in COMMANDS if find_spec(command.module) is None]
