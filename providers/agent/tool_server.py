"""What a server of tools is to the agent's loop, whether it is a real MCP server, a recording or a fake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from models.deadline import Deadline


@dataclass(frozen=True)
class ToolInfo:
    """One tool as its server describes it. `input_schema` is a JSON Schema of an object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's answer. `structured` is None where the tool gives no structured content; `text` is all of its text."""

    text: str
    structured: Any = None
    is_error: bool = False
    replayed: bool = False
    """It comes from a recording, or is a fake: the tool did nothing."""
    faked: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Session variables that it sets, with their new values."""
    notes: tuple[str, ...] = ()


FailureReason = Literal["unreachable", "not_sent", "no_answer", "refused", "no_recording"]


class ToolFailure(Exception):
    """No answer came from a tool.

    `reason`: `unreachable` (the server could not be connected to), `not_sent` (the call did not leave), `no_answer`
    (it may have run), `refused` (the server answered that it does not take the call), `no_recording` (a replay has no
    answer for it).
    """

    def __init__(self, reason: FailureReason, problem: str) -> None:
        super().__init__(problem)
        self.reason = reason
        self.problem = problem


class ToolServer(Protocol):
    """One server, open for one episode."""

    @property
    def name(self) -> str: ...

    @property
    def live(self) -> bool:
        """False when no call can leave this process: then nothing is created, and nothing needs a ledger."""
        ...

    async def tools(self) -> tuple[ToolInfo, ...]:
        """Every tool that the server offers, all pages of its list.

        Raises:
            ToolFailure: the list can not be had.
        """
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idle_s: float, deadline: Deadline) -> ToolAnswer:
        """Call one tool. `idle_s` is how long it may give no sign of life (answer or progress).

        Raises:
            ToolFailure: no answer came.
        """
        ...
