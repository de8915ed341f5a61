"""Cases written by a command, in the form of a suite's case file, for a person to read and mend."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from evals.command_line import CommandError

CHECKOUT = Path(__file__).resolve().parent.parent
WIDTH = 120


def literal(text: str) -> str:
    """`text` as a var that promptfoo hands over unchanged: it fills in `{{…}}` in a case's top-level texts."""
    if not any(mark in text for mark in ("{{", "{%", "{#")):
        return text
    return "{% raw %}" + text.replace("{% endraw %}", "") + "{% endraw %}"


def assertion(name: str, config: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """One of our assertions as it stands in a case file, with its path relative to that file."""
    path = os.path.relpath(CHECKOUT / "assertions" / f"{name}.py", file.resolve().parent)
    return {"type": "python", "value": f"file://{Path(path).as_posix()}", "config": dict(config)}


def block(case: Mapping[str, Any], remarks: Sequence[str] = ()) -> str:
    """One case as YAML, with remarks as comments above it."""
    comments = "".join(f"# {' '.join(remark.split())}\n" for remark in remarks)
    return comments + yaml.dump([case], Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)


def write_new(file: Path, header: Sequence[str], blocks: Sequence[str]) -> None:
    """Write a new case file.

    Raises:
        CommandError: there is one already, or it cannot be written.
    """
    schema = os.path.relpath(CHECKOUT / "suites" / "case.schema.json", file.resolve().parent)
    head = [f"yaml-language-server: $schema={Path(schema).as_posix()}", *header]
    text = "\n".join(f"# {line}".rstrip() for line in head) + "\n\n" + "\n".join(blocks)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        raise CommandError(f"{file} is there already; name another file, or move it away.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)
