"""The scripted conversation of the benchmarks: whoever drives it gets the same lines, over real HTTP too."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from bench.talk import INVERTED, STOP, TOOLS, Kind, Talk, agent_line, talk_of, user_line
from bench.timed_model import AGENT, KEY, USER, timed_model


def _drive(kind: Kind, *, instructions: str = "") -> list[tuple[str, str]]:
    """The conversation as (speaker, text or tool), driven as a plain loop would: a text with a signal ends it."""
    shown: list[dict[str, Any]] = [{"role": "user", "content": Talk(kind, 1).opening}]
    heard: list[dict[str, Any]] = [{"role": "assistant", "content": Talk(kind, 1).opening}]
    spoken: list[tuple[str, str]] = []
    for _ in range(10):
        line = agent_line(shown)
        if line.tool:
            spoken.append(("tool", line.tool))
            shown += [{"role": "assistant", "content": None}, {"role": "tool", "content": "{}"}]
            continue
        spoken.append(("agent", line.text))
        shown.append({"role": "assistant", "content": line.text})
        heard.append({"role": "user", "content": line.text})
        reply = user_line(kind, [{"role": "system", "content": instructions}, *heard])
        spoken.append(("user", reply))
        if STOP in reply:
            return spoken
        shown.append({"role": "user", "content": reply})
        heard.append({"role": "assistant", "content": reply})
    raise AssertionError("the conversation has no end")


def test_the_plain_conversation_has_two_turns_with_a_tool_call_each_and_ends_with_the_signal() -> None:
    assert [speaker for speaker, _ in _drive("plain")] == ["tool", "agent", "user", "tool", "agent", "user"]
    assert [text for speaker, text in _drive("plain") if speaker == "tool"] == [name for name, _ in TOOLS]
    assert _drive("plain")[-1] == ("user", STOP)


def test_a_developer_that_glues_the_signal_says_something_with_it() -> None:
    line = _drive("glued")[-1][1]
    assert line.endswith(STOP)
    assert line != STOP


def test_a_developer_that_speaks_as_the_agent_does_so_once_and_not_again_when_that_draft_is_refused() -> None:
    assert [text for speaker, text in _drive("inverted") if speaker == "user"].count(INVERTED) == 1
    refused = _drive("inverted", instructions="A draft of your next message was thrown away. Write another one.")
    assert INVERTED not in [text for _, text in refused]


@pytest.mark.parametrize("kind", ["plain", "glued", "inverted"])
def test_a_request_belongs_to_the_conversation_that_its_opening_names(kind: Kind) -> None:
    assert talk_of(json.dumps([{"role": "user", "content": Talk(kind, 12).opening}])) == Talk(kind, 12)
    assert talk_of("no opening") is None


def test_both_protocols_get_the_same_line_of_the_developer_and_every_request_is_in_the_log() -> None:
    talk = Talk("plain", 3)
    history = [{"role": "assistant", "content": talk.opening}, {"role": "user", "content": "It has one."}]
    with timed_model(0.0) as model:
        chat = _post(f"{model.url}/chat/completions", {"model": USER, "messages": history})
        task = _post(model.task_url, {"task": "tau", "instructions": "", "history": history})
        opened = {"model": AGENT, "messages": [{"role": "user", "content": talk.opening}]}
        call = _post(f"{model.url}/chat/completions", opened)["choices"][0]["message"]["tool_calls"][0]["function"]
    assert chat["choices"][0]["message"]["content"] == task["result"]
    assert (call["name"], json.loads(call["arguments"])) == TOOLS[0]
    assert [(asked.talk, asked.side) for asked in model.log] == [(talk, "user"), (talk, "user"), (talk, "agent")]
    assert all(asked.arrived <= asked.answered for asked in model.log)


def _post(url: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=20) as answer:
        return json.load(answer)
