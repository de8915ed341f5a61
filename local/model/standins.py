"""The stand-ins by the name that a request's `model` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .agent import spoke_agent
from .careless import careless_agent
from .developer import developer
from .judge import judge
from .protocol import ChatRequest, Reply
from .scenario_writer import scenario_writer

STANDINS: Mapping[str, Callable[[ChatRequest], Reply]] = {
    "spoke-agent": spoke_agent,
    "spoke-agent-careless": careless_agent,
    "developer": developer,
    "judge": judge,
    "scenario-writer": scenario_writer,
}
"""Every model that this server knows."""
