"""Session variables: where they begin, how tools change them, and the example of the page about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assertions.evidence import Evidence
from assertions.run_check import grade
from assertions.scenario import check
from assertions.verdict import CheckResult, Verdict
from episodes.record import Episode, VariableValue
from providers.agent.mcp_answers import VARIABLES_META
from providers.simulated_user import call_api
from tests.providers.agent.rig import Rig, make_rig
from tests.support.scripted_model import Say, scripted_model
from tests.support.session_server import SessionServer, session_server

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conversations.md"
(EXAMPLE,) = [
    yaml.safe_load(block)
    for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if "assertions/scenario.py" in block
]


def _reply(body: dict[str, Any]) -> Say:
    """The agent of the example: it verifies the customer, moves the delivery, and says so. The developer is content."""
    if body["model"] == "developer":
        return Say("###STOP###")
    told = sum(message["role"] == "tool" for message in body["messages"])
    steps = [Say(calls=[("verify_customer", {})]), Say(calls=[("move_delivery", {"day": "Friday"})])]
    return steps[told] if told < 2 else Say("Your delivery comes on Friday.")


@pytest.fixture
def server() -> Iterator[SessionServer]:
    with session_server() as running:
        running.answers = {
            "verify_customer": {
                "content": [{"type": "text", "text": "verified"}],
                "_meta": {VARIABLES_META: {"verified": True}},
            },
            "move_delivery": {"content": [{"type": "text", "text": "moved"}]},
        }
        yield running


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: SessionServer) -> Iterator[Rig]:
    with scripted_model(*[_reply] * 20) as model:
        for name in ("EVALS_USER_MODEL", "EVALS_CASSETTES", "CI"):
            monkeypatch.setenv(name, "")
        yield make_rig(
            tmp_path,
            monkeypatch,
            model,
            servers=[{"name": "shop", "url": server.url}],
            tools=("verify_customer", "move_delivery"),
        )


def play(rig: Rig, **config: Any) -> Episode:
    context = {"vars": EXAMPLE["vars"], "test": {"metadata": {"id": "V01"}}}
    options = {"config": {"agent": "./agent", "basePath": str(rig.folder), **config}}
    return Episode.from_metadata(call_api("", options, context)["metadata"])


def judged(episode: Episode) -> CheckResult:
    config = EXAMPLE["assert"][0]["config"]
    return grade("scenario", check, Evidence(episode, vars=EXAMPLE["vars"]), config)


def history(episode: Episode) -> list[tuple[str, Any, int]]:
    return [(value.name, value.value, value.turn) for value in episode.variables or ()]


def test_the_example_of_the_page_passes_with_a_tool_that_sets_the_variable(rig: Rig) -> None:
    episode = play(rig)
    assert history(episode) == [("verified", False, 0), ("plan", "basic", 0), ("verified", True, 1)]
    assert episode.variables is not None
    assert episode.variables[-1] == VariableValue("verified", True, 1, (episode.tool_calls or ())[0].id)
    result = judged(episode)
    assert result.verdict is Verdict.PASS, result.reason


def test_the_example_of_the_page_fails_when_no_tool_sets_the_variable(rig: Rig, server: SessionServer) -> None:
    del server.answers["verify_customer"]["_meta"]
    result = judged(play(rig))
    assert result.verdict is Verdict.FAIL
    assert "but verified was set to false at the start" in result.reason


def test_what_a_tool_sets_is_replayed_with_its_answer(rig: Rig) -> None:
    recorded = play(rig, cassette="all")
    replayed = play(rig, cassette="none")
    assert (replayed.tool_calls or ())[0].replayed
    assert replayed.variables == recorded.variables


def test_a_fake_may_set_variables_beside_its_result(rig: Rig) -> None:
    rule = {"tool": "verify_customer", "result": "verified", "variables": {"verified": True, "plan": "silver"}}
    assert history(play(rig, fakes={"rules": [rule]}))[2:] == [("verified", True, 1), ("plan", "silver", 1)]
    broken = play(rig, fakes={"rules": [{**rule, "result": "x", "variables": ["plan"]}]})
    assert "config.fakes.rules[0].variables: expected a mapping, beside a result" in broken.warnings[0]


def test_a_value_that_is_too_long_for_a_record_is_cut_and_decides_nothing(rig: Rig, server: SessionServer) -> None:
    server.answers["verify_customer"]["_meta"] = {VARIABLES_META: {"verified": "x" * 5_000}}
    episode = play(rig, maxResultCharacters=1_000)
    assert history(episode)[-1][1]["truncated"] is True
    assert judged(episode).verdict is Verdict.NOT_EVALUATED


def test_what_is_no_object_in_a_tools_meta_sets_nothing(rig: Rig, server: SessionServer) -> None:
    server.answers["verify_customer"]["_meta"] = {VARIABLES_META: ["verified"]}
    assert history(play(rig)) == [("verified", False, 0), ("plan", "basic", 0)]
