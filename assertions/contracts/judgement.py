"""A contract: any of the other assertions, and the plain terms of a golden task, all in one process.

Each part is a component with its own named score `contract.<part>`. One part that failed fails the contract, whatever
else could not be judged; without a failure, one part that could not be judged makes the contract NOT EVALUATED.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from assertions.contracts.answer_facts import answer_facts, compiled, demand_words
from assertions.contracts.golden_task import TERMS
from assertions.evidence import Evidence
from assertions.remember import remembered
from assertions.run_check import Check, judged
from assertions.verdict import (
    NOT_EVALUATED_PREFIX,
    CheckResult,
    ConfigError,
    Verdict,
    not_evaluated,
)
from episodes.frozen import frozen

NAME = "contract"

CHECKS = (
    "tool_sequence",
    "tool_not_executed",
    "argument_match",
    "input_diff",
    "schema_validation",
    "pull_request",
    "golden_turn",
    "rubric",
    "groundedness",
    "user_goal",
    "task_completion",
    "goals",
    "scenario",
)
"""The assertions that a contract may contain. Each is also one by itself, with the same config."""


def judge(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    """Judge every part of the contract, in the order in which the config lists them."""
    parts = [_judge_part(part, evidence) for part in _prepared_parts(config)]
    if not parts:
        raise ConfigError("", "the contract has no part, so there would be nothing to check", CHECKS)
    return combined(NAME, parts)


def combined(name: str, parts: list[CheckResult]) -> CheckResult:
    """The conjunction of `parts`. The reason names every part that failed and every part that could not be judged, each
    on a line of its own; what a part says on further lines is indented."""
    # A part that is named after the whole brings a score of its own.
    named = {
        f"{name}.{part.name}": part.score
        for part in parts
        if part.verdict is not Verdict.NOT_EVALUATED and not part.name.startswith(f"{name}.")
    }
    score = sum(part.score for part in parts) / len(parts)
    labels = [part.name.removeprefix(f"{name}.") for part in parts]
    told = [_line(label, part) for label, part in zip(labels, parts, strict=True)]
    failures = [text for text, part in zip(told, parts, strict=True) if part.verdict is Verdict.FAIL]
    unknown = [text for text, part in zip(told, parts, strict=True) if part.verdict is Verdict.NOT_EVALUATED]
    if failures:
        head = [f"{len(failures)} of {len(parts)} parts failed"] if len(failures) > 1 else []
        reason = "\n".join([*head, *failures, *(f"not evaluated: {text}" for text in unknown)])
        return CheckResult(name, Verdict.FAIL, score, reason, named, tuple(parts))
    if unknown:
        whole = not_evaluated(name, "\n".join(unknown))
        return CheckResult(name, whole.verdict, 0.0, whole.reason, named | dict(whole.named_scores), tuple(parts))
    held = ", ".join(labels)
    count = "the one part holds" if len(parts) == 1 else f"all {len(parts)} parts hold"
    return CheckResult(name, Verdict.PASS, score, f"{count}: {held}", named, tuple(parts))


def _line(label: str, part: CheckResult) -> str:
    reason = part.reason.removeprefix(NOT_EVALUATED_PREFIX).strip()
    return f"{label}: {reason}".replace("\n", "\n  ")


def read_config(config: Mapping[str, Any]) -> None:
    """Find what the config's own schema can not, in every part.

    Raises:
        ConfigError: with the place inside the contract.
    """
    for label, name, part in _parts(config):
        key = "/" + label.replace("#", "/")
        try:
            if name == "answer":
                for kind in ("regex", "not_regex"):
                    patterns = part.get(kind, ())
                    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
                        compiled(pattern, kind, exact=True)
                for kind in ("contains", "not_contains"):
                    facts = part.get(kind, ())
                    for fact in (facts,) if isinstance(facts, str) else facts:
                        demand_words(fact, kind)
            elif name in CHECKS:
                reader = getattr(import_module(f"assertions.{name}"), "read_config", None)
                if reader is not None:
                    reader(part)
        except ConfigError as error:
            raise error.under(key) from None


def _parts(config: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Label, name and config of each part. One assertion with several configs is numbered from 1.

    A `tool_sequence` of plain names is that of a golden task: exactly these calls, in this order.
    """
    for name, value in config.items():
        if name == "tool_sequence" and isinstance(value, list) and all(isinstance(tool, str) for tool in value):
            yield name, name, {"mode": "exact", "steps": value}
        elif name in CHECKS and isinstance(value, list):
            for number, part in enumerate(value, 1):
                yield f"{name}#{number}", name, part
        else:
            yield name, name, value


@frozen
class _Part:
    """One part, ready to be judged: a label of its own where one assertion has several configs."""

    label: str
    name: str
    check: Check
    config: Mapping[str, Any]


def _prepare_parts(config: Mapping[str, Any]) -> tuple[_Part, ...]:
    return tuple(
        _Part(label, name, _check(name, part), part if isinstance(part, Mapping) else {})
        for label, name, part in _parts(config)
    )


_prepared_parts = remembered(_prepare_parts)


def _judge_part(part: _Part, evidence: Evidence) -> CheckResult:
    result = judged(part.name, part.check, evidence, part.config)
    if part.label == part.name:
        return result
    # Two results of one assertion must not share the names of their scores.
    return _relabelled(result, part.name, part.label)


def _check(name: str, config: Any) -> Check:
    if name in CHECKS:
        # Late: a contract loads only the assertions that it uses.
        check: Check = import_module(f"assertions.{name}").check
        return check
    term = answer_facts if name == "answer" else TERMS[name]
    return lambda evidence, _: term(name, evidence, config)


def _relabelled(result: CheckResult, name: str, label: str) -> CheckResult:
    def renamed(text: str) -> str:
        return label + text.removeprefix(name) if text == name or text.startswith(f"{name}.") else text

    return CheckResult(
        renamed(result.name),
        result.verdict,
        result.score,
        result.reason,
        {renamed(key): value for key, value in result.named_scores.items()},
        tuple(_relabelled(part, name, label) for part in result.components),
        result.details,
    )
