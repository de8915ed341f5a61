"""A second look at a finished conversation: how well did the simulated user play?"""

from typing import Any

from episodes.record import Episode, StopReason
from providers.conversation.review import Grade, Review, review
from providers.conversation.script import read_script

CASE = {"request": "Copy spoke-crm-test.", "facts": {"cost center": "CC-1234", "region": "northeurope"}}


def played(*exchange: str, stop: StopReason = StopReason.USER_STOP, warnings: tuple[str, ...] = ()) -> Review:
    """`exchange` is what agent and developer said in turn, after the opening."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": CASE["request"], "turn": 1, "source": "opening"}]
    for index, text in enumerate(exchange):
        role = "user" if index % 2 else "assistant"
        source = {"source": "model"} if role == "user" else {}
        messages.append({"role": role, "content": text, "turn": 1 + (index + 1) // 2, **source})
    return review(Episode("T", "s", stop, messages=tuple(messages), warnings=warnings), read_script(CASE))


def names(result: Review) -> list[tuple[str, int]]:
    return [(finding.name, finding.turn) for finding in result.findings]


def test_a_developer_who_answers_what_is_asked_is_good() -> None:
    result = played("Which cost center?", "It is CC-1234.", "Done.")
    assert (result.grade, result.messages, result.facts_told) == (Grade.GOOD, 1, ("cost center",))


def test_a_value_that_it_was_never_given_is_a_serious_fault() -> None:
    result = played("Which cost center?", "It is CC-9999.", "Done.")
    assert (result.grade, names(result)) == (Grade.FAULTY, [("invented", 2)])
    assert result.findings[0].text == "said CC-9999, which it was never given"


def test_a_value_that_the_agent_said_first_is_not_made_up() -> None:
    assert played("Shall I take 10.4.0.0/16?", "Yes, take 10.4.0.0/16.", "Done.").grade is Grade.GOOD


def test_a_fact_that_nobody_asked_for_is_doubtful() -> None:
    result = played("I have read it.", "It goes to northeurope.", "Done.")
    assert (result.grade, names(result)) == (Grade.DOUBTFUL, [("told_unasked", 2)])


def test_a_fault_that_slipped_through_is_found_afterwards() -> None:
    result = played("Done.", "How can I help you today?", "What?")
    assert (result.grade, names(result)) == (Grade.FAULTY, [("role_inversion", 2)])


def test_a_thrown_away_draft_makes_it_doubtful_and_is_counted() -> None:
    warnings = ("simulated user: a draft was thrown away (turn 2), empty: x", "something else")
    result = played("Which cost center?", "It is CC-1234.", "Done.", warnings=warnings)
    assert (result.grade, result.thrown_away) == (Grade.DOUBTFUL, 1)


def test_a_simulator_defect_is_faulty() -> None:
    assert names(played("Which?", stop=StopReason.SIMULATOR_DEFECT)) == [("simulator_defect", 1)]


def test_the_opening_is_the_cases_and_not_graded() -> None:
    assert played("Done.").messages == 0
