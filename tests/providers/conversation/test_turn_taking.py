"""Two sides take turns: who speaks when, when it ends, and what is on record then."""

import asyncio
from typing import Any, cast

import pytest

from episodes.record import StopReason
from providers.agent_protocol import AgentAnswer, EpisodeStopped, take_turn
from providers.recorder import CaseIdentity, Recorder
from tests.providers.conversation.talks import talk
from tests.support.scripted_model import Say

CASE: dict[str, Any] = {"request": "Copy spoke-crm-test, please.", "facts": {"cost center": "CC-1234"}}


def test_the_request_is_sent_word_for_word_and_without_a_model_call() -> None:
    outcome = talk({"request": "  Copy it,\n\n  please.  "}, ["Done."], user=["###STOP###"])
    assert outcome.agent.seen == ["  Copy it,\n\n  please.  "]
    assert outcome.episode.messages[0]["source"] == "opening"
    assert len(outcome.model.asked("user")) == 1


def test_text_before_the_stop_signal_is_delivered_and_answered_before_the_end() -> None:
    outcome = talk(
        CASE,
        ["Shall I open it?", "Opened: pull request 7."],
        user=["Yes, go ahead and open the PR. ###STOP###"],
        opens_pull_request_at=2,
    )
    assert outcome.said[2:] == [("user", "Yes, go ahead and open the PR."), ("assistant", "Opened: pull request 7.")]
    assert outcome.stop is StopReason.USER_STOP
    assert [pull.id for pull in outcome.episode.pull_requests] == ["7"]
    assert "STOP" not in str(outcome.episode.messages)


def test_a_bare_stop_signal_ends_the_conversation_at_once() -> None:
    outcome = talk(CASE, ["Done."], user=["###STOP###"])
    assert outcome.stop is StopReason.USER_STOP
    assert outcome.said == [("user", CASE["request"]), ("assistant", "Done.")]


def test_the_stop_signal_in_the_agents_words_stops_nothing() -> None:
    outcome = talk(CASE, ["###STOP###", "Done."], user=["Go on with it.", "###STOP###"])
    assert outcome.agent.seen == [CASE["request"], "Go on with it."]


def test_the_sides_alternate_strictly_however_the_conversation_goes() -> None:
    outcome = talk(CASE, ["What is it?"], user=["a", "b", "c", "###STOP###"])
    assert [role for role, _ in outcome.said] == ["user", "assistant"] * 4
    assert [message["turn"] for message in outcome.episode.messages] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_after_the_last_turn_no_message_is_asked_for_that_nobody_would_read() -> None:
    outcome = talk(CASE, ["Which?"], user=["this one", "no, that one", "or this"], most_turns=3)
    assert outcome.stop is StopReason.MAX_TURNS
    assert len(outcome.agent.seen) == 3
    assert len(outcome.model.asked("user")) == 2


def test_no_conversation_has_more_than_fifteen_turns() -> None:
    outcome = talk(CASE, ["Which?"], user=[lambda body: f"number {len(body['messages'])}"])
    assert outcome.stop is StopReason.MAX_TURNS
    assert len(outcome.agent.seen) == 15


def test_the_model_sees_the_whole_conversation_with_the_roles_turned_round() -> None:
    outcome = talk(CASE, ["Which?", "Done."], user=["That one.", "###STOP###"])
    messages = outcome.model.asked("user")[-1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [message["content"] for message in messages[2:]] == [CASE["request"], "Which?", "That one.", "Done."]


def test_the_simulated_user_sees_nothing_of_the_case_but_its_own_part() -> None:
    outcome = talk(
        {**CASE, "expected": "SECRET-VALUE", "note": "SECRET-NOTE"}, ["Which?"], user=["That.", "###STOP###"]
    )
    assert outcome.model.requests
    assert "SECRET" not in str(outcome.model.requests)


def test_its_tokens_are_counted_apart_from_the_agents() -> None:
    usage = talk(CASE, ["Which?"], user=["That.", "###STOP###"]).episode.usage
    assert (usage.user.requests, usage.user.prompt_tokens, usage.user.completion_tokens) == (2, 20, 4)
    assert usage.agent.requests == 0


def test_without_a_request_the_model_writes_the_first_message() -> None:
    outcome = talk({"goal": "Learn the rules."}, ["Here they are."], user=["What are the rules?", "###STOP###"])
    assert outcome.agent.seen == ["What are the rules?"]
    assert outcome.episode.messages[0]["source"] == "model"
    first, second = (body["messages"][0]["content"] for body in outcome.model.asked("user"))
    assert "You have not spoken of your goal yet" in first
    assert "not spoken" not in second


def test_an_agent_that_speaks_first_is_greeted_by_an_event_and_then_hears_the_request() -> None:
    outcome = talk({**CASE, "speaks_first": "agent"}, ["Hello!", "Done."], user=["###STOP###"])
    assert outcome.agent.seen == ["<event>welcome</event>", CASE["request"]]
    history = outcome.model.asked("user")[0]["messages"]
    assert [message["role"] for message in history] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("reason", [StopReason.AGENT_HANDOFF, StopReason.MAX_STEPS, StopReason.BUDGET])
def test_an_agent_that_stops_ends_the_conversation_with_its_own_reason(reason: StopReason) -> None:
    outcome = talk(CASE, [AgentAnswer("I stop here.", reason, "why it stops")], user=["go on"])
    assert (outcome.stop, outcome.problem) == (reason, "why it stops")
    assert outcome.said[-1] == ("assistant", "I stop here.")
    assert not outcome.model.requests


def test_when_the_agents_machinery_fails_what_was_said_before_is_kept() -> None:
    failure = EpisodeStopped(StopReason.PROVIDER_ERROR, "the model is gone")
    outcome = talk(CASE, ["Which?", failure], user=["That one."])
    assert outcome.stop is StopReason.PROVIDER_ERROR
    assert outcome.by_user == [CASE["request"], "That one."]


def test_when_the_simulated_users_model_fails_the_agent_is_not_blamed() -> None:
    outcome = talk(CASE, ["Which?"], user=[Say(status=400)])
    assert outcome.stop is StopReason.PROVIDER_ERROR
    assert outcome.problem.startswith("the simulated user's model: ")


def test_an_empty_answer_of_the_agent_does_not_break_the_alternation() -> None:
    outcome = talk(CASE, ["", "Done."], user=["Are you there?", "###STOP###"])
    history = outcome.model.asked("user")[0]["messages"]
    assert history[-1] == {"role": "user", "content": "(The agent's answer is empty.)"}


@pytest.mark.parametrize(
    ("answer", "found"), [(None, "NoneType"), ("Done.", "str"), (AgentAnswer(cast("str", 5)), "one with a int")]
)
def test_an_answer_that_is_no_text_is_an_error_and_does_not_count_as_silence(answer: Any, found: str) -> None:
    class Odd:
        name = "odd"

        def begin(self, history: Any) -> None: ...

        async def answer(self, _: str) -> AgentAnswer:
            return cast("AgentAnswer", answer)

    recorder = Recorder(CaseIdentity("T01", "test-0-prompt-0-repeat-0", "eval-1", "suite"))
    problem = f"the agent odd has to answer with an AgentAnswer that holds text, found {found}"
    with pytest.raises(TypeError, match=problem):
        asyncio.run(take_turn(Odd(), recorder, "Copy it."))
    assert [message["content"] for message in recorder.episode().messages] == ["Copy it."]
