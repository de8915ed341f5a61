"""tau2-bench's orchestrator drives conversations of `bench.talk`: `tau2_talk.py QUESTION ANSWER`, with tau2's Python.

Agent, user simulator and environment are tau2's own; the two tools answer at once, inside this process, with what the
question says. QUESTION is a JSON file {"url", "key", "agent", "user", "policy", "goal", "tools": {name: result},
"talks": [opening message]}; ANSWER becomes a list with {"reason", "toolResults": {name: text}} for each talk.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from loguru import logger
from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import ToolMessage, UserMessage
from tau2.data_model.tasks import InitialState, Task, UserScenario
from tau2.environment.environment import Environment
from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.user.user_simulator import UserSimulator


class Tools(ToolKitBase):
    """What the agent of the script may call."""

    def __init__(self, results: dict[str, Any]) -> None:
        super().__init__()
        self._results = results

    @is_tool(ToolType.READ)
    def get_spoke(self, name: str) -> dict[str, Any]:
        """Read the configuration of a spoke.

        Args:
            name: Name of the spoke.
        """
        result: dict[str, Any] = self._results["get_spoke"]
        return {**result, "name": name}

    @is_tool(ToolType.READ)
    def search_docs(self, query: str, limit: int) -> dict[str, Any]:
        """Search the documents of the platform.

        Args:
            query: What to look for.
            limit: Most hits.
        """
        result: dict[str, Any] = self._results["search_docs"]
        return {**result, "query": query, "limit": limit}


def main(question: Path, answer: Path) -> None:
    logger.remove()
    logger.add(sys.stderr, level="ERROR")  # as its own command does
    asked = json.loads(question.read_text(encoding="utf-8"))
    answered = [_talk(asked, number, opening) for number, opening in enumerate(asked["talks"])]
    answer.write_text(json.dumps(answered), encoding="utf-8")


def _talk(asked: dict[str, Any], number: int, opening: str) -> dict[str, Any]:
    options = {"api_base": asked["url"], "api_key": asked["key"], "temperature": 0.0}
    scenario = UserScenario(instructions=asked["goal"])
    environment = Environment(domain_name="spokes", policy=asked["policy"], tools=Tools(asked["tools"]))
    run = Orchestrator(
        domain="spokes",
        agent=LLMAgent(environment.get_tools(), environment.get_policy(), f"openai/{asked['agent']}", options),
        user=UserSimulator(instructions=str(scenario), llm=f"openai/{asked['user']}", llm_args=options),
        environment=environment,
        task=Task(
            id=str(number),
            user_scenario=scenario,
            initial_state=InitialState(message_history=[UserMessage(role="user", content=opening)]),
        ),
    ).run()
    names = {call.id: call.name for message in run.messages for call in getattr(message, "tool_calls", None) or []}
    results = {names[message.id]: message.content for message in run.messages if isinstance(message, ToolMessage)}
    return {"reason": str(run.termination_reason), "toolResults": results}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
