"""A real promptfoo run of our conversation provider, with a scripted agent and a scripted developer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.promptfoo import CHECKOUT, run_promptfoo
from tests.support.scripted_model import Say, Step, scripted_model

Developer = Callable[[str, list[str]], str]
"""Gets the simulated user's instructions and what it has said so far, and says the next message."""

NOWHERE = "http://127.0.0.1:9"


def conversation_run(
    folder: Path, cases: Mapping[str, dict[str, Any]], *, user: Developer, lines: Sequence[str]
) -> Path:
    """Run the cases (vars by id) and return the results file. No local stack is started."""

    def step(body: dict[str, Any]) -> Say:
        instructions = body["messages"][0]["content"]
        said = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
        return Say(user(instructions, said), prompt_tokens=10, completion_tokens=2)

    steps: list[Step] = [step] * 100
    with scripted_model(*steps) as service:
        run = run_promptfoo(
            folder,
            {
                "prompts": ["{{request}}"],
                "providers": [
                    {
                        "id": f"file://{CHECKOUT}/providers/simulated_user.py",
                        "label": "spoke-create",
                        "config": {"agent": "tests.providers.conversation.agents:build_agent", "lines": list(lines)},
                    }
                ],
                "tests": [
                    {
                        "description": f"{case_id} a case",
                        "metadata": {"id": case_id, "group": "copies", "priority": "full"},
                        "vars": variables,
                        "assert": [{"type": "icontains", "value": "done"}],
                    }
                    for case_id, variables in cases.items()
                ],
            },
            {
                "EVALS_HOME": str(folder / "home"),
                "EVALS_MODEL_BASE_URL": service.url,
                "EVALS_MODEL_API_KEY": "key",
                "EVALS_PORTAL_URL": NOWHERE,
                "EVALS_PORTAL_TOKEN": "token",
                "EVALS_PULL_REQUEST_API": NOWHERE,
                "EVALS_PULL_REQUEST_TOKEN": "token",
                "EVALS_REPOSITORIES": "spokes",
            },
        )
    assert run.results is not None, run.printed
    return folder / "results.json"
