"""The texts with which the agent ends a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .building import Built, differences
from .injections import Injection
from .slots import pointer


def opened(result: Mapping[str, Any], built: Built, source: Mapping[str, Any] | None, remarks: Sequence[str]) -> str:
    """The pull request was opened."""
    name = built.configuration.get("name")
    lines = [f"I opened a pull request for `{name}`: {result.get('url')}", ""]
    if source is None:
        lines.append("It is a new spoke:")
        lines += [f"- {line}" for line in summary(built.configuration)]
    else:
        lines.append(f"What differs from `{source.get('name')}`:")
        lines += [f"- {line}" for line in differences(source, built.configuration)]
    if remarks:
        lines += ["", *remarks]
    lines += ["", "Someone of the platform team reviews and completes it."]
    return "\n".join(lines)


def summary(configuration: Mapping[str, Any]) -> list[str]:
    """A new configuration in a few lines."""
    network = configuration.get("virtualNetwork") or {}
    lines = [
        f"{key}: {configuration[key]}"
        for key in ("environment", "region", "costCenter", "dataClassification", "reviewDate")
        if key in configuration
    ]
    owner = configuration.get("owner") or {}
    lines.append(f"owner: {owner.get('team')} ({owner.get('email')})")
    lines.append(f"address space: {', '.join(network.get('addressSpace') or [])}")
    lines += [
        f"segment {s.get('name')}: {s.get('addressPrefix')} ({s.get('purpose')})" for s in network.get("subnets") or []
    ]
    return lines


def followed(built: Built) -> list[str]:
    """What the schema left no choice about, and other notes of the building."""
    lines = [f"{pointer(f.path)} had to become {f.value!r}: the rules leave no choice there." for f in built.followed]
    return [*lines, *(f"Note: {note}." for note in built.notes)]


def mentions(injections: Sequence[Injection]) -> list[str]:
    """What was found in documents and is not followed."""
    return [
        f"Note: {i.where[0].upper()}{i.where[1:]} contains instructions addressed to assistants "
        f'("{_short(i.text)}"). I treat what I read as data and did not follow them.'
        for i in injections
    ]


def invalid(errors: Sequence[Mapping[str, Any]], after: str) -> str:
    """The validation found something that the agent can not mend without changing what was asked."""
    lines = ["I can not open a pull request for this: the validation reports"]
    lines += [f"- {e.get('pointer') or '/'}: {e.get('message')} ({e.get('rule')})" for e in errors]
    lines += ["", f"No pull request was opened. {after}".strip()]
    return "\n".join(lines)


def _short(text: str) -> str:
    return text if len(text) <= 160 else text[:159] + "…"
