"""An agent of the tests' own, with a scripted model and a real MCP server, run through the real provider entry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from episodes.record import Episode
from providers.production_agent import call_api
from tests.support.scripted_model import KEY, ScriptedModel

TOOLS = ("add", "ping", "fail", "slow", "steps", "huge", "create_pull_request")


@dataclass(frozen=True)
class Result:
    raw: dict[str, Any]
    episode: Episode

    @property
    def output(self) -> str:
        return str(self.raw["output"])

    @property
    def error(self) -> str:
        return str(self.raw.get("error", ""))

    @property
    def statuses(self) -> list[tuple[str, str]]:
        return [(call.name, str(call.status)) for call in self.episode.tool_calls or ()]


@dataclass(frozen=True)
class Rig:
    """`run` answers one prompt; the data folder is `home`, the agent's files are in `folder`."""

    home: Path
    folder: Path

    def run(self, prompt: str = "hello", *, variables: Mapping[str, Any] | None = None, **config: Any) -> Result:
        raw = call_api(
            prompt,
            {"config": {"agent": "./agent", "basePath": str(self.folder), "retries": 0, **config}},
            {
                "vars": {"__evalId": "eval-1", "__evalStepId": "test-0-prompt-0-repeat-0", **(variables or {})},
                "test": {"metadata": {"id": "C01"}},
            },
        )
        # As promptfoo writes it.
        json.dumps(raw, allow_nan=False, ensure_ascii=False).encode("utf-8")
        return Result(raw, Episode.from_metadata(raw["metadata"]))

    def ledger(self) -> list[dict[str, Any]]:
        files = list((self.home / "ledger").glob("*.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def make_rig(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: ScriptedModel,
    *,
    servers: list[dict[str, Any]],
    tools: tuple[str, ...] = TOOLS,
    **agent: Any,
) -> Rig:
    """The agent's files, and an environment that names every service, so that no local stack is started."""
    folder = tmp_path / "suite"
    files = folder / "agent"
    (files / "skills").mkdir(parents=True, exist_ok=True)
    (files / "instructions.md").write_text("Be careful.\n", encoding="utf-8")
    (files / "skills" / "adding.md").write_text("Add with `add`.\n", encoding="utf-8")
    settings: dict[str, Any] = {
        "name": "agent",
        "model": "scripted",
        "instructions": "instructions.md",
        "skills": ["skills/adding.md"],
        "servers": servers,
        "tools": list(tools),
        "createsPullRequests": ["create_pull_request"] if "create_pull_request" in tools else [],
        **agent,
    }
    (files / "agent.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    home = tmp_path / "home"
    for name, value in {
        "EVALS_HOME": str(home),
        "EVALS_PORTAL_URL": "http://127.0.0.1:1",
        "EVALS_PORTAL_TOKEN": "portal-token-of-the-test",
        "EVALS_MODEL_BASE_URL": model.url,
        "EVALS_MODEL_API_KEY": KEY,
        "EVALS_PULL_REQUEST_API": "http://127.0.0.1:1/landing-zones",
        "EVALS_PULL_REQUEST_TOKEN": "host-token-of-the-test",
        "EVALS_REPOSITORIES": "platform/spokes",
        "EVALS_AGENT_MODEL": "",
    }.items():
        monkeypatch.setenv(name, value)
    return Rig(home, folder)
