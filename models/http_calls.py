"""One HTTP call to a model service, whatever sends it: retries, time-outs, and what each failure means."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from endpoints.redaction import redact
from models.deadline import Deadline
from models.protocol import FailureKind, ModelFailure
from models.retry import RETRIED_STATUS, asked_wait, back_off

Post = Callable[[str, dict[str, Any], float], Awaitable[str]]
"""Sends a body to a path below the service's address, with a time-out in seconds, and returns the answer's text.

Raises NoAnswer or BadStatus, and nothing of the client that it uses.
"""

Send = Callable[[float], Awaitable[str]]
"""A `Post` whose path and body are settled."""

MAX_TEXT = 400
"""Characters of a service's own words that are kept in an error."""


class NoAnswer(Exception):
    """No answer came: not in time, or the connection failed. `problem` says what happened without saying where."""

    def __init__(self, kind: Literal["timeout", "connection"], problem: str) -> None:
        super().__init__(problem)
        self.kind: Literal["timeout", "connection"] = kind
        self.problem = problem


class BadStatus(Exception):
    """The service answered with an error status. `body` is the answer read as JSON, or None when it is none."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.body = body


class Refused(Exception):
    """The service answered with an error status that no retry mends. `code` and `parameter` are the service's own."""

    def __init__(self, status: int, code: str, parameter: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.parameter = parameter
        self.message = message


@dataclass(frozen=True)
class Answered:
    """`data` is the parsed JSON object of the answer; `latency_ms` is that of the last attempt alone."""

    data: dict[str, Any]
    latency_ms: float
    attempts: int
    reasons: tuple[str, ...]
    """Why the attempts before the last failed."""


@dataclass(frozen=True)
class _Failed:
    kind: FailureKind
    problem: str
    wait: float | None = None


async def call(send: Send, deadline: Deadline, *, retries: int, read_timeout_s: float, secrets: list[str]) -> Answered:
    """Send until an answer comes, at most `retries` more times, never beyond the deadline.

    Raises:
        ModelFailure: it could not be had in time.
        Refused: the service does not want this request.
    """
    reasons: list[str] = []
    for attempt in range(1, retries + 2):
        if deadline.passed:
            raise ModelFailure("deadline", _given_up("the deadline has passed", reasons), attempt - 1)
        started = time.monotonic()
        outcome = await _attempt(send, deadline.clip(read_timeout_s), secrets)
        if isinstance(outcome, dict):
            return Answered(outcome, (time.monotonic() - started) * 1000, attempt, tuple(reasons))
        reasons.append(outcome.problem)
        if deadline.passed:
            raise ModelFailure("deadline", _given_up("the deadline has passed", reasons), attempt)
        if attempt > retries:
            raise ModelFailure(outcome.kind, _given_up(f"given up after {attempt} attempts", reasons), attempt)
        wait = back_off(attempt, outcome.wait)
        if wait >= deadline.remaining():
            problem = f"the next attempt is {wait:.0f} s away and the deadline {deadline.remaining():.0f} s"
            raise ModelFailure(outcome.kind, _given_up(problem, reasons), attempt)
        await asyncio.sleep(wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _attempt(send: Send, timeout: float, secrets: list[str]) -> dict[str, Any] | _Failed:
    try:
        async with asyncio.timeout(timeout):
            text = await send(timeout)
    except TimeoutError:
        return _Failed("timeout", f"no answer within {timeout:.1f} s")
    except NoAnswer as error:
        return _Failed(error.kind, error.problem)
    except BadStatus as error:
        refusal = _refusal(error, secrets)
        if error.status in RETRIED_STATUS and refusal.code != "insufficient_quota":
            kind: FailureKind = "rate_limit" if error.status == 429 else "server"
            return _Failed(kind, f"HTTP {error.status} {refusal.message}".rstrip(), asked_wait(error.headers))
        raise refusal from None
    try:
        data = json.loads(text)
    except ValueError:
        return _Failed("malformed_reply", f"the answer is not JSON: {clean(text, secrets)[:80]!r}")
    if not isinstance(data, dict):
        return _Failed("malformed_reply", f"the answer is a JSON {type(data).__name__} instead of an object")
    return data


def _refusal(error: BadStatus, secrets: list[str]) -> Refused:
    body: Any = error.body if isinstance(error.body, dict) else {}
    details = body.get("error") if isinstance(body.get("error"), dict) else body
    inner = details.get("innererror") if isinstance(details.get("innererror"), dict) else {}
    code = details.get("code") or inner.get("code") or ""
    message = details.get("message") or ""
    return Refused(
        error.status,
        str(code),
        str(details.get("param") or ""),
        clean(str(message), secrets),
    )


def failure_of(refused: Refused, attempts: int = 1) -> ModelFailure:
    """The typed failure for a refusal that could not be mended."""
    kinds: dict[int, FailureKind] = {401: "authentication", 403: "authentication", 404: "not_found"}
    kind = kinds.get(refused.status, "bad_request")
    if is_content_filter(refused):
        kind = "content_filter"
    code = f" {refused.code}" if refused.code else ""
    return ModelFailure(kind, f"HTTP {refused.status}{code}: {refused.message or 'no reason given'}", attempts)


def is_content_filter(refused: Refused) -> bool:
    return refused.code in ("content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation")


def clean(text: str, secrets: list[str]) -> str:
    """`text` on one line, cut, without the strings that must not be seen (keys, addresses) and other credentials."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    text = " ".join(redact(text).split())
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def _given_up(problem: str, reasons: list[str]) -> str:
    return f"{problem}: {'; '.join(dict.fromkeys(reasons))}" if reasons else problem
