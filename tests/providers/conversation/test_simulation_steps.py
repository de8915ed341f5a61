"""The steps of a simulation as data, and the state that only we can write."""

from typing import Any

import pytest

from providers.agent_protocol import ConfigurationProblem
from providers.conversation.simulation import Progress, goals_heading, read_steps

GOAL = {"goal": "Ask for a copy.", "success_criteria": "Agent asks for the region."}


def test_each_kind_of_step_is_read_with_its_defaults() -> None:
    goal, static, event = read_steps({"steps": [GOAL, {"static_utterance": " Yes.\n"}, {"event": "timeout"}]})
    assert (goal.number, goal.kind, goal.max_turns, goal.criterion) == (1, "goal", 3, "Agent asks for the region.")
    assert (static.message, static.max_turns, static.criterion) == (" Yes.\n", 1, "")
    assert (event.message, event.max_turns) == ("<event>timeout</event>", 1)


def test_a_goal_without_a_criterion_must_itself_be_reached() -> None:
    (step,) = read_steps({"steps": [{"goal": "Get a refund."}]})
    assert step.criterion == "The developer has got what this step is about: Get a refund."


def test_steps_from_a_file_of_their_own_arrive_as_json_text() -> None:
    assert read_steps('{"steps": [{"goal": "A"}]}')[0].text == "A"


@pytest.mark.parametrize(
    ("simulation", "message"),
    [
        ("x", "vars.simulation is a str; allowed: a map with the keys name, steps"),
        ("{bad", "vars.simulation is text that is not JSON"),
        ({}, "vars.simulation.steps must be a list with at least one step"),
        ({"steps": []}, "must be a list with at least one step"),
        ({"steps": [GOAL], "expectations": ["x"]}, "vars.simulation.expectations is not known; allowed: name, steps"),
        ({"steps": [{**GOAL, "succes_criteria": "x"}]}, r"steps\[0\].succes_criteria is not known; allowed: goal, "),
        ({"steps": [{"success_criteria": "x"}]}, r"steps\[0\] must have exactly one of goal, .*; found none"),
        ({"steps": [{**GOAL, "event": "x"}]}, "found goal, event"),
        ({"steps": [{"goal": " "}]}, r"steps\[0\].goal is blank"),
        ({"steps": [{**GOAL, "max_turns": 0}]}, r"steps\[0\].max_turns is 0; allowed: 1 to 15"),
        ({"steps": [{**GOAL, "max_turns": True}]}, "max_turns is True"),
        ({"steps": [GOAL, {"event": "x", "max_turns": 2}]}, r"steps\[1\].max_turns is only for a step with a goal"),
        ({"steps": [GOAL, {"static_utterance": "x", "response_guide": "y"}]}, "response_guide is only for a step"),
    ],
)
def test_a_wrong_simulation_says_where_and_what_is_allowed(simulation: Any, message: str) -> None:
    with pytest.raises(ConfigurationProblem, match=message):
        read_steps(simulation)


def test_a_simulation_that_demands_nothing_of_the_agent_is_refused() -> None:
    with pytest.raises(ConfigurationProblem, match="it would pass whatever the agent says"):
        read_steps({"steps": [{"static_utterance": "Hello"}, {"event": "x"}]})


def three_steps() -> Progress:
    return Progress(read_steps({"steps": [{"goal": "A"}, {"goal": "B"}, {"goal": "C"}]}))


def test_an_unreached_step_blocks_the_rest_and_is_named_as_the_reason() -> None:
    progress = three_steps()
    progress.reach("done")
    progress.fail("no")
    goals = progress.goals()
    assert [(goal.status, goal.reason) for goal in goals] == [
        ("reached", "done"),
        ("not_reached", "no"),
        ("blocked", 'Never tried: step 2 was not reached ("B").'),
    ]
    assert goals_heading(goals) == "Goals (1/3)"


def test_a_finished_simulation_takes_no_further_change() -> None:
    progress = three_steps()
    progress.reach("a")
    progress.fail("b")
    assert progress.current is None
    for change in (progress.reach, progress.fail):
        with pytest.raises(AssertionError, match="no step is open"):
            change("c")
    assert progress.goals()[0].status == "reached"


def test_a_step_that_is_still_open_when_the_talk_ends_is_not_reached() -> None:
    assert [goal.status for goal in three_steps().goals("cut off")] == ["not_reached", "blocked", "blocked"]
    assert three_steps().goals("cut off")[0].reason == "cut off"


def test_all_steps_are_always_in_the_result() -> None:
    progress = three_steps()
    for reason in "abc":
        progress.reach(reason)
    assert progress.complete
    assert goals_heading(progress.goals()) == "Goals (3/3)"
