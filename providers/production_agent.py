"""promptfoo provider: the production agent, one request and one answer.

providers:
  - id: file://../../providers/production_agent.py
    config: {agent: spoke}
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# promptfoo may have been started with another Python than the checkout's: a worker that can not be loaded makes it wait
# for ever, one that answers with an error says what is wrong.
sys.path.append(str(Path(__file__).resolve().parent.parent))

from providers import worker

worker.prepare()


def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Answer one prompt. Never raises; see `providers.envelope` for the result."""
    return worker.run("providers.agent.single_answer:single_answer", prompt, options, context)
