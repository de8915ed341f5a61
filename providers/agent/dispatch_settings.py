"""The limits and rules under which one agent's tool calls are sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from providers.agent.submission_rules import SubmissionRules


@dataclass(frozen=True)
class DispatchSettings:
    """`tool_idle_s`: how long a tool may give no sign of life. `max_result`: characters of a result that are shown.

    `rules`: what a creating call has to keep beside the tool's own schema.
    """

    tool_idle_s: float = 60.0
    max_result: int = 60_000
    marker: bool = True
    rules: SubmissionRules = field(default_factory=SubmissionRules)
