"""What a check may say: pass, fail, or that it could not be judged, always with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from episodes.frozen import field, frozen

NOT_EVALUATED_PREFIX = "NOT EVALUATED:"
"""Every reason of a check that could not be judged begins with this; reports and gates count such rows apart."""


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    NOT_EVALUATED = "not_evaluated"


class ConfigError(ValueError):
    """An assertion's `config` is wrong. `key` is the JSON Pointer of the entry inside the config."""

    def __init__(self, key: str, problem: str, allowed: str | Iterable[str] = "") -> None:
        self.key = key or "/"
        self.problem = problem
        self.allowed = allowed if isinstance(allowed, str) else ", ".join(allowed)
        super().__init__(f"{self.key}: {problem}" + (f"; allowed: {self.allowed}" if self.allowed else ""))

    def under(self, prefix: str) -> ConfigError:
        """The same error, seen from a config that holds the wrong one at `prefix`."""
        return ConfigError(prefix + ("" if self.key == "/" else self.key), self.problem, self.allowed)


class NotEvaluated(Exception):
    """The evidence for a verdict is missing, cut or unreadable. `details` end up in the result's own."""

    def __init__(self, reason: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = details or {}


@frozen
class CheckResult:
    """One check's verdict.

    `score` lies in 0..1 and is 1 exactly when nothing is missing from a full pass. `named_scores` carry the check's
    name as a prefix (`tool_sequence.recall`). `components` are the parts of a check that has parts.
    """

    name: str
    verdict: Verdict
    score: float
    reason: str
    named_scores: Mapping[str, float] = field(default_factory=dict)
    components: tuple[CheckResult, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else a reader wants to know, as plain JSON: the judge's model, its prompt's hash, its raw reply. A `usage`
    with `promptTokens` and `completionTokens` is added to what promptfoo counts for assertions."""

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASS

    def to_promptfoo(self) -> dict[str, Any]:
        """The result as promptfoo reads it: `pass, score, reason, namedScores, componentResults` of plain JSON types.

        A component carries an `assertion` with its name as `metric`, because the viewer labels each line with it.
        """
        result: dict[str, Any] = {
            "pass": self.passed,
            "score": float(self.score),
            "reason": self.reason,
            "namedScores": {name: float(value) for name, value in self.all_named_scores().items()},
        }
        details = self.all_details()
        if details:
            result["metadata"] = details
            usage = [part["usage"] for part in details.values() if "usage" in part]
            prompt, completion = (sum(part[key] for part in usage) for key in ("promptTokens", "completionTokens"))
            result["tokensUsed"] = {"total": prompt + completion, "prompt": prompt, "completion": completion}
        if self.components:
            result["componentResults"] = [
                component.to_promptfoo() | {"assertion": {"type": "python", "metric": component.name}}
                for component in self.components
            ]
        return result

    def all_named_scores(self) -> dict[str, float]:
        """Its own named scores and those of its components: promptfoo adds up only the outermost ones."""
        scores: dict[str, float] = {}
        for component in self.components:
            scores |= component.all_named_scores()
        return scores | dict(self.named_scores)

    def all_details(self) -> dict[str, Mapping[str, Any]]:
        """Its own details and those of its components, by the name of the check."""
        found: dict[str, Mapping[str, Any]] = {}
        for component in self.components:
            found |= component.all_details()
        return found | {self.name: self.details} if self.details else found


def passed(name: str, reason: str, score: float = 1.0, named_scores: Mapping[str, float] | None = None) -> CheckResult:
    return CheckResult(name, Verdict.PASS, score, reason, named_scores or {}, (), {})


def failed(name: str, reason: str, score: float = 0.0, named_scores: Mapping[str, float] | None = None) -> CheckResult:
    return CheckResult(name, Verdict.FAIL, score, reason, named_scores or {}, (), {})


def not_evaluated(name: str, reason: str, details: Mapping[str, Any] | None = None) -> CheckResult:
    """A result that is neither pass nor fail: score 0, and the named score `<name>.not_evaluated` set to 1."""
    text = reason if reason.startswith(NOT_EVALUATED_PREFIX) else f"{NOT_EVALUATED_PREFIX} {reason}"
    return CheckResult(name, Verdict.NOT_EVALUATED, 0.0, text, {f"{name}.not_evaluated": 1.0}, (), details or {})


def conjunction(name: str, components: Iterable[CheckResult], passed_reason: str) -> CheckResult:
    """The check that all `components` pass.

    One failed component fails the whole, whatever else could not be judged; without a failure, one component that
    could not be judged makes the whole NOT EVALUATED. The reason is that of the first component which decides, and
    says how many more there are. The score is the mean.
    """
    parts = tuple(components)
    score = sum(part.score for part in parts) / len(parts) if parts else 0.0
    for verdict in (Verdict.FAIL, Verdict.NOT_EVALUATED):
        decisive = [part for part in parts if part.verdict is verdict]
        if decisive:
            more = f" (and {len(decisive) - 1} more of {len(parts)})" if len(decisive) > 1 else ""
            reason = f"{decisive[0].name}: {decisive[0].reason}{more}"
            named: dict[str, float] = {}
            if verdict is Verdict.NOT_EVALUATED:
                bare = decisive[0].reason.removeprefix(NOT_EVALUATED_PREFIX).lstrip()
                reason = f"{NOT_EVALUATED_PREFIX} {decisive[0].name}: {bare}{more}"
                named = {f"{name}.not_evaluated": 1.0}
            return CheckResult(name, verdict, score, reason, named, parts)
    if not parts:
        return not_evaluated(name, "there is nothing to check")
    return CheckResult(name, Verdict.PASS, score, passed_reason, {}, parts)
