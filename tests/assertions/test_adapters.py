"""Records of other programs: each known shape becomes the same episode, and an unknown one is unknown."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions.adapters.choose import ADAPTERS, read_foreign
from assertions.contract import check as contract
from assertions.evidence import Evidence
from assertions.run_check import grade
from assertions.verdict import Verdict
from episodes.record import Episode

SPOKE = {"name": "spoke-a"}

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Help."},
    {"role": "user", "content": "Show a and b."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "get", "arguments": '{"name": "a"}'}},
            {"id": "2", "type": "function", "function": {"name": "get", "arguments": '{"name": "b"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "2", "content": "no b", "is_error": True},
    {"role": "tool", "tool_call_id": "1", "content": '{"name": "spoke-a"}'},
    {"role": "assistant", "content": "Here is a."},
    {"role": "user", "content": "Delete it."},
    {
        "role": "assistant",
        "tool_calls": [{"id": "3", "type": "function", "function": {"name": "delete", "arguments": '{"name": "a'}}],
    },
]

RESPONSES: dict[str, Any] = {
    "input": [{"role": "user", "content": "Show a and b."}],
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "get", "arguments": '{"name": "a"}'},
        {"type": "function_call", "call_id": "2", "name": "get", "arguments": '{"name": "b"}'},
        {"type": "function_call_output", "call_id": "1", "output": '{"name": "spoke-a"}'},
        {"type": "function_call_output", "call_id": "2", "output": "no b", "status": "failed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here is a."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Delete it."}]},
        {"type": "function_call", "call_id": "3", "name": "delete", "arguments": '{"name": "a'},
    ],
}

LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "Help."},
    {"type": "human", "content": "Show a and b."},
    {
        "type": "ai",
        "content": "",
        "tool_calls": [
            {"name": "get", "args": {"name": "a"}, "id": "1"},
            {"name": "get", "args": {"name": "b"}, "id": "2"},
        ],
    },
    {"type": "tool", "tool_call_id": "1", "content": '{"name": "spoke-a"}', "status": "success"},
    {"type": "tool", "tool_call_id": "2", "content": "no b", "status": "error"},
    {"type": "ai", "content": [{"type": "text", "text": "Here is a."}]},
    {"type": "human", "content": "Delete it."},
    {"type": "ai", "content": "", "invalid_tool_calls": [{"name": "delete", "args": '{"name": "a', "id": "3"}]},
]


def calls_of(episode: Episode) -> list[tuple[Any, ...]]:
    assert episode.tool_calls is not None
    return [
        (call.name, call.arguments, str(call.status), call.result, call.turn, call.batch) for call in episode.tool_calls
    ]


@pytest.mark.parametrize(
    "conversation",
    [
        CHAT,
        RESPONSES,
        LANGCHAIN,
        [{"type": one["type"], "data": {k: v for k, v in one.items() if k != "type"}} for one in LANGCHAIN],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "x"], "kwargs": one} for one in LANGCHAIN],
        [SimpleNamespace(**one) for one in LANGCHAIN],
    ],
    ids=["chat", "responses", "langchain", "langchain-dict", "langchain-dumps", "langchain-objects"],
)
def test_one_conversation_is_the_same_episode_in_every_shape(conversation: Any) -> None:
    episode = read_foreign(conversation)
    calls = calls_of(episode)
    assert [call[:5] for call in calls] == [
        ("get", {"name": "a"}, "ok", SPOKE, 1),
        ("get", {"name": "b"}, "tool_error", "no b", 1),
        ("delete", None, "parse_error", None, 2),
    ]
    assert calls[0][5] == calls[1][5] != calls[2][5]
    said = [message.get("content") for message in episode.messages if message["role"] == "assistant"]
    assert [text for text in said if text] == ["Here is a."]


def test_a_call_that_nobody_answered_is_of_unknown_fate() -> None:
    function = {"name": "create", "arguments": "{}"}
    for conversation in (
        [{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}],
        [{"type": "function_call", "call_id": "1", **function}],
        [{"type": "ai", "content": "", "tool_calls": [{"name": "create", "args": {}, "id": "1"}]}],
    ):
        [call] = calls_of(read_foreign(conversation))
        assert call[2] == "transport_error"


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ("", {}),
        (None, {}),
        ("{}", {}),
        ("null", None),
        ("[]", None),
        ("3", None),
        ('{"cut', None),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_arguments_are_never_repaired(arguments: Any, parsed: Any) -> None:
    conversation = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": arguments}}]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
    ]
    [call] = calls_of(read_foreign(conversation))
    assert call[1] == parsed
    assert call[2] == ("ok" if parsed is not None else "parse_error")


def test_the_older_function_call_is_read() -> None:
    conversation = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "function_call": {"name": "get", "arguments": "{}"}},
        {"role": "function", "name": "get", "content": "done"},
    ]
    assert calls_of(read_foreign(conversation)) == [("get", {}, "ok", "done", 1, 1)]


def test_hosted_and_shell_tools_of_the_responses_api_are_calls_like_any_other() -> None:
    items = [
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "local_shell_call", "call_id": "s", "action": {"type": "exec", "command": ["rm", "-r", "x"]}},
        {"type": "local_shell_call_output", "call_id": "s", "output": "gone"},
        {"type": "mcp_call", "server_label": "portal", "name": "create", "arguments": "{}", "error": "refused"},
        {"type": "custom_tool_call", "call_id": "c", "name": "write", "input": "text"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "ok"}]},
    ]
    assert [call[:4] for call in calls_of(read_foreign(items))] == [
        ("web_search", {"type": "search", "query": "x"}, "ok", None),
        ("local_shell", {"type": "exec", "command": ["rm", "-r", "x"]}, "ok", "gone"),
        ("create", {}, "tool_error", None),
        ("write", {"input": "text"}, "ok", "ok"),
    ]


def test_an_item_of_an_unknown_type_makes_the_calls_unknown() -> None:
    episode = read_foreign([{"type": "message", "role": "user", "content": "x"}, {"type": "teleport_call", "id": "t"}])
    assert episode.tool_calls is None
    assert episode.warnings == (
        "tool calls are unknown: an item has the type 'teleport_call', which may be a tool call",
    )


def test_promptfoos_own_calls_are_read_and_a_missing_list_is_unknown() -> None:
    metadata = {
        "toolCalls": [
            {"id": "1", "name": "get", "input": {"name": "a"}, "output": '{"name": "spoke-a"}', "is_error": False},
            {"id": "2", "name": "get", "input": '{"name": "b"}', "output": "no b", "is_error": True},
        ]
    }
    assert [call[:5] for call in calls_of(read_foreign(metadata))] == [
        ("get", {"name": "a"}, "ok", SPOKE, 0),
        ("get", {"name": "b"}, "tool_error", "no b", 0),
    ]
    assert calls_of(read_foreign({"toolCalls": []})) == []
    assert read_foreign({"http": {"status": 200}}).tool_calls is None
    assert read_foreign({"toolCalls": None}).tool_calls is None


def span(name: str, start: int, end: int, parent: str = "p", **attributes: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"name": name, "startTime": start, "endTime": end, "parentSpanId": parent, "attributes": named}


def test_spans_of_tools_are_calls_and_spans_that_list_tools_are_none() -> None:
    trace = {
        "traceId": "t",
        "spans": [
            span(
                "create", 50, 60, gen_ai__operation__name="execute_tool", gen_ai__tool__name="create", error__type="x"
            ),
            span(
                "chat",
                0,
                9,
                gen_ai__operation__name="chat",
                gen_ai__tool__name="listed",
                gen_ai__tool__definitions="[]",
            ),
            span(
                "execute_tool get",
                10,
                30,
                gen_ai__operation__name="execute_tool",
                gen_ai__tool__name="get",
                gen_ai__tool__call__arguments='{"name": "a"}',
                gen_ai__tool__call__result='{"name": "spoke-a"}',
            ),
            span("execute_tool list", 20, 40, gen_ai__tool__call__arguments="{}"),
            span(
                "shell", 70, 80, openinference__span__kind="TOOL", tool__name="shell", input__value='{"command": "ls"}'
            ),
            span(
                "ai.toolCall", 90, 95, ai__operationId="ai.toolCall", ai__toolCall__name="find", ai__toolCall__args="{}"
            ),
        ],
    }
    assert calls_of(read_foreign(trace)) == [
        ("get", {"name": "a"}, "ok", SPOKE, 0, 1),
        ("list", {}, "ok", None, 0, 1),
        ("create", None, "tool_error", None, 0, 2),
        ("shell", {"command": "ls"}, "ok", None, 0, 3),
        ("find", {}, "ok", None, 0, 4),
    ]


def test_attributes_as_otlp_writes_them_are_read() -> None:
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "get"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "{}"}},
    ]
    trace = {"spans": [{"name": "x", "startTimeUnixNano": "5", "attributes": attributes, "status": {"code": 2}}]}
    assert calls_of(read_foreign(trace)) == [("get", {}, "tool_error", None, 0, 1)]


@pytest.mark.parametrize(
    ("spans", "calls"),
    [
        ([], None),
        ([span("http", 0, 1, http__method="GET")], None),
        ([span("chat", 0, 1, gen_ai__operation__name="chat")], None),
        ([span("chat", 0, 1, gen_ai__operation__name="chat", gen_ai__response__finish_reasons=["stop"])], ()),
        ([span("chat", 0, 1, gen_ai__operation__name="chat", gen_ai__response__finish_reasons='["tool_calls"]')], None),
    ],
)
def test_a_trace_without_tools_says_that_there_were_none_only_when_it_can_know(spans: list[Any], calls: Any) -> None:
    assert read_foreign({"spans": spans}).tool_calls == calls


def test_a_tool_span_without_a_name_makes_the_calls_unknown() -> None:
    episode = read_foreign({"spans": [span("x", 0, 1, gen_ai__operation__name="execute_tool")]})
    assert episode.tool_calls is None
    assert episode.warnings == ("tool calls are unknown: otel: the span 'x' is a tool's, and does not name the tool",)


@pytest.mark.parametrize("value", [None, 3, "text", [], {}, [1], [{"role": "narrator"}], [{"a": 1}], {"spans": "x"}])
def test_what_has_no_known_shape_is_unknown_and_never_none(value: Any) -> None:
    assert read_foreign(value).tool_calls is None


@pytest.mark.parametrize("name", [adapter.name for adapter in ADAPTERS])
def test_a_named_adapter_does_not_guess(name: str) -> None:
    assert read_foreign("nonsense", name).tool_calls is None
    with pytest.raises(ValueError, match="there is no adapter 'other'; there are promptfoo, otel, "):
        read_foreign([], "other")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "type",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "spans",
                    "attributes",
                    "toolCalls",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_no_data_crashes_an_adapter(value: Any) -> None:
    for adapter in ADAPTERS:
        episode = read_foreign(value, adapter.name) if adapter.matches(value) else read_foreign(value)
        assert episode.tool_calls is None or isinstance(episode.tool_calls, tuple)


def verdict(context: dict[str, Any], output: Any = "Done.") -> Verdict:
    evidence = Evidence.from_context(output, context)
    return grade("contract", contract, evidence, {"forbidden_tools": ["delete"]}).verdict


def test_assertions_read_what_a_foreign_provider_left_in_promptfoos_context() -> None:
    called = {"toolCalls": [{"name": "delete", "input": {}, "output": "ok"}]}
    tool_span = span("x", 0, 1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="delete")
    other_span = span("x", 0, 1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="get")
    texts = {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "I deleted it."}]}
    assert verdict({"metadata": called}) is Verdict.FAIL
    assert verdict({"providerResponse": {"metadata": called}}) is Verdict.FAIL
    assert verdict({"metadata": {"messages": CHAT}}) is Verdict.PASS
    assert verdict({"trace": {"spans": [tool_span]}}) is Verdict.FAIL
    assert verdict({"trace": {"spans": [other_span]}}) is Verdict.PASS
    assert verdict({"trace": {"spans": []}}) is Verdict.NOT_EVALUATED
    assert verdict({"metadata": {"http": {}}}) is Verdict.NOT_EVALUATED
    assert verdict({}, output=RESPONSES["output"]) is Verdict.PASS
    # Texts without calls do not say that there were none; a trace beside them does.
    assert verdict({"metadata": texts}) is Verdict.NOT_EVALUATED
    assert verdict({"metadata": texts, "trace": {"spans": [tool_span]}}) is Verdict.FAIL
    # An empty list beside another source that tells of a call is no proof, and neither is one beside a riddle.
    riddle = [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "delete", "input": {}}]}]
    assert verdict({"metadata": {"toolCalls": []}}) is Verdict.PASS
    assert verdict({"metadata": {"toolCalls": [], **texts}}) is Verdict.PASS
    assert verdict({"metadata": {"toolCalls": []}, "trace": {"spans": []}}) is Verdict.PASS
    assert verdict({"metadata": {"toolCalls": []}, "trace": {"spans": [tool_span]}}) is Verdict.FAIL
    assert verdict({"metadata": {"toolCalls": [], "messages": riddle}}) is Verdict.NOT_EVALUATED
    assert verdict({"metadata": {"messages": riddle}, "trace": {"spans": [other_span]}}) is Verdict.PASS


def test_a_foreign_episode_survives_the_way_through_promptfoo() -> None:
    episode = read_foreign(CHAT)
    again = Episode.from_metadata(json.loads(json.dumps(episode.to_metadata())))
    assert again.tool_calls == episode.tool_calls
