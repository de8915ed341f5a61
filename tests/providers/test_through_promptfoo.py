"""The provider inside the real promptfoo: what reaches the results, and what promptfoo makes of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from episodes.record import Episode
from tests.providers.agent.rig import make_rig
from tests.support.promptfoo import CHECKOUT, Run, run_promptfoo
from tests.support.scripted_model import KEY, Say, scripted_model
from tests.support.tool_process import tool_process

ENVIRONMENT = (
    "EVALS_HOME",
    "EVALS_PORTAL_URL",
    "EVALS_PORTAL_TOKEN",
    "EVALS_MODEL_BASE_URL",
    "EVALS_MODEL_API_KEY",
    "EVALS_PULL_REQUEST_API",
    "EVALS_PULL_REQUEST_TOKEN",
    "EVALS_REPOSITORIES",
)


def _answer(body: dict[str, Any]) -> Say:
    asked = body["messages"][1]["content"]
    if "forbidden" in asked:
        return Say(status=401, error={"message": f"wrong key {KEY}"})
    if body["messages"][-1]["role"] == "tool":
        return Say("the sum is 5")
    return Say(calls=[("add", {"a": 2, "b": 3})])


def _provider(folder: Path) -> dict[str, Any]:
    return {
        "id": f"file://{CHECKOUT}/providers/production_agent.py",
        "config": {"agent": str(folder / "agent"), "retries": 0},
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Two cases, two times each, traced: one adds with a tool, the model of the other refuses the key."""
    folder = tmp_path_factory.mktemp("through")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (
        tool_process(folder) as tools,
        scripted_model(*[_answer] * 20) as model,
        pytest.MonkeyPatch.context() as monkeypatch,
    ):
        rig = make_rig(folder, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}])
        config = {
            "prompts": ["{{request}}"],
            "providers": [_provider(rig.folder)],
            "tracing": {"enabled": True, "otlp": {"http": {"enabled": True, "host": "127.0.0.1", "port": port}}},
            "tests": [
                {
                    "description": "adds",
                    "metadata": {"id": "A1", "suite": "sums"},
                    "vars": {"request": "2 + 3?"},
                    "assert": [
                        {"type": "equals", "value": "the sum is 5"},
                        {"type": "trajectory:tool-used", "value": "add"},
                        {"type": "not-trajectory:tool-used", "value": "fail"},
                        {"type": "trajectory:tool-args-match", "value": {"name": "add", "args": {"a": 2, "b": 3}}},
                    ],
                },
                {
                    "description": "may not",
                    "metadata": {"id": "A2", "suite": "sums"},
                    "vars": {"request": "forbidden"},
                    "assert": [{"type": "javascript", "value": "true"}],
                },
            ],
        }
        environment = {name: os.environ[name] for name in ENVIRONMENT}
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{port}"
        yield run_promptfoo(folder / "run", config, environment, ["--repeat", "2"])


def test_rows_carry_the_record_and_a_fault_of_the_machinery_is_an_error_with_its_record(run: Run) -> None:
    adds = [row for row in run.rows if row["testCase"]["description"] == "adds"]
    assert [row["success"] for row in adds] == [True, True]
    episodes = [Episode.from_metadata(row["metadata"]) for row in adds]
    # promptfoo gives every repeat a test number of its own; together with it the step is unique in the run.
    assert sorted(episode.step_id.rpartition("-")[2] for episode in episodes) == ["0", "1"]
    assert len({episode.step_id for episode in episodes}) == 2
    assert {(episode.case_id, episode.suite, episode.eval_id) for episode in episodes} == {("A1", "sums", run.eval_id)}
    for episode in episodes:
        assert [(call.name, call.result) for call in episode.tool_calls or ()] == [("add", {"sum": 5})]
    assert adds[0]["response"]["tokenUsage"]["total"] == 220
    refused = [row for row in run.rows if row["testCase"]["description"] == "may not"]
    assert [row["success"] for row in refused] == [False, False]
    assert all("provider_error: model scripted: HTTP 401: wrong key …" in row["error"] for row in refused)
    assert all(Episode.from_metadata(row["response"]["metadata"]).case_id == "A2" for row in refused)
    assert run.results is not None
    assert run.results["results"]["stats"]["errors"] == 2
    assert KEY not in run.printed


def test_promptfoos_own_trajectory_assertions_see_the_tools(run: Run) -> None:
    adds = [row for row in run.rows if row["testCase"]["description"] == "adds"]
    assert len(adds) == 2
    for row in adds:
        judged = {
            part["assertion"]["type"]: part["pass"]
            for part in row["gradingResult"]["componentResults"]
            if "trajectory" in part["assertion"]["type"]
        }
        assert judged == dict.fromkeys(
            ("trajectory:tool-used", "not-trajectory:tool-used", "trajectory:tool-args-match"), True
        ), (row.get("error"), run.printed)
