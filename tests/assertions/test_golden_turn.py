"""The assertion `golden_turn`: per turn and overall, by embedding and by judge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assertions.config_check import check_config
from assertions.golden.likeness import Likeness, is_negated, likeness, missing_facts
from assertions.golden_turn import check
from assertions.run_check import grade
from assertions.verdict import CheckResult, ConfigError
from episodes.record import StopReason
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, says, tool
from tests.support.scripted_model import KEY, Say, scripted_model


def judge(evidence: Any, *turns: dict[str, Any], **config: Any) -> CheckResult:
    return grade("golden_turn", check, evidence, {"turns": list(turns)} | config)


def talk(*turns: tuple[str, str], calls: tuple[Any, ...] = (), stop: StopReason = StopReason.USER_STOP) -> Any:
    messages = []
    for number, (user, agent) in enumerate(turns, 1):
        messages += [says("user", user, number), says("assistant", agent, number)]
    return conversation(*calls, messages=messages, stop=stop)


ASKS = ("I want a spoke.", "Which address space should the new spoke have?")
DONE = ("10.0.0.0/24", "The pull request for spoke-webshop-test has been created.")


def test_a_conversation_that_says_and_does_the_same_passes_turn_by_turn_and_overall() -> None:
    calls = (tool("list_spokes", {}, turn=1), tool("create", {"name": "spoke-webshop-test", "draft": False}, turn=2))
    result = judge(
        talk(ASKS, DONE, calls=calls),
        {"message": "What is the address space of the new spoke?", "tools": ["list_spokes"]},
        {
            "message": "I have opened a pull request for spoke-webshop-test.",
            "tools": [{"tool": "create", "args": {"name": "spoke-webshop-test"}}],
            "handoff": False,
        },
    )
    assert result.verdict is PASS, result.reason
    assert [part.name for part in result.components] == ["golden_turn.turn 1", "golden_turn.turn 2"]
    assert result.named_scores == {"golden_turn.semantic": 4.0, "golden_turn.tool_correctness": 1.0}
    scores = result.all_named_scores()
    assert scores["golden_turn.turn 1.semantic"] == 4.0
    assert scores["golden_turn.turn 2.tool_correctness"] == 1.0
    [semantic] = [part for part in result.components[0].components if part.name.endswith(".semantic")]
    assert semantic.details["model"] == "all-MiniLM-L6-v2-int8"


def test_another_answer_fails_its_turn_and_shows_both_texts() -> None:
    result = judge(talk(ASKS), {"message": "The weather is nice today."})
    assert result.verdict is FAIL
    assert result.reason.startswith("turn 1: semantic: 0 of 4 (likeness ")
    assert result.reason.endswith(
        "), at least 2 wanted; expected 'The weather is nice today.', the agent said "
        "'Which address space should the new spoke have?'"
    )


@pytest.mark.parametrize(
    ("expected", "said", "grade_at_most", "why"),
    [
        ("The pull request was created.", "The pull request was not created.", 1, "but only the answer is negated"),
        ("It keeps records for 30 days.", "It keeps records for 90 days.", 1, "but 30 is missing"),
        ("spoke-a-test is ready", "spoke-b-test is ready", 1, "but spoke-a-test is missing"),
        ("It costs 1,000 euros a month.", "It costs 1000 euros a month.", 4, ""),
    ],
)
def test_facts_and_negation_cap_what_an_embedding_finds_alike(
    expected: str, said: str, grade_at_most: int, why: str
) -> None:
    found = likeness(expected, said, lambda _left, _right: 0.99)
    assert found.grade == grade_at_most
    assert why in found.why


def test_the_real_embedding_tells_paraphrase_from_other_subject() -> None:
    from assertions.golden.sentence_vectors import cosine

    same = likeness("What is the cost center?", "Please tell me the cost center.", cosine)
    other = likeness("What is the cost center?", "The weather is nice today.", cosine)
    assert same.grade >= 3 > 0 == other.grade
    assert cosine("The same text.", "The same text.") == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.85, 4), (0.84, 3), (0.65, 3), (0.45, 2), (0.25, 1), (0.249, 0), (-0.1, 0)]
)
def test_the_scale_has_five_steps(value: float, expected: int) -> None:
    assert likeness("a", "b", lambda _left, _right: value) == Likeness(expected, f"likeness {value:.2f}")


def test_the_address_of_a_pull_request_is_no_fact_because_it_is_new_every_time() -> None:
    old, new = (f"https://github.com/a/b/pull/{number}" for number in (1, 2))
    assert missing_facts(f"Done: {old}.", f"Done: {new}.") == []
    assert missing_facts("See https://example.test/docs", "See the docs") == ["https://example.test/docs"]
    assert missing_facts("Write to ops@example.test", "Write to us") == ["ops@example.test"]


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("It can't be done", True),
        ("It can\u2019t be done", True),
        ("Das geht nicht", True),
        ("Dat kan niet", True),
        ("Knot the rope, Norbert", False),
        ("It is noted", False),
    ],
)
def test_negation_is_read_in_three_languages(text: str, negated: bool) -> None:
    assert is_negated(text) is negated


def test_tool_correctness_is_the_share_of_expected_parameters() -> None:
    calls = (tool("create", {"a": 1, "b": 2, "c": 3, "d": 0}),)
    expected = {"tools": [{"tool": "create", "args": {"a": 1, "b": 2, "c": 3, "d": 4}}]}
    result = judge(talk(ASKS, calls=calls), expected)
    assert result.named_scores["golden_turn.tool_correctness"] == 0.75
    assert result.verdict is FAIL
    assert "0.75 of 1, at least 1 wanted: create(a=1, b=2, c=3, d=4): at /d: expected 4, actual 0" in result.reason
    assert judge(talk(ASKS, calls=calls), expected, tool_correctness=0.75).verdict is PASS


@pytest.mark.parametrize(
    ("calls", "expected", "score", "verdict"),
    [
        ((), ["a"], 0.0, FAIL),
        ((tool("a"),), ["a"], 1.0, PASS),
        ((tool("a"), tool("b")), ["a"], 1.0, FAIL),
        ((tool("b"), tool("a")), ["a", "b"], 1.0, PASS),
        ((tool("a"),), ["a", "a"], 0.5, FAIL),
        ((tool("a", status="not_executed"),), ["a"], 0.0, FAIL),
        ((tool("a", status="transport_error"),), ["a"], 0.0, FAIL),
    ],
)
def test_missing_calls_count_nothing_and_unexpected_ones_fail_without_touching_the_score(
    calls: tuple[Any, ...], expected: list[str], score: float, verdict: Any
) -> None:
    result = judge(talk(ASKS, calls=calls), {"tools": expected})
    assert (result.named_scores["golden_turn.tool_correctness"], result.verdict) == (score, verdict)


def test_no_tool_may_be_called_where_the_golden_says_so() -> None:
    assert judge(talk(ASKS), {"tools": []}).verdict is PASS
    result = judge(talk(ASKS, calls=(tool("a"),)), {"tools": []})
    assert result.reason == ("turn 1: tool_correctness: a (call 1, turn 1) is not expected")
    assert judge(talk(ASKS, calls=(tool("a"),)), {"tools": []}, extra_calls="allow").verdict is PASS


def test_a_call_whose_fate_is_unknown_never_makes_a_turn_pass() -> None:
    calls = (tool("a"), tool("b", status="transport_error"))
    assert judge(talk(ASKS, calls=calls), {"tools": ["a"]}).verdict is NOT_EVALUATED


def test_unknown_tool_calls_are_not_evaluated() -> None:
    evidence = conversation(messages=[says("assistant", "x")], known=False)
    assert judge(evidence, {"tools": []}).verdict is NOT_EVALUATED


def test_a_turn_beyond_the_golden_fails_and_a_golden_beyond_the_conversation_too() -> None:
    calls = (tool("lookup", turn=1), tool("update", turn=2), tool("delete", turn=3))
    evidence = talk(ASKS, ASKS, ASKS, calls=calls)
    turns = ({"tools": ["lookup"]}, {"tools": ["update"]})
    result = judge(evidence, *turns)
    assert result.reason == ("turns: turn 3 is not in the golden, which ends with turn 2; it called delete")
    assert judge(evidence, *turns, extra_turns="allow").verdict is PASS
    short = judge(talk(ASKS), {"contains": "address"}, {"contains": "x", "tools": ["a"]})
    assert short.reason == "turn 2: it did not take place: the conversation has 1 turns"
    assert short.named_scores["golden_turn.tool_correctness"] == 0.0


def test_turns_can_be_picked_by_number() -> None:
    evidence = talk(ASKS, DONE)
    assert judge(evidence, {"turn": 2, "contains": "spoke-webshop-test"}).verdict is PASS
    result = judge(evidence, {"turn": 2, "contains": ["spoke-webshop-test", "spoke-other"]})
    assert "the answer does not contain 'spoke-other'" in result.reason
    wrong = judge(evidence, {"turn": 2, "contains": "a"}, {"turn": 1, "contains": "a"})
    assert wrong.reason == (
        "NOT EVALUATED: case C01, config of golden_turn, /turns: the turns are numbered 2, 1; "
        "allowed: each once, in order"
    )


@pytest.mark.parametrize(
    ("stop", "turn", "wanted", "reason"),
    [
        (StopReason.AGENT_HANDOFF, 2, True, None),
        (StopReason.USER_STOP, 2, False, None),
        (StopReason.AGENT_HANDOFF, 1, False, None),
        (StopReason.AGENT_HANDOFF, 2, False, "the agent handed over, which was not expected"),
        (
            StopReason.USER_STOP,
            2,
            True,
            "the agent did not hand over here: the conversation has 2 turns and ended by user_stop",
        ),
        (
            StopReason.AGENT_HANDOFF,
            1,
            True,
            "the agent did not hand over here: the conversation has 2 turns and ended by agent_handoff",
        ),
    ],
)
def test_a_handoff_ends_the_conversation_in_its_turn(
    stop: StopReason, turn: int, wanted: bool, reason: str | None
) -> None:
    result = judge(talk(ASKS, DONE, stop=stop), {"turn": turn, "handoff": wanted}, extra_turns="allow")
    assert result.verdict is (PASS if reason is None else FAIL)
    if reason:
        assert result.reason.endswith(reason)


def test_the_overall_means_can_be_demanded() -> None:
    evidence = talk(ASKS, ASKS, calls=(tool("a", turn=1),))
    turns = ({"tools": ["a"]}, {"tools": ["b"]})
    result = judge(evidence, *turns, tool_correctness=0, overall={"tool_correctness": 0.75})
    assert result.verdict is FAIL
    assert result.reason == "overall tool_correctness: 0.50 on average, at least 0.75 wanted"
    assert judge(evidence, *turns, tool_correctness=0, overall={"tool_correctness": 0.5}).verdict is PASS


def test_a_judge_may_compare_messages_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, verdict in ((3, PASS), (2, FAIL)):
        with scripted_model(Say(json.dumps({"score": value, "reason": "nearly"}))) as model:
            monkeypatch.setenv("EVALS_MODEL_BASE_URL", model.url)
            monkeypatch.setenv("EVALS_MODEL_API_KEY", KEY)
            result = judge(talk(ASKS), {"message": "Which range?"}, semantic={"by": "judge"})
        assert result.verdict is verdict
        assert f"{value} of 4 (nearly), at least 3 wanted" in result.components[0].components[0].reason
        order = json.loads(model.asked[0].body["messages"][-1]["content"])
        assert (order["task"], order["expected"], order["answer"]) == ("semantic", "Which range?", ASKS[1])


def test_an_agent_that_says_nothing_fails_its_message() -> None:
    evidence = conversation(messages=[says("assistant", "Hello.", 1), says("user", "x", 2)])
    result = judge(evidence, {"turn": 2, "message": "Something."})
    assert result.reason.endswith("semantic: the agent said nothing; expected 'Something.'")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "/: the key 'turns' is missing"),
        ({"turns": []}, "/turns: is empty, so there would be nothing to check"),
        ({"turns": [{}]}, "/turns/0: expects nothing: give `message`, `contains`, `tools` or `handoff`"),
        (
            {"turns": [{"mesage": "x"}]},
            "/turns/0/mesage: unknown key (1 more); allowed: contains, handoff, message, tools, turn",
        ),
        (
            {"turns": [{"tools": ["a"]}], "extra_calls": "ok"},
            "/extra_calls: 'ok' is not allowed; allowed: 'fail', 'allow'",
        ),
        ({"turns": [{"tools": [{"tool": "a", "args": {"x": {"$regx": "b"}}}]}]}, "/turns/0/tools/0/args/x"),
        (
            {"turns": [{"tools": ["a"]}], "semantic": {"threshold": 5}},
            "/semantic/threshold: 5 is greater than the maximum of 4",
        ),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config("golden_turn", config, {})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("measure", "turn", "needed"),
    [
        ("semantic", {"tools": ["a"]}, "a turn with `message`"),
        ("tool_correctness", {"message": "Hello."}, "a turn with `tools`"),
    ],
)
def test_a_mean_over_what_no_turn_measures_is_a_mistake(measure: str, turn: dict[str, Any], needed: str) -> None:
    result = judge(talk(ASKS, calls=(tool("a"),)), turn, overall={measure: 1})
    assert result.reason == (
        f"NOT EVALUATED: case C01, config of golden_turn, /overall/{measure}: is the mean of nothing: no turn is "
        f"measured by it; allowed: {needed}"
    )


def test_arguments_that_were_cut_in_the_record_neither_fit_nor_fail() -> None:
    cut = {"truncated": True, "length": 9, "sha256": "x", "file": "f"}
    turn = {"tools": [{"tool": "create", "args": {"text": "long", "draft": True}}]}
    result = judge(talk(ASKS, calls=(tool("create", {"text": cut, "draft": True}),)), turn)
    assert result.verdict is NOT_EVALUATED
    assert result.reason.endswith("the value at /text was cut when it was recorded")
    wrong = judge(talk(ASKS, calls=(tool("create", {"text": cut, "draft": False}),)), turn)
    assert wrong.verdict is FAIL


def test_calls_of_no_known_turn_leave_the_tools_of_each_turn_open() -> None:
    result = judge(talk(ASKS, calls=(tool("delete", turn=0),)), {"tools": []})
    assert result.reason.endswith("the record does not say in which turn each tool was called")
    assert result.verdict is NOT_EVALUATED
