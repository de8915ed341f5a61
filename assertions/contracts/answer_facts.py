"""Facts that the agent's words must hold, or must not. Facts, not phrasing: one task has many right answers.

Upper and lower case, and runs of white space, make no difference unless `exact` is set. `scope: all` (default) looks at
everything the agent said, `last` at its last message only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, failed, passed

QUOTED = 200
"""How much of the answer a reason quotes, in characters."""


def answer_facts(name: str, evidence: Evidence, wanted: Mapping[str, Any]) -> CheckResult:
    """Config: `contains`, `not_contains`, `regex`, `not_regex` (a text or a list), `exact`, `scope`."""
    said = agent_texts(evidence)
    if not said:
        raise NotEvaluated("the record holds no words of the agent")
    text = said[-1] if wanted.get("scope") == "last" else "\n".join(said)
    exact = wanted.get("exact", False)
    plain = text if exact else _settled(text)
    problems: list[str] = []
    total = 0
    for key, positive in (("contains", True), ("not_contains", False)):
        for fact in _texts(wanted.get(key)):
            total += 1
            demand_words(fact, key)
            if ((fact if exact else _settled(fact)) in plain) is not positive:
                problems.append(f"the answer {'does not contain' if positive else 'contains'} {fact!r}")
    for key, positive in (("regex", True), ("not_regex", False)):
        for pattern in _texts(wanted.get(key)):
            total += 1
            if (compiled(pattern, key, exact).search(text) is not None) is not positive:
                problems.append(f"the answer {'does not match' if positive else 'matches'} {pattern!r}")
    score = 1.0 - len(problems) / total
    if not problems:
        return passed(name, f"{total} of {total} facts hold")
    return failed(name, f"{'; '.join(problems)}. The answer: {_quoted(text)}", score)


def agent_texts(evidence: Evidence) -> list[str]:
    """What the agent said, message by message; the plain output where the record has no messages."""
    record = evidence.episode
    if record is None or not record.messages:
        return [evidence.output] if evidence.output.strip() else []
    from assertions.pull_requests.proof import message_text

    texts = [message_text(message) for message in record.messages if message.get("role") == "assistant"]
    return [text for text in texts if text.strip()]


def demand_words(fact: str, key: str) -> None:
    """White space stands in every answer.

    Raises:
        ConfigError: the fact is nothing else.
    """
    if not fact.strip():
        raise ConfigError(f"/{key}", "is nothing but white space", "words that the answer may hold")


def compiled(pattern: str, key: str, exact: bool) -> re.Pattern[str]:
    """A fact's pattern, which may look at several lines.

    Raises:
        ConfigError: it does not compile.
    """
    try:
        return re.compile(pattern, re.MULTILINE if exact else re.MULTILINE | re.IGNORECASE)
    except re.error as error:
        raise ConfigError(f"/{key}", f"{pattern!r} is no regular expression: {error}") from None


def _settled(text: str) -> str:
    return " ".join(text.casefold().split())


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= QUOTED else text[:QUOTED] + "…")


def _texts(value: Any) -> Sequence[str]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
