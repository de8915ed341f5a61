"""Two sources of one row that disagree about which tools were called: a ban never passes on the smaller one."""

from __future__ import annotations

from typing import Any

import pytest

from assertions.tool_not_executed import get_assert

MESSAGES = [
    {"role": "user", "content": "Clean up."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "delete", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    {"role": "tool", "tool_call_id": "c2", "content": "ok"},
    {"role": "assistant", "content": "Done."},
]


def reported(*names: str) -> dict[str, Any]:
    return {"toolCalls": [{"id": name, "name": name, "input": {}, "output": "ok"} for name in names]}


def traced(*names: str) -> dict[str, Any]:
    return {
        "spans": [
            {
                "spanId": str(number),
                "name": "call",
                "startTime": number,
                "endTime": number + 0.5,
                "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name},
            }
            for number, name in enumerate(names)
        ]
    }


def reason(metadata: Any, trace: Any = None, banned: str = "delete") -> str:
    context = {"vars": {}, "config": {"tools": [banned]}, "metadata": metadata, "trace": trace}
    return str(get_assert("Done.", context)["reason"])


@pytest.mark.parametrize(
    ("metadata", "trace"),
    [
        (reported("get"), traced("get", "delete")),
        ({**reported("get"), "messages": MESSAGES}, None),
        (reported("get", "delete"), traced("get")),
        ({"messages": MESSAGES}, traced("get")),
    ],
)
def test_the_source_that_tells_of_all_calls_counts_whichever_it_is(metadata: Any, trace: Any) -> None:
    assert reason(metadata, trace).startswith("delete was attempted")


def test_a_call_that_was_made_more_often_than_one_source_says_counts_as_often() -> None:
    assert reason(reported("delete"), traced("delete", "delete")).endswith("(and 1 more call)")


@pytest.mark.parametrize("banned", ["delete", "get", "purge"])
def test_sources_of_which_none_tells_of_all_calls_are_not_evaluated_and_named(banned: str) -> None:
    assert reason(reported("get"), traced("delete"), banned) == (
        "NOT EVALUATED: tool calls are unknown: calls (metadata.toolCalls) and trace (context.trace) disagree: only "
        "the first tells of get, only the second of delete"
    )


def test_sources_that_agree_are_believed() -> None:
    assert "NOT EVALUATED" not in reason(reported("get", "get"), traced("get", "get"))
