"""Time per turn of the agent's loop that is not the model's: loop, MCP client, the portal's tools, record.

A turn of the loop is one answer of the model together with the tool calls that it asks for. One worker, one case after
the other, each three times, median over the episodes; an episode's start (agent file, tool sessions) and end are spread
over its turns. The time from sending a request to reading its answer is the model's here, our HTTP client's share in it
included; `bench.dialogue` has another stopwatch, at the service, which counts that share as ours.
"""

from __future__ import annotations

from bench.figure import Figure
from bench.worker import run_cases

EPISODES = 66
"""Three times the cases of spoke-create: a moment in which the machine does something else must not be the figure."""


def measure() -> list[Figure]:
    return [Figure("time per turn of the loop that is not the model's", run_cases(EPISODES).ms_per_turn, "ms", 15)]
