"""What the loop makes of a model's replies, good and bad: limits, filters, cut and empty answers, two APIs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from episodes.record import StopReason
from tests.providers.agent.rig import Rig, make_rig
from tests.support.scripted_model import Say, ScriptedModel, Step, scripted_model
from tests.support.tool_process import ToolProcess

PING = Say(calls=[("ping", {})])


class Desk:
    def __init__(self, tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._tools = tools
        self._tmp_path = tmp_path
        self._monkeypatch = monkeypatch

    @contextmanager
    def rig(self, *script: Step, **agent: Any) -> Iterator[tuple[Rig, ScriptedModel]]:
        with scripted_model(*script) as model:
            servers = [{"name": "portal", "url": self._tools.url}]
            yield make_rig(self._tmp_path, self._monkeypatch, model, servers=servers, **agent), model


@pytest.fixture
def desk(tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tools, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("budget", "requests", "reason"),
    [
        ({"tokens": 200}, 2, "220 tokens are used, of 200 (budget.tokens)"),
        ({"cost": 0.0002}, 2, "0.00022 is spent, of 0.0002 (budget.cost)"),
        ({"steps": 3}, 3, "3 model answers were given, of 3 (budget.steps)"),
        ({"toolCalls": 1}, 1, "1 tools were called, of 1 (budget.toolCalls)"),
    ],
)
def test_a_budget_ends_the_episode_before_the_next_request_and_is_no_error(
    desk: Desk, budget: dict[str, Any], requests: int, reason: str
) -> None:
    with desk.rig(*[PING] * 9) as (rig, model):
        result = rig.run(budget=budget, prices={"*": {"input": 1, "output": 1}})
    assert len(model.asked) == requests
    assert (result.episode.stop_reason, result.error) == (StopReason.BUDGET, "")
    assert reason in result.episode.warnings


@pytest.mark.parametrize("prices", [{}, {"another": {"input": 1, "output": 1}}])
def test_a_budget_of_money_for_a_model_without_a_price_is_an_error(desk: Desk, prices: dict[str, Any]) -> None:
    with desk.rig(Say("done")) as (rig, model):
        result = rig.run(budget={"cost": 1}, prices=prices)
    assert result.error == (
        "provider_error: configuration: budget.cost: `prices` has no price for the model 'scripted', so what is "
        "spent is unknown"
    )
    assert model.asked == []


def test_the_cost_of_an_episode_is_that_of_its_requests(desk: Desk) -> None:
    with desk.rig(PING, Say("done")) as (rig, _):
        result = rig.run(prices={"scripted": {"input": 2, "output": 10}})
    assert result.raw["cost"] == pytest.approx(2 * (100 * 2 + 10 * 10) / 1_000_000)
    assert result.episode.usage.agent.cost == pytest.approx(result.raw["cost"])


def test_without_prices_there_is_no_cost_at_all(desk: Desk) -> None:
    with desk.rig(Say("done")) as (rig, _):
        assert "cost" not in rig.run().raw


@pytest.mark.parametrize(
    "reply",
    [
        Say("half a", finish_reason="content_filter"),
        Say(status=400, error={"code": "content_filter", "message": "the prompt was filtered"}),
    ],
)
def test_a_content_filter_is_a_reason_to_stop_and_not_an_error(desk: Desk, reply: Say) -> None:
    with desk.rig(reply) as (rig, _):
        result = rig.run()
    assert (result.episode.stop_reason, result.error) == (StopReason.CONTENT_FILTER, "")


def test_a_cut_and_an_empty_answer_are_answers_with_a_warning(desk: Desk) -> None:
    with desk.rig(Say("half an", finish_reason="length"), Say("")) as (rig, _):
        cut, empty = rig.run(), rig.run()
    assert cut.output == "half an"
    assert "step 1: the agent's answer was cut off at its token limit" in cut.episode.warnings
    assert empty.output == "(nothing was said; stop reason: user_stop)"
    assert "step 1: the agent's answer is empty" in empty.episode.warnings


def test_a_refusal_of_the_model_is_its_answer(desk: Desk) -> None:
    raw = b'{"choices": [{"message": {"content": null, "refusal": "I can not do that."}, "finish_reason": "stop"}]}'
    with desk.rig(Say(raw=raw)) as (rig, _):
        assert rig.run().output == "I can not do that."


def test_text_beside_tool_calls_is_kept_in_the_history(desk: Desk) -> None:
    with desk.rig(Say("Let me look.", calls=[("ping", {})]), Say("done")) as (rig, model):
        result = rig.run()
    assert model.asked[1].body["messages"][2]["content"] == "Let me look."
    assert result.episode.messages[1]["content"] == "Let me look."


def test_the_responses_api_runs_the_same_loop_and_the_record_looks_the_same(desk: Desk) -> None:
    script = [Say(calls=[("add", {"a": 1, "b": 1})]), Say("two")]
    with desk.rig(*script) as (rig, model):
        result = rig.run(api="responses")
    assert (result.output, result.error) == ("two", "")
    assert [asked.path for asked in model.asked] == ["/v1/responses", "/v1/responses"]
    assert result.statuses == [("add", "ok")]
    assert [sorted(message) for message in result.episode.messages] == [
        ["content", "role", "turn"],
        ["content", "role", "tool_calls", "turn"],
        ["content", "role", "tool_call_id", "turn"],
        ["content", "role", "turn"],
    ]


def test_what_the_service_does_not_take_is_dropped_retried_and_recorded(desk: Desk) -> None:
    refusal = {"code": "unsupported_value", "param": "temperature", "message": "only the default"}
    with desk.rig(Say(status=400, error=refusal), PING, Say("done")) as (rig, model):
        result = rig.run(temperature=0)
    assert result.output == "done"
    assert ["temperature" in asked.body for asked in model.asked] == [True, False, False]
    assert any("temperature was refused and left out" in warning for warning in result.episode.warnings)


def test_parallel_calls_can_be_forbidden_and_the_setting_reaches_the_service(desk: Desk) -> None:
    with desk.rig(Say("a"), Say("b")) as (rig, model):
        rig.run(parallelToolCalls=False)
        rig.run()
    assert [asked.body.get("parallel_tool_calls") for asked in model.asked] == [False, None]


def test_retries_end_before_the_deadline_and_the_record_says_why(desk: Desk) -> None:
    with desk.rig(Say(status=429, headers={"Retry-After": "100"})) as (rig, _):
        result = rig.run(retries=5, deadlineSeconds=20)
    assert result.error.startswith("provider_error: model scripted: the next attempt is 10")
    assert result.episode.messages[0]["content"] == "hello"


def test_a_change_of_anything_that_matters_changes_its_fingerprint_and_nothing_else(desk: Desk) -> None:
    with desk.rig(*[Say("hi")] * 4) as (rig, _):
        first, second = rig.run().episode.fingerprint, rig.run().episode.fingerprint
        warm = rig.run(temperature=1).episode.fingerprint
        (rig.folder / "agent" / "skills" / "adding.md").write_text("Add slowly.", encoding="utf-8")
        skilled = rig.run().episode.fingerprint
    assert first == second
    assert {key for key in first if first[key] != warm[key]} == {"temperature"}
    assert {key for key in first if first[key] != skilled[key]} == {"skills"}
    assert {"agent", "instructions", "model", "tools", "limits", "pack", "case"} <= set(first)


HALF = "half \ud83d"
"""A pair of surrogates of which one is missing: JSON can say it, UTF-8 can not."""


def test_half_a_surrogate_pair_in_an_answer_costs_no_record(desk: Desk) -> None:
    with desk.rig(Say(HALF)) as (rig, _):
        result = rig.run()
    assert (result.error, result.output) == ("", "half \ufffd")
    assert "/messages/1/content: an unpaired surrogate was replaced by U+FFFD" in result.episode.warnings


def test_half_a_surrogate_pair_can_be_said_again_to_model_and_tools(desk: Desk) -> None:
    calls = [("add", {"a": 1, "b": 2}), ("create_pull_request", {"title": HALF})]
    with desk.rig(Say(HALF, calls=calls), Say("done")) as (rig, model):
        result = rig.run(HALF)
    assert (result.error, result.output) == ("", "done")
    assert result.statuses == [("add", "ok"), ("create_pull_request", "parse_error")]
    problem = (result.episode.tool_calls or ())[1].problem
    assert "a text in the arguments holds half a surrogate pair, which can not be sent" in problem
    assert [message["content"] for message in model.asked[1].body["messages"]][1:3] == ["half \ufffd"] * 2
