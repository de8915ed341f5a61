"""promptfoo provider: the production agent, one request and one answer.

providers:
  - id: file://../../providers/production_agent.py
    config: {agent: spoke}
"""

from __future__ import annotations

from typing import Any

from providers.envelope import ProviderCall, run_episode
from providers.warm_up import ready, start_warm_up

start_warm_up()


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Answer one prompt. Never raises; see `run_episode` for the result."""
    ready()
    return run_episode(_body, prompt, options, context)


async def _body(call: ProviderCall) -> str:
    from providers.agent.single_answer import single_answer

    return await single_answer(call)
