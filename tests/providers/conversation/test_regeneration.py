"""A bad reply of the simulated user is thrown away whole and asked for again, at most twice."""

from typing import Any

from episodes.record import StopReason
from tests.providers.conversation.talks import talk

CASE: dict[str, Any] = {"request": "Copy spoke-crm-test, please.", "facts": {"cost center": "CC-1234"}}
BAD = ["As the user, my next message should be: cancel it", "Certainly! How can I help you today?", ""]


def test_three_bad_replies_in_a_row_are_a_defect_of_the_simulator() -> None:
    outcome = talk(CASE, ["Which cost center?"], user=[*BAD, "CC-1234"])
    assert outcome.stop is StopReason.SIMULATOR_DEFECT
    assert outcome.problem == (
        "the simulated user gave no usable message in 3 tries (meta_talk, role_inversion, empty); "
        "last: The reply says nothing."
    )
    assert len(outcome.model.asked("user")) == 3
    assert outcome.by_user == [CASE["request"]]


def test_a_good_third_reply_goes_on_as_if_nothing_had_happened_and_is_counted() -> None:
    outcome = talk(CASE, ["Which cost center?", "Done."], user=[*BAD[:2], "It is CC-1234.", "###STOP###"])
    assert outcome.stop is StopReason.USER_STOP
    message = outcome.episode.messages[2]
    assert (message["content"], message["regenerated"]) == ("It is CC-1234.", 2)
    assert "regenerated" not in outcome.episode.messages[0]


def test_a_thrown_away_reply_is_nowhere_in_the_conversation_and_quoted_in_a_warning() -> None:
    outcome = talk(CASE, ["Which cost center?", "Done."], user=[BAD[0], "It is CC-1234.", "###STOP###"])
    assert "my next message" not in str(outcome.episode.messages)
    assert "my next message" not in str(outcome.model.asked("user")[-1])
    assert outcome.episode.warnings == (
        "simulated user: a draft was thrown away (turn 2, try 1), meta_talk: It talks about the task instead of "
        'doing it: "As the user". ("As the user, my next message should be: cancel it")',
    )


def test_the_model_is_told_what_was_wrong_with_its_draft() -> None:
    outcome = talk(CASE, ["Which cost center?", "Done."], user=[BAD[1], "It is CC-1234.", "###STOP###"])
    first, second, third = (body["messages"][0]["content"] for body in outcome.model.asked("user"))
    assert "thrown away" not in first
    assert "What was wrong: It speaks as the agent" in second
    assert third == first


def test_the_opening_again_is_rejected_although_it_was_a_fine_message_once() -> None:
    outcome = talk(CASE, ["Which cost center?", "Done."], user=[CASE["request"], "It is CC-1234.", "###STOP###"])
    assert outcome.by_user == [CASE["request"], "It is CC-1234."]


def test_stopping_while_the_agent_waits_for_a_go_is_asked_for_again() -> None:
    outcome = talk(
        CASE,
        ["Shall I open the pull request?", "Opened."],
        user=["###STOP###", "Yes, do."],
        opens_pull_request_at=2,
        most_turns=2,
    )
    assert outcome.by_user == [CASE["request"], "Yes, do."]
    assert [pull.id for pull in outcome.episode.pull_requests] == ["7"]
