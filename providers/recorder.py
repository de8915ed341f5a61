"""Collects what happens in one episode and makes the `Episode` of it, at any moment and however the episode ends."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from episodes.canonical import digest, digest_text
from episodes.record import (
    CassetteUse,
    Episode,
    Fingerprint,
    Goal,
    ModelCallTime,
    PullRequest,
    RoleUsage,
    StopReason,
    Timings,
    ToolCall,
    Usage,
    VariableValue,
)
from providers.side_files import CutText, SideFiles

Role = Literal["agent", "user", "judge"]

MAX_TEXT = 100_000
"""Characters of one text that a record holds. Far more than people write, far less than what breaks a viewer."""


@dataclass(frozen=True)
class CaseIdentity:
    """Which row of which run this is. `case_id` is the id in the case's metadata and the same in every repeat."""

    case_id: str
    step_id: str
    eval_id: str
    suite: str
    repeat: int = 0


def utc_now() -> str:
    """The time now as ISO 8601 in UTC, with milliseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Recorder:
    """The record of one episode while it runs. Used from one task or from tasks of one event loop.

    Tool calls count as unknown until `watch_tools` is called: an agent that does not report its calls must not look
    like one that made none.
    """

    def __init__(self, identity: CaseIdentity, side_files: SideFiles | None = None) -> None:
        """`side_files` takes what is too long for a record; without it, everything stays in the record."""
        self.identity = identity
        self._side_files = side_files
        self.turn = 0
        """Number of the user's latest message; 0 before the first."""
        self.step = 0
        """Number of the agent's latest model answer in this episode."""
        self.stop_reason: StopReason | None = None
        self.problem = ""
        """In words, why the episode stopped."""
        self.cassette: CassetteUse | None = None
        """Set when the episode was replayed or recorded, as a whole."""
        self.batch = 0
        """Number of the latest model answer that asked for tools."""
        self._messages: list[dict[str, Any]] = []
        self._tool_calls: list[ToolCall] | None = None
        self._pull_requests: list[PullRequest] = []
        self._goals: list[Goal] = []
        self._variables: list[VariableValue] = []
        self._variables_watched = False
        self._usage = Usage()
        self._fingerprint: dict[str, Fingerprint] = {}
        self._warnings: list[str] = []
        self._model_calls: list[ModelCallTime] = []
        self._tool_ms = 0.0
        self._started_at = utc_now()
        self._started = time.monotonic()
        self._ended: float | None = None

    def conversation_ended(self) -> None:
        """Stop the clock: what follows is about the record, and no part of the episode's duration."""
        self._ended = time.monotonic()

    @property
    def messages(self) -> tuple[dict[str, Any], ...]:
        return tuple(self._messages)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls so far; empty also when nobody watches."""
        return tuple(self._tool_calls or ())

    @property
    def pull_requests(self) -> tuple[PullRequest, ...]:
        return tuple(self._pull_requests)

    @property
    def usage(self) -> Usage:
        return self._usage

    def user_message(self, text: str, notes: Mapping[str, Any] | None = None) -> int:
        """Record the user's next message, which opens a turn; returns the turn's number.

        `notes` stand beside its text: where the message comes from, and what it took to get it.
        """
        self.turn += 1
        self.message({"role": "user", "content": text, **(notes or {})})
        return self.turn

    def message(self, message: Mapping[str, Any]) -> None:
        """Record one Chat Completions message; it belongs to the turn that is open."""
        self._messages.append({**message, "turn": self.turn})

    def ends_with_answer(self, text: str) -> bool:
        """True when the last recorded message is the agent's own, with this text."""
        last = self._messages[-1] if self._messages else {}
        return last.get("role") == "assistant" and last.get("content") == text

    def watch_tools(self) -> None:
        """From now on every tool call is recorded, so that no call means none."""
        if self._tool_calls is None:
            self._tool_calls = []

    def watch_variables(self) -> None:
        """From now on every change of a session variable is recorded, so that no change means none."""
        self._variables_watched = True

    def begin_step(self) -> int:
        """Count one model answer of the agent."""
        self.step += 1
        return self.step

    def begin_batch(self) -> int:
        """Count one model answer that asks for tools; its calls share this number."""
        self.batch += 1
        return self.batch

    def tool_call(self, call: ToolCall) -> None:
        self.watch_tools()
        assert self._tool_calls is not None
        self._tool_calls.append(call)
        self._tool_ms += call.latency_ms

    def pull_request(self, pull_request: PullRequest) -> None:
        """Record a pull request that a tool result proves; one that is known already is brought up to date."""
        known = [other for other in self._pull_requests if other.url != pull_request.url]
        self._pull_requests = [*known, pull_request]

    def goal(self, goal: Goal) -> None:
        self._goals.append(goal)

    def variable(self, name: str, value: Any, call_id: str = "") -> None:
        """Record that a session variable has a value from now on; `call_id` is the tool call that set it."""
        self._variables.append(VariableValue(name, value, self.turn, call_id))

    def model_call(self, role: Role, usage: RoleUsage, latency_ms: float) -> None:
        """Count one answered model request of a role."""
        self._usage = replace(self._usage, **{role: getattr(self._usage, role).plus(usage)})
        self._model_calls.append(ModelCallTime(role, self.turn, round(latency_ms, 1)))

    def fingerprint(self, part: str, name: str, content: Any) -> None:
        """Note one thing that can change a result: its name for people and the hash of its content (text or JSON)."""
        sha256 = digest_text(content) if isinstance(content, str) else digest(content)
        self._fingerprint[part] = Fingerprint(name, sha256)

    def warn(self, text: str) -> None:
        """Note something that a reader of the result should know; the same sentence is kept once."""
        if text not in self._warnings:
            self._warnings.append(text)

    def stop(self, reason: StopReason, problem: str = "") -> None:
        """Note why the episode ends. The first reason stays: what follows from it is not a reason."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self.problem = problem
            if problem:
                self.warn(problem)

    def spoil(self, problem: str) -> None:
        """Note that the episode does not count although it ended well, because its machinery failed."""
        self.stop_reason = StopReason.PROVIDER_ERROR
        self.problem = problem
        self.warn(problem)

    def episode(self) -> Episode:
        """The record as it stands. An episode that nobody stopped is one whose machinery failed.

        Texts of more than MAX_TEXT characters are cut; the whole of each goes to a side file.
        """
        messages = tuple(self._shortened(message) for message in self._messages)
        calls = None if self._tool_calls is None else tuple(map(self._with_short_arguments, self._tool_calls))
        return Episode(
            case_id=self.identity.case_id,
            step_id=self.identity.step_id,
            eval_id=self.identity.eval_id,
            suite=self.identity.suite,
            stop_reason=self.stop_reason or StopReason.PROVIDER_ERROR,
            messages=messages,
            tool_calls=calls,
            pull_requests=tuple(self._pull_requests),
            goals=tuple(self._goals),
            variables=tuple(self._variables) if self._variables_watched else None,
            usage=self._usage,
            timings=Timings(
                started_at=self._started_at,
                duration_ms=round(((self._ended or time.monotonic()) - self._started) * 1000, 1),
                model_ms=self._model_ms("agent"),
                user_model_ms=self._model_ms("user"),
                tool_ms=round(self._tool_ms, 1),
                judge_model_ms=self._model_ms("judge"),
                model_calls=tuple(self._model_calls),
            ),
            fingerprint=dict(self._fingerprint),
            warnings=tuple(self._warnings),
            cassette=self.cassette,
        )

    def _model_ms(self, role: Role) -> float:
        return round(sum(call.latency_ms for call in self._model_calls if call.role == role), 1)

    def _shortened(self, message: dict[str, Any]) -> dict[str, Any]:
        content = message.get("content")
        cut = self._cut(content) if isinstance(content, str) else None
        return message if cut is None else {**message, "content": cut.shown, "cut": cut.facts()}

    def _with_short_arguments(self, call: ToolCall) -> ToolCall:
        cut = self._cut(call.arguments_raw)
        return call if cut is None else replace(call, arguments_raw=cut.shown)

    def _cut(self, text: str) -> CutText | None:
        if self._side_files is None or len(text) <= MAX_TEXT:
            return None
        try:
            cut = self._side_files.cut(text, MAX_TEXT)
        except OSError as error:
            self.warn(f"a text of {len(text)} characters could not be kept aside: {error.strerror}")
            return None
        if cut is not None:
            self.warn(f"a text of {cut.length} characters was cut in the record; the whole is {cut.file}")
        return cut
