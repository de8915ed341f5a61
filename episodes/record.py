"""The record of one conversation: what a provider returns as `metadata` and what every assertion and hook reads.

Keys are camelCase in the metadata, as promptfoo's own are, and snake_case here. The record is evidence: what is missing
from it is unknown, never "none". `Episode.tool_calls` is therefore `None` when nobody looked, and `()` when somebody
looked and there were none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from episodes.frozen import field, frozen

SCHEMA_VERSION = "1"
"""Version of the record. A reader refuses a record with another version rather than guess."""


class EvidenceError(ValueError):
    """The record cannot be read. `where` is the JSON Pointer inside the metadata."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where or '/'}: {problem}")
        self.where = where
        self.problem = problem


class ToolStatus(StrEnum):
    """What became of one tool call that the model asked for. Every call in the record was at least attempted."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    """The tool ran and answered that it failed."""
    TRANSPORT_ERROR = "transport_error"
    """It was sent, and no answer came back: whether it ran is unknown."""
    NOT_EXECUTED = "not_executed"
    """Refused before it was sent: outside the allow-list, over a budget, or the episode ended."""
    PARSE_ERROR = "parse_error"
    """Its arguments were not a JSON object, so it was not sent."""
    SCHEMA_ERROR = "schema_error"
    """Its arguments did not match the tool's own schema, so it was not sent."""

    @property
    def executed(self) -> bool | None:
        """True: the tool ran. False: it did not. None: unknown."""
        if self is ToolStatus.TRANSPORT_ERROR:
            return None
        return self in (ToolStatus.OK, ToolStatus.TOOL_ERROR)


class StopReason(StrEnum):
    """Why the conversation ended."""

    GOAL_REACHED = "goal_reached"
    """Every step of a simulation was reached."""
    USER_STOP = "user_stop"
    """The user has nothing more to say: the ordinary end."""
    AGENT_HANDOFF = "agent_handoff"
    MAX_TURNS = "max_turns"
    """The user's turns are used up: those of the conversation, or those of a simulation's step."""
    MAX_STEPS = "max_steps"
    """The agent gave no answer in the model answers that one turn allows: all of them, or the three with unreadable
    tool arguments."""
    DEADLINE = "deadline"
    BUDGET = "budget"
    """A limit that the provider's `budget` sets for the whole episode is used up."""
    CONTENT_FILTER = "content_filter"
    """The service refused the agent's conversation or its answer."""
    PROVIDER_ERROR = "provider_error"
    """A model can not be had, the configuration is wrong, or our own code failed."""
    TOOL_UNAVAILABLE = "tool_unavailable"
    """A tool server is gone, or does not offer what the agent needs."""
    SIMULATOR_DEFECT = "simulator_defect"
    """The simulated user, or the judge of a simulation's steps, gave nothing usable."""

    @property
    def broke_off(self) -> bool:
        """It says nothing about the agent: such a row is an error for promptfoo, neither a failure nor a pass."""
        return self in _BROKE_OFF


_BROKE_OFF = frozenset(
    {StopReason.PROVIDER_ERROR, StopReason.TOOL_UNAVAILABLE, StopReason.DEADLINE, StopReason.SIMULATOR_DEFECT}
)


@frozen
class ToolCall:
    """One tool call of the agent.

    `turn` counts the user's messages from 1; `step` counts the agent's model answers from 1 within the episode; calls
    of one model answer share a `batch`, and their order inside it means nothing. `arguments` is None unless the raw
    text was a JSON object. `result` is the structured content where the tool gives one, else its text.
    """

    id: str
    turn: int
    step: int
    batch: int
    server: str
    name: str
    arguments: dict[str, Any] | None
    arguments_raw: str
    status: ToolStatus
    result: Any = None
    started_at: str = ""
    latency_ms: float = 0.0
    problem: str = ""
    """In words, why the status is not `ok`."""
    replayed: bool = False
    """The answer came from a recording: nothing was created by this call."""
    added_arguments: dict[str, Any] | None = None
    """What the evaluation added to the arguments that were sent, such as a marker; `arguments` are the agent's own."""


@frozen
class AtHost:
    """What the host itself said about a pull request when the episode had ended.

    `asked_at` is ISO 8601 in UTC, and empty in a replay; `status` is `active`, `abandoned` or `completed`; branches are
    short names; paths have no leading slash. Without `exists`, the rest is empty.
    """

    exists: bool
    asked_at: str
    status: str = ""
    title: str = ""
    source_branch: str = ""
    target_branch: str = ""
    changed_paths: tuple[str, ...] = ()


@frozen
class PullRequest:
    """A pull request that a tool result of this episode proves. `status` is what the tool said at that time."""

    url: str
    id: str
    repository: str
    source_branch: str
    status: str
    at_host: AtHost | None = None
    """None: nobody asked, or the host did not answer."""
    replayed: bool = False
    """It comes from a recording, with what its host said then: this episode created nothing."""


@frozen
class Goal:
    """One step of a simulation: `reached`, `not_reached` (tried), or `blocked` (an earlier step was not reached)."""

    step: int
    text: str
    status: Literal["reached", "not_reached", "blocked"]
    reason: str
    turn: int = 0
    """The turn in which it was reached; 0 when it was not."""


@frozen
class VariableValue:
    """A session variable got a value: before the start (`turn` 0), or by the answer to a tool call."""

    name: str
    value: Any
    turn: int
    call_id: str = ""
    """The tool call whose answer set it; empty when no tool did."""


@frozen
class RoleUsage:
    """What one role spent. `cost` is in the price table's currency; None means that no price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    cost: float | None = None

    def plus(self, other: RoleUsage) -> RoleUsage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return RoleUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
            sum(known) if known else None,
        )


@frozen
class Usage:
    agent: RoleUsage = field(default_factory=RoleUsage)
    user: RoleUsage = field(default_factory=RoleUsage)
    judge: RoleUsage = field(default_factory=RoleUsage)


@frozen
class ModelCallTime:
    """How long one answered request to a model took, without the tries before it; `turn` is the turn it fell into."""

    role: str
    turn: int
    latency_ms: float


@frozen
class Timings:
    """`started_at` is ISO 8601 in UTC; the sums are in milliseconds. How long a tool took stands at its call."""

    started_at: str = ""
    duration_ms: float = 0.0
    model_ms: float = 0.0
    user_model_ms: float = 0.0
    tool_ms: float = 0.0
    judge_model_ms: float = 0.0
    """Of the judge that checks a simulation's steps while it runs."""
    model_calls: tuple[ModelCallTime, ...] = ()
    """Every request to a model, in order."""


@frozen
class Fingerprint:
    """One thing that can change a result: its name for people, and the SHA-256 of its content."""

    name: str
    sha256: str


@frozen
class CassetteUse:
    """The recordings that an episode was replayed from or recorded to: a file of the checkout, or one elsewhere.

    `mode` is `none` (only replayed), `all` (only recorded), or `new_episodes` (both).
    """

    file: str
    mode: str


@frozen
class Episode:
    """One conversation, from the first word to the stop reason."""

    case_id: str
    step_id: str
    stop_reason: StopReason
    eval_id: str = ""
    suite: str = ""
    messages: tuple[dict[str, Any], ...] = ()
    """Chat Completions messages, tool messages included, each with its `turn`."""
    tool_calls: tuple[ToolCall, ...] | None = None
    pull_requests: tuple[PullRequest, ...] = ()
    goals: tuple[Goal, ...] = ()
    variables: tuple[VariableValue, ...] | None = None
    """Every value that a session variable got, in order. None: nobody watched them."""
    usage: Usage = field(default_factory=Usage)
    timings: Timings = field(default_factory=Timings)
    fingerprint: dict[str, Fingerprint] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cassette: CassetteUse | None = None
    """None: nothing was replayed, and nothing recorded."""

    def to_metadata(self) -> dict[str, Any]:
        """The record as promptfoo stores it: plain JSON that survives JavaScript. Never raises."""
        from episodes.record_codec import encode_episode

        return encode_episode(self)

    @staticmethod
    def from_metadata(metadata: Mapping[str, Any], *, tagged: bool = True) -> Episode:
        """Read a record back. `tagged=False` says that it holds no integer that `json_safe` wrote as a tagged text.

        Raises:
            EvidenceError: the schema version is another one, or a part has the wrong shape.
        """
        from episodes.record_codec import decode_episode

        return decode_episode(metadata, tagged=tagged)

    def with_warnings(self, more: Sequence[str]) -> Episode:
        from dataclasses import replace

        return replace(self, warnings=(*self.warnings, *more))


__all__ = [
    "SCHEMA_VERSION",
    "AtHost",
    "CassetteUse",
    "Episode",
    "EvidenceError",
    "Fingerprint",
    "Goal",
    "ModelCallTime",
    "PullRequest",
    "RoleUsage",
    "StopReason",
    "Timings",
    "ToolCall",
    "ToolStatus",
    "Usage",
    "VariableValue",
]
