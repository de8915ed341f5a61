"""What a judge replies: read strictly, and its quotations looked up."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from assertions.judging.quotations import long_enough, same_words, stands_in
from assertions.judging.replies import BadReply, Finding, Grade, Task, Verdicts, read_reply, reply_schema

GOOD: dict[Task, tuple[str, Verdicts | Grade]] = {
    "rubric": (
        '{"criteria": [{"criterion": "a", "met": true, "evidence": "b"}], "reason": "r"}',
        Verdicts((Finding("a", True, "b"),), "r"),
    ),
    "groundedness": ('{"claims": [], "reason": "r"}', Verdicts((), "r")),
    "goal": ('{"satisfied": -1, "reason": "r"}', Grade(-1, "r")),
    "semantic": ('{"score": 4, "reason": "r"}', Grade(4, "r")),
}


@pytest.mark.parametrize("task", list(GOOD))
def test_a_reply_of_each_kind_is_read_and_fits_the_schema_that_is_asked_for(task: Task) -> None:
    import json

    text, expected = GOOD[task]
    assert read_reply(task, text) == expected
    assert read_reply(task, f"```json\n{text}\n```\n") == expected
    Draft202012Validator.check_schema(reply_schema(task))
    Draft202012Validator(reply_schema(task)).validate(json.loads(text))


@pytest.mark.parametrize(
    ("task", "text", "problem"),
    [
        ("rubric", "Verdict: looks fine", "it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ("rubric", "[]", "it is not a JSON object"),
        ("rubric", "{}", "criteria is missing or no list"),
        ("rubric", '{"criteria": ["a"], "reason": ""}', "criteria[0] is no object"),
        (
            "rubric",
            '{"criteria": [{"criterion": "a", "met": "yes", "evidence": ""}], "reason": ""}',
            "criteria[0].met is neither true nor false",
        ),
        (
            "groundedness",
            '{"claims": [{"claim": "a", "supported": true}], "reason": ""}',
            "claims[0].evidence is missing or no text",
        ),
        ("goal", '{"satisfied": true, "reason": ""}', "satisfied is none of 1, 0, -1"),
        ("goal", '{"satisfied": 2, "reason": ""}', "satisfied is none of 1, 0, -1"),
        ("semantic", '{"score": 3.5, "reason": ""}', "score is none of 0, 1, 2, 3, 4"),
        ("semantic", '{"score": 3}', "reason is missing or no text"),
        ("semantic", "[" * 100_000, "it nests without end"),
    ],
)
def test_a_reply_that_can_not_be_used_says_what_is_wrong_with_it(task: Task, text: str, problem: str) -> None:
    with pytest.raises(BadReply) as caught:
        read_reply(task, text)
    assert str(caught.value) == problem


@given(st.sampled_from(list(GOOD)), st.text(max_size=60) | st.from_regex(r"\{.{0,40}\}", fullmatch=True))
def test_no_reply_crashes_the_reader(task: Task, text: str) -> None:
    with contextlib.suppress(BadReply):
        assert isinstance(read_reply(task, text), Verdicts | Grade)


ANSWER = """The deployment creates:

1. a **virtual network**
2. subnets (10.0.0.0/24)

It does *not* create a firewall. Ask the hub team. Costs are billed monthly."""


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("a virtual network", True),
        ("It does not create a firewall.", True),
        ("it DOES  not\ncreate", True),
        ("a virtual network subnets (10.0.0.0/24)", True),
        ("It does not create a firewall … billed monthly", True),
        ("It does not create a firewall. Costs are billed monthly.", True),
        ("billed monthly … a firewall", False),
        ("It does create a firewall", False),
        ("subnets (10.0.0.0/25)", False),
        ("virtual networks", False),
        ("", False),
        ("…", False),
        ("**", False),
    ],
)
def test_a_quotation_counts_only_when_its_words_stand_there(quotation: str, expected: bool) -> None:
    assert stands_in(quotation, ANSWER) is expected


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("not create a", True),
        ("10.0.0.0/24", True),
        ("not … create a firewall", True),
        ("Virtual Network", False),
        ("the", False),
        ("a … not … firewall", False),
        ("", False),
        # A whole sentence or line may be as short as it is.
        ("Agreed!", True),
        ("firewall: none", True),
        ("none", False),
    ],
)
def test_a_quotation_is_evidence_from_three_words_in_a_row_or_as_a_whole_sentence(
    quotation: str, expected: bool
) -> None:
    assert long_enough(quotation, f"{ANSWER}\n\nIs that so? Agreed. Thanks a lot.\n- Firewall: none\n") is expected


@given(st.lists(st.sampled_from(["one", "two", "Drei", "4", "fünf"]), min_size=1, max_size=8), st.data())
def test_every_run_of_words_of_a_text_stands_in_it(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert stands_in(" ".join(words[start:end]), ", ".join(words))


@pytest.mark.parametrize(("left", "right", "same"), [("Names the A.", "names  the a", True), ("a b", "b a", False)])
def test_criteria_are_compared_by_their_words(left: str, right: str, same: bool) -> None:
    assert same_words(left, right) is same


def test_a_long_text_is_searched_quickly_and_completely() -> None:
    text: Any = "word " * 50_000 + "needle in the hay"
    assert stands_in("needle in the hay", text)
    assert not stands_in("needle in a hay", text)
