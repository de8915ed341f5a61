"""Calls that a shape tells between the lines: a record that hints at a call never says that there was none."""

from __future__ import annotations

from typing import Any

import pytest

from assertions.adapters.choose import read_foreign
from episodes.record import ToolCall

ASKED = {"role": "user", "content": "Delete it."}
DONE = {"role": "assistant", "content": "Done."}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "delete", "input": {}}
ITEM = {"type": "message", "role": "assistant", "content": "Done."}


def calls_of(value: Any) -> list[ToolCall]:
    calls = read_foreign(value).tool_calls
    assert calls is not None
    return list(calls)


@pytest.mark.parametrize(
    ("conversation", "problem"),
    [
        (
            [ASKED, {"role": "assistant", "content": [TOOL_USE]}, DONE],
            "openai-chat: a message has content of the type 'tool_use', which is no call of this API",
        ),
        (
            [ASKED, {"role": "assistant", "content": [{"functionCall": {"name": "delete"}}]}, DONE],
            "openai-chat: a message has content of the type 'functionCall', which is no call of this API",
        ),
        (
            [ASKED, {"role": "tool", "tool_call_id": "c1", "content": "ok"}, DONE],
            "openai-chat: a tool message answers a call that is not there ('c1')",
        ),
        (
            [ASKED, {"role": "function", "name": "delete", "content": "ok"}, DONE],
            "openai-chat: a tool message answers a call that is not there ('delete')",
        ),
        (
            [ASKED, {"role": "tool", "name": "delete", "content": "ok"}, DONE],
            "openai-chat: a tool message answers a call that is not there ('delete')",
        ),
        (
            [{"type": "human", "content": "x"}, {"type": "ai", "content": [TOOL_USE]}, {"type": "ai", "content": "ok"}],
            "langchain: a message has content of the type 'tool_use', which none of its tool_calls stands for",
        ),
        (
            [{"type": "human", "content": "x"}, {"type": "tool", "tool_call_id": "c1", "content": "ok"}],
            "langchain: a tool message answers a call that is not there ('c1')",
        ),
        (
            [{"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [{"id": "c1"}]}}],
            "langchain: a message has calls in additional_kwargs only",
        ),
        (
            [{"type": "ai", "content": "", "additional_kwargs": {"function_call": {"name": "delete"}}}],
            "langchain: a message has calls in additional_kwargs only",
        ),
        (
            {"input": [{"type": "function_call_output", "call_id": "c1", "output": "ok"}], "output": [ITEM]},
            "an item answers a call that is not there ('c1')",
        ),
        (
            [{"type": "item_reference", "id": "fc_1"}, ITEM],
            "an item has the type 'item_reference', which may be a tool call",
        ),
        (
            {"previous_response_id": "resp_1", "output": [ITEM]},
            "the response continues 'resp_1', whose items are not here",
        ),
    ],
)
def test_a_hint_at_a_call_that_can_not_be_read_makes_the_calls_unknown(conversation: Any, problem: str) -> None:
    episode = read_foreign(conversation)
    assert episode.tool_calls is None
    assert episode.warnings == (f"tool calls are unknown: {problem}",)


def test_content_that_only_repeats_the_listed_calls_is_no_riddle() -> None:
    listed = {"type": "ai", "content": [TOOL_USE], "tool_calls": [{"name": "delete", "args": {}, "id": "t1"}]}
    conversation = [listed, {"type": "tool", "tool_call_id": "t1", "content": "ok"}, {"type": "ai", "content": "ok"}]
    assert [(call.name, call.status) for call in calls_of(conversation)] == [("delete", "ok")]


def test_pictures_and_refusals_are_content_like_any_other() -> None:
    parts = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "x"}}]
    refusal = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    assert calls_of([{"role": "user", "content": parts}, refusal]) == []


@pytest.mark.parametrize("shape", ["chat", "langchain", "responses"])
def test_an_id_that_is_used_again_does_not_borrow_the_earlier_answer(shape: str) -> None:
    def chat(name: str) -> dict[str, Any]:
        return {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": name, "arguments": "{}"}}]}

    def langchain(name: str) -> dict[str, Any]:
        return {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": name, "args": {}}]}

    def responses(name: str) -> dict[str, Any]:
        return {"type": "function_call", "call_id": "1", "name": name, "arguments": "{}"}

    asked, answer = {
        "chat": (chat, {"role": "tool", "tool_call_id": "1", "content": "first"}),
        "langchain": (langchain, {"type": "tool", "tool_call_id": "1", "content": "first"}),
        "responses": (responses, {"type": "function_call_output", "call_id": "1", "output": "first"}),
    }[shape]
    calls = calls_of([asked("get"), answer, asked("delete")])
    assert [(call.name, call.status, call.result) for call in calls] == [
        ("get", "ok", "first"),
        ("delete", "transport_error", None),
    ]


def test_a_call_that_waits_for_approval_was_asked_for_and_did_not_run() -> None:
    request = {"type": "mcp_approval_request", "id": "a1", "name": "delete", "arguments": "{}", "server_label": "hub"}
    refused = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": False}
    for items in ([request, ITEM], [request, refused, ITEM]):
        assert [(call.name, call.server, call.status) for call in calls_of(items)] == [
            ("delete", "hub", "not_executed")
        ]


def test_an_approved_call_counts_once() -> None:
    request = {"type": "mcp_approval_request", "id": "a1", "name": "delete", "arguments": "{}", "server_label": "hub"}
    approved = {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": True}
    ran = {"type": "mcp_call", "name": "delete", "arguments": "{}", "approval_request_id": "a1", "output": "gone"}
    assert [(call.name, call.status) for call in calls_of([request, approved, ran])] == [("delete", "ok")]
    assert [(call.name, call.status) for call in calls_of([request, approved, ITEM])] == [("delete", "transport_error")]


def span(name: str, span_id: str = "", parent: str = "", **attributes: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"name": name, "spanId": span_id, "parentSpanId": parent, "startTime": 1, "attributes": named}


def model(reason: str, **attributes: Any) -> dict[str, Any]:
    return span("chat", gen_ai__operation__name="chat", gen_ai__response__finish_reasons=[reason], **attributes)


@pytest.mark.parametrize("reason", ["function_call", "TOOL_CALLS", "toolUse", "pause_turn", "STOP"])
def test_only_reasons_that_are_known_to_rule_calls_out_do_so(reason: str) -> None:
    assert read_foreign({"spans": [model(reason)]}).tool_calls is None
    assert read_foreign({"spans": [model("stop"), model(reason)]}).tool_calls is None


def test_gemini_stops_with_stop_even_when_it_calls_a_tool() -> None:
    assert read_foreign({"spans": [model("stop", gen_ai__provider__name="gcp.gemini")]}).tool_calls is None
    assert read_foreign({"spans": [model("stop", gen_ai__provider__name="openai")]}).tool_calls == ()


@pytest.mark.parametrize(
    "attributes",
    [
        {"tool__name": "delete"},
        {"tool_name": "delete"},
        {"function__name": "delete"},
        {"gen_ai__tool__name": "delete", "mcp__method__name": "tools/call"},
        {"traceloop__span__kind": "tool", "traceloop__entity__name": "delete"},
    ],
)
def test_a_span_that_names_a_tool_and_does_not_say_what_it_is_counts_as_a_call(attributes: dict[str, str]) -> None:
    calls = calls_of({"spans": [model("stop"), span("some work", **attributes)]})
    assert [call.name for call in calls] == ["delete"]


def test_a_span_inside_the_span_of_the_same_call_is_no_second_call() -> None:
    outer = span("execute_tool get", "1", gen_ai__operation__name="execute_tool", gen_ai__tool__name="get")
    between = span("http", "2", "1")
    inner = span("tools/call get", "3", "2", gen_ai__tool__name="get", mcp__method__name="tools/call")
    other = span("tools/call put", "4", "2", gen_ai__tool__name="put", mcp__method__name="tools/call")
    assert [call.name for call in calls_of({"spans": [outer, between, inner, other]})] == ["get", "put"]
