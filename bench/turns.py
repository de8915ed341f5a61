"""Time per turn that is not the model's: loop, MCP client, portal, record. One worker, one case after the other."""

from __future__ import annotations

from bench.figure import Figure
from bench.worker import run_cases


def measure() -> list[Figure]:
    return [Figure("time per turn that is not the model's", run_cases().ms_per_turn, "ms", 15)]
