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

from providers import worker
from providers.config_keys import CONVERSATION_KEYS

worker.prepare()


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Run one conversation. Never raises; see `providers.envelope` for the result."""
    body = "providers.conversation.episode:run_conversation"
    return worker.run(body, prompt, options, context, entry_keys=CONVERSATION_KEYS)
