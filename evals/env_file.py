"""The file `.env`: variables that are not set otherwise. It is read and never written."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from endpoints.settings import CHECKOUT, SETTINGS, value
from evals.command_line import CommandError

if TYPE_CHECKING:
    from dotenv.parser import Binding

OFF = "off"


@dataclass(frozen=True)
class EnvFile:
    """What a file did. `path` is None when there is none; the names are those of variables."""

    path: Path | None = None
    taken: tuple[str, ...] = ()
    set_already: tuple[str, ...] = ()
    """What stands in the file as well, and was left as it was."""


def load_env_file(environment: MutableMapping[str, str] | None = None) -> EnvFile:
    """Set what the file has and the environment has not, even as an empty value.

    The file is `.env` in the checkout, or the one that EVALS_ENV_FILE names; `off` reads none.

    Raises:
        CommandError: the file can not be read, or has wrong lines, each named by its number; nothing is set then.
    """
    names = os.environ if environment is None else environment
    chosen = value("EVALS_ENV_FILE", names)
    path = Path(chosen).expanduser() if chosen else CHECKOUT / ".env"
    if chosen == OFF or not (chosen or path.exists()):
        return EnvFile()
    # Late: most runs have no such file.
    from dotenv.parser import parse_stream

    try:
        with path.open(encoding="utf-8-sig") as stream:
            bindings = list(parse_stream(stream))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        named = " (EVALS_ENV_FILE)" if chosen else ""
        raise CommandError(f"{path}{named} can not be read: {why}.") from None
    wrong = [f"{path}:{line}: {problem}" for line, problem in _problems(bindings)]
    if wrong:
        raise CommandError("\n".join(wrong))
    found = {binding.key: binding.value for binding in bindings if binding.key and binding.value is not None}
    taken = {name: text for name, text in found.items() if name not in names}
    names.update(taken)
    return EnvFile(path, tuple(taken), tuple(name for name in found if name not in taken))


def _problems(bindings: list[Binding]) -> Iterator[tuple[int, str]]:
    """Wrong lines with their numbers. No sentence holds a value: it may be a secret."""
    from formats.problems import nearest

    known = [setting.name for setting in SETTINGS]
    seen: dict[str, int] = {}
    for binding in bindings:
        text = binding.original.string
        # The parser counts the blank lines before a statement to it.
        line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
        name = binding.key
        if binding.error or (name and binding.value is None):
            yield line, "expected NAME=value, or # and a comment"
        elif name in seen:
            yield line, f"{name} stands in line {seen[name]} already; keep one of them"
        elif name and name.startswith("EVALS_") and name not in known:
            yield line, f"there is no variable {name} (`evals doctor` lists all){nearest(name, known)}"
        elif name:
            seen[name] = line
