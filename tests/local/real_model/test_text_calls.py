"""What counts as a tool call that a model has written as text, and what stays text."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from local.real_model.text_calls import MOST_CALLS, MOST_CHARACTERS, TextCall, read_calls

OFFERED = frozenset({"get_spoke", "search_docs"})
CALL = '{"name": "get_spoke", "arguments": {"name": "spoke-crm-test"}}'
READ = TextCall("get_spoke", '{"name": "spoke-crm-test"}')


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"  \n```json\n{CALL}\n```\n\n",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tools>\n{CALL}\n</tools>",
        f'<tools>\n{{"type": "function", "function": {CALL}}}\n</tools>',
        f'{{"function": {CALL}, "type": "function"}}',
        '```json\n{\n  "arguments": {\n    "name": "spoke-crm-test"\n  },\n  "name": "get_spoke"\n}\n```',
    ],
)
def test_a_call_and_nothing_else_is_read(text: str) -> None:
    assert read_calls(text, OFFERED) == (READ,)


def test_several_calls_are_read_in_their_order() -> None:
    other = '{"name": "search_docs", "arguments": {}}'
    assert read_calls(f"```json\n{other}\n```\n\n```json\n{CALL}\n```", OFFERED) == (
        TextCall("search_docs", "{}"),
        READ,
    )
    assert read_calls(f"{other}\n{CALL}", OFFERED) == (TextCall("search_docs", "{}"), READ)
    assert read_calls(f"<tools>\n{other}\n{CALL}\n</tools>", OFFERED) == (TextCall("search_docs", "{}"), READ)
    assert read_calls(f"```json\n{other}\n{CALL}\n```", OFFERED) == (TextCall("search_docs", "{}"), READ)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Which address range should it have?",
        f"I will read it first:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nDone.",
        f"```python\n{CALL}\n```",
        f"`{CALL}`",
        f"> {CALL}",
        f"[{CALL}]",
        '{"name": "copy_spoke", "arguments": {}}',
        '{"name": "Get_Spoke", "arguments": {}}',
        '{"name": "get_spoke"}',
        '{"name": "get_spoke", "arguments": "{}"}',
        '{"name": "get_spoke", "arguments": null}',
        '{"name": "get_spoke", "arguments": []}',
        '{"name": ["get_spoke"], "arguments": {}}',
        '{"name": "get_spoke", "arguments": {}, "result": "ok"}',
        '{"function": {"name": "get_spoke", "arguments": {}}}',
        '{"name": "get_spoke", "arguments": {"name": "spoke-crm-te',
        '{"type": "function", "function": {"name": "get_spoke", "arguments": {}, "strict": true}}',
        '{"type": "tool", "function": {"name": "get_spoke", "arguments": {}}}',
        '{"type": "function", "function": {"type": "function", "function": {"name": "get_spoke", "arguments": {}}}}',
        "```json\n" + CALL,
        f"```json\n{CALL},\n{CALL}\n```",
        f"<tools>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<tool_response>{CALL}</tool_response>",
        '{"name": "get_spoke", "arguments": {"days": NaN}}',
        '{"name": "get_spoke", "arguments": {"days": Infinity}}',
    ],
)
def test_whatever_is_not_exactly_a_call_of_an_offered_tool_stays_text(text: str) -> None:
    assert read_calls(text, OFFERED) == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search_docs", "name": "get_spoke", "arguments": {}}',
        '{"name": "get_spoke", "arguments": {"name": "a", "name": "b"}}',
    ],
)
def test_a_key_that_stands_there_twice_makes_it_no_call(text: str) -> None:
    assert read_calls(text, OFFERED) == ()


def test_one_wrong_call_among_right_ones_makes_all_of_it_text() -> None:
    assert read_calls(f'{CALL}\n{{"name": "delete_everything", "arguments": {{}}}}', OFFERED) == ()


def test_nothing_is_read_where_no_tool_is_offered() -> None:
    assert read_calls(CALL, frozenset()) == ()


def test_depth_and_length_and_number_have_bounds() -> None:
    assert read_calls("[" * 100_000, OFFERED) == ()
    assert read_calls('{"name": "get_spoke", "arguments": ' + '{"a": ' * 50_000, OFFERED) == ()
    assert read_calls(CALL + " " * MOST_CHARACTERS, OFFERED) == ()
    assert len(read_calls(CALL * MOST_CALLS, OFFERED)) == MOST_CALLS
    assert read_calls(CALL * (MOST_CALLS + 1), OFFERED) == ()
    assert read_calls(f"<tools>{CALL * (MOST_CALLS + 1)}</tools>", OFFERED) == ()


def test_fences_without_end_take_no_time() -> None:
    assert read_calls("```json\n" * 20_000, OFFERED) == ()
    assert read_calls("<tool_call>" * 15_000, OFFERED) == ()
    assert read_calls("<tools>" + "1 " * 90_000 + "</tools>", OFFERED) == ()


def test_arguments_keep_their_numbers_and_survive_half_a_surrogate_pair() -> None:
    text = '{"name": "get_spoke", "arguments": {"days": 9007199254740993, "share": 1.0, "half": "\\ud83d"}}'
    (call,) = read_calls(text, OFFERED)
    assert call.arguments == '{"days": 9007199254740993, "share": 1.0, "half": "\\ud83d"}'
    call.arguments.encode()


@given(st.text(alphabet='{}[]":,`<>/ \n\\jsontol_calgetpk0.eE-', max_size=300))
def test_no_text_makes_it_raise_or_call_what_was_not_offered(text: str) -> None:
    for call in read_calls(text, OFFERED):
        assert call.name in OFFERED
        assert isinstance(json.loads(call.arguments), dict)


@example({"```": ["\n```", "</tool_call>"]})
@given(st.dictionaries(st.text(max_size=5), st.recursive(st.integers() | st.text(max_size=9), st.lists, max_leaves=5)))
def test_any_arguments_come_through_as_they_are(arguments: dict[str, object]) -> None:
    text = json.dumps({"name": "get_spoke", "arguments": arguments})
    (call,) = read_calls(f"```json\n{text}\n```", OFFERED)
    assert json.loads(call.arguments) == arguments
