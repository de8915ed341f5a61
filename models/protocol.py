"""What a model is to the rest of the pack: one request, one reply, whatever API stands behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from episodes.record import RoleUsage
from models.deadline import Deadline

Message = Mapping[str, Any]
"""A message in Chat Completions form: `role`, `content`, and `tool_calls` or `tool_call_id` where it has them."""

FailureKind = Literal[
    "authentication",
    "bad_request",
    "connection",
    "content_filter",
    "deadline",
    "malformed_reply",
    "not_found",
    "rate_limit",
    "recording",
    "server",
    "timeout",
]


class ModelFailure(Exception):
    """The model gave no usable reply. The text holds neither address nor key.

    `kind` says what sort of failure it is, `attempts` how often it was tried.
    """

    def __init__(self, kind: FailureKind, problem: str, attempts: int = 1) -> None:
        super().__init__(problem)
        self.kind = kind
        self.problem = problem
        self.attempts = attempts


@dataclass(frozen=True)
class ModelRequest:
    """One request. None means: say nothing about it, the service's own default holds.

    `tools` are function tools in Chat Completions form. `response_schema` asks for a JSON answer of that schema.
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    parallel_tool_calls: bool | None = None
    response_schema: Mapping[str, Any] | None = None
    response_schema_name: str = "answer"
    seed: int | None = None


@dataclass(frozen=True)
class RequestedCall:
    """A tool call that the model asks for. `arguments_raw` is the text as it came, parsed or not."""

    id: str
    name: str
    arguments_raw: str


@dataclass(frozen=True)
class ModelReply:
    """One reply. `message` is what goes back into the history; `usage.cost` is None when no price is known.

    `finish_reason` is the service's own word: `stop`, `tool_calls`, `length`, `content_filter`, or another.
    """

    text: str
    calls: tuple[RequestedCall, ...]
    finish_reason: str
    message: dict[str, Any]
    usage: RoleUsage
    latency_ms: float
    model: str
    refusal: str = ""
    notes: tuple[str, ...] = field(default=())
    """What a reader of the record should know: parameters that were dropped, retries."""
    replayed: bool = False
    """The reply came from a recording."""


class Model(Protocol):
    @property
    def name(self) -> str:
        """Model or deployment name, as it is asked for."""
        ...

    async def complete(self, request: ModelRequest, deadline: Deadline) -> ModelReply:
        """Ask once, with retries inside the deadline.

        Raises:
            ModelFailure: there is no usable reply.
        """
        ...
