"""promptfoo provider: a simulated developer and the production agent talk, for at most 15 turns.

providers:
  - id: file://../../providers/simulated_user.py
    config: {agent: spoke, maxTurns: 10, user: {model: developer}, judge: {model: judge}}
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# promptfoo may have been started with another Python than the checkout's: a worker that can not be loaded makes it wait
# for ever, one that answers with an error says what is wrong.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from providers.envelope import ProviderCall, run_episode
from providers.warm_up import start_warm_up

start_warm_up()

OWN_KEYS = ("maxTurns", "user", "judge")


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Run one conversation. Never raises; see `run_episode` for the result."""
    return run_episode(_body, prompt, options, context, entry_keys=OWN_KEYS)


async def _body(call: ProviderCall) -> str:
    from providers.conversation.episode import run_conversation

    return await run_conversation(call)
