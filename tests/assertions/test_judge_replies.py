"""What a judge replies: read strictly, and its quotations looked up."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

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
