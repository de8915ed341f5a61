"""The provider as promptfoo calls it: whatever the case and the config say, a result with a record comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from episodes.record import Episode, StopReason
from providers.simulated_user import call_api
from tests.providers.conversation.queues import Queues, Reply, model_queues
from tests.support.scripted_model import Say

AGENT = {"agent": "tests.providers.conversation.agents:build_agent", "lines": ["Which cost center?", "Done."]}
CASE: dict[str, Any] = {"request": "Copy it.", "facts": {"cost center": "CC-1234"}}
MET = '{"criteria": [{"criterion": "c", "met": true, "evidence": "Which cost center?"}], "reason": "r"}'


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Queues]:
    """Models by the names that the local service uses, and addresses for all else, so that no local stack starts."""
    replies: dict[str, list[Reply]] = {
        "developer": ["It is CC-1234.", "###STOP###"],
        "judge": [MET],
        "other": ["###STOP###"],
        "silent": [""],
        "talker": ["Is it done?"],
        "slow": [Say("Too late.", delay_s=3)],
    }
    with model_queues(**replies) as queues:
        for name, value in {
            "EVALS_MODEL_BASE_URL": queues.url,
            "EVALS_MODEL_API_KEY": "key",
            "EVALS_PORTAL_URL": "http://127.0.0.1:9",
            "EVALS_PORTAL_TOKEN": "token",
            "EVALS_PULL_REQUEST_API": "http://127.0.0.1:9",
            "EVALS_PULL_REQUEST_TOKEN": "token",
            "EVALS_REPOSITORIES": "spokes",
        }.items():
            monkeypatch.setenv(name, value)
        yield queues


def call(variables: dict[str, Any], **config: Any) -> dict[str, Any]:
    context = {"vars": variables, "test": {"metadata": {"id": "T01"}}}
    return call_api(str(variables.get("request", "")), {"config": {**AGENT, **config}}, context)


def record(result: dict[str, Any]) -> Episode:
    return Episode.from_metadata(result["metadata"])


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("steps", "config", "most"), [(16, {}, 15), (3, {"maxTurns": 2}, 2)])
def test_a_simulation_that_can_not_be_finished_in_its_turns_is_an_error(
    steps: int, config: dict[str, Any], most: int
) -> None:
    result = call({"simulation": {"steps": [{"goal": "Get a refund."}] * steps}}, **config)
    assert result["error"] == (
        f"provider_error: configuration: vars.simulation.steps: {steps} steps take at least {steps} turns; a "
        f"conversation has at most {most}."
    )


@pytest.mark.usefixtures("models")
def test_a_conversation_comes_back_as_transcript_and_record() -> None:
    result = call(CASE)
    assert "error" not in result
    assert result["output"] == (
        "Developer: Copy it.\n\nAgent: Which cost center?\n\nDeveloper: It is CC-1234.\n\nAgent: Done."
    )
    episode = record(result)
    assert (episode.case_id, episode.stop_reason, episode.tool_calls) == ("T01", StopReason.USER_STOP, ())
    assert {"userModel", "userPrompt"} <= set(episode.fingerprint)
    assert (episode.usage.user.requests, episode.usage.agent.requests) == (2, 0)


@pytest.mark.usefixtures("models")
def test_each_role_is_charged_by_the_prices_of_its_own_settings() -> None:
    prices = {"prices": {"*": {"input": 1_000_000, "output": 0}}}
    steps = {"simulation": {"steps": [{"goal": "Ask.", "max_turns": 1}]}}
    usage = record(call(steps, user={"model": "talker", **prices})).usage
    assert (usage.user.cost, usage.judge.cost, usage.agent.cost) == (10, None, None)
    usage = record(call(steps, user={"model": "talker"}, judge=prices)).usage
    assert (usage.user.cost, usage.judge.cost, usage.agent.cost) == (None, 10, None)


@pytest.mark.usefixtures("models")
def test_fewer_turns_than_fifteen_can_be_asked_for() -> None:
    assert record(call(CASE, maxTurns=1)).stop_reason is StopReason.MAX_TURNS


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("turns", [16, 0, 2.5, "3", True])
def test_more_turns_than_fifteen_are_a_configuration_error(turns: Any) -> None:
    result = call(CASE, maxTurns=turns)
    assert result["error"] == (
        f"provider_error: configuration: config.maxTurns is {turns!r}; allowed: a whole number from 1 to 15."
    )
    assert record(result).messages == ()


def test_the_simulated_users_model_can_be_chosen(models: Queues) -> None:
    result = call(CASE, user={"model": "other", "temperature": 0})
    assert record(result).fingerprint["userModel"].name == "other"
    assert models.asked("other")[0]["temperature"] == 0
    assert not models.asked("developer")


def test_the_environment_names_the_model_where_the_config_does_not(
    models: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_USER_MODEL", "other")
    call(CASE)
    assert (len(models.asked("other")), len(models.asked("developer"))) == (1, 0)


@pytest.mark.usefixtures("models")
def test_a_wrong_key_of_the_users_model_is_a_configuration_error() -> None:
    assert "config.user.modell: unknown key" in call(CASE, user={"modell": "x"})["error"]
    assert "config.user is a str" in call(CASE, user="developer")["error"]


@pytest.mark.usefixtures("models")
def test_a_wrong_case_is_an_error_that_names_the_var_and_nothing_is_said() -> None:
    result = call({"request": "x", "facts": ["a"]})
    assert result["error"] == ("provider_error: configuration: vars.facts is a list; allowed: a map of name to value.")
    assert record(result).messages == ()


@pytest.mark.usefixtures("models")
def test_two_forms_in_one_case_are_refused() -> None:
    result = call({"golden": {"turns": [{"user": "x"}]}, "simulation": {"steps": [{"goal": "y"}]}})
    assert "`golden` and `simulation` are two forms" in result["error"]


@pytest.mark.usefixtures("models")
def test_a_simulators_defect_is_an_error_with_the_record_beside_it() -> None:
    result = call(CASE, user={"model": "silent"})
    assert result["error"].startswith("simulator_defect: the simulated user gave no usable message in 3 tries")
    assert result["output"] == "Developer: Copy it.\n\nAgent: Which cost center?"
    assert record(result).stop_reason is StopReason.SIMULATOR_DEFECT


@pytest.mark.usefixtures("models")
def test_a_simulated_user_that_takes_too_long_ends_at_the_deadline_with_what_was_said() -> None:
    result = call(CASE, user={"model": "slow"}, deadlineSeconds=0.5)
    assert result["error"].startswith("deadline: ")
    assert result["output"] == "Developer: Copy it.\n\nAgent: Which cost center?"


@pytest.mark.usefixtures("models")
def test_a_simulation_shows_how_many_goals_were_reached_and_no_word_of_them() -> None:
    steps = [{"goal": "Ask for SECRET-GOAL."}, {"static_utterance": "Go on."}]
    result = call({"simulation": {"steps": steps}}, lines=["Which cost center?"])
    assert result["output"].endswith("\n\nGoals (2/2)")
    assert "SECRET-GOAL" not in result["output"]
    assert [goal.status for goal in record(result).goals] == ["reached", "reached"]


def test_a_golden_needs_no_model_at_all(models: Queues) -> None:
    result = call({"golden": '{"turns": [{"user": "One."}, {"user": "Two."}]}'})
    assert [m["content"] for m in record(result).messages if m["role"] == "user"] == ["One.", "Two."]
    assert record(result).fingerprint["golden"].name == "naive replay"
    assert not models.requests


@pytest.mark.usefixtures("models")
def test_the_agent_has_the_sessions_variables_and_the_expected_history_behind_them() -> None:
    golden = {"replay": "stable", "turns": [{"user": "One.", "agent": "First."}, {"user": "Two."}]}
    result = call({"golden": golden, "session_parameters": {"plan": "gold"}}, echoHistory=True)
    spoken = [m["content"] for m in record(result).messages if m["role"] == "assistant"]
    assert spoken == [
        "system: Variables of this session:\n- plan: gold",
        "system: Variables of this session:\n- plan: gold | user: One. | assistant: First.",
    ]
