"""Spans of an episode, as an OpenTelemetry receiver gets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from providers import tracing
from providers.production_agent import call_api
from tests.providers.agent.rig import Rig, make_rig
from tests.support.scripted_model import Say, scripted_model
from tests.support.tool_process import ToolProcess
from tests.support.trace_receiver import trace_receiver

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter of a worker goes to one address for the worker's life; each test is a worker of its own."""
    monkeypatch.setattr(tracing, "_provider", None)
    monkeypatch.setattr(tracing, "_gave_up", False)


def ask(rig: Rig) -> dict[str, Any]:
    return call_api(
        "hello",
        {"config": {"agent": "./agent", "basePath": str(rig.folder), "retries": 0}},
        {"vars": {}, "traceparent": f"00-{TRACE}-{PARENT}-01", "test": {"metadata": {"id": "C01"}}},
    )


@pytest.mark.usefixtures("fresh")
def test_model_tool_and_turn_are_spans_below_promptfoos_own(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [Say(calls=[("add", {"a": 1, "b": 2}), ("fail", {}), ("not_mine", {})]), Say("three")]
    with trace_receiver() as receiver, scripted_model(*script) as model:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        result = ask(make_rig(tmp_path, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}]))
    assert "error" not in result
    episode, turn = receiver.named("episode C01"), receiver.named("invoke_agent agent")
    assert {span.trace for span in receiver.spans} == {TRACE}
    assert (episode.parent, turn.parent) == (PARENT, episode.id)
    assert turn.attributes["gen_ai.turn.index"] == 1
    add, fail = receiver.named("execute_tool add"), receiver.named("execute_tool fail")
    assert add.attributes["gen_ai.tool.name"] == "add"
    assert json.loads(add.attributes["gen_ai.tool.call.arguments"]) == {"a": 1, "b": 2}
    assert (add.failed, fail.failed) == (False, True)
    assert {add.parent, fail.parent} == {turn.id}
    chats = [span for span in receiver.spans if span.name == "chat scripted"]
    assert [span.attributes["gen_ai.response.finish_reasons"] for span in chats] == [["tool_calls"], ["stop"]]
    assert chats[0].attributes["gen_ai.usage.input_tokens"] == 100
    # A call that was refused is no execution, so it has no span.
    assert not [span for span in receiver.spans if "not_mine" in span.name]


@pytest.mark.usefixtures("fresh")
def test_a_credential_in_a_call_or_in_a_failure_is_masked_in_its_span(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-planted0123456789planted"
    script = [
        Say(calls=[("create_pull_request", {"title": key})]),
        Say(status=400, error={"message": f"wrong key {key}"}),
    ]
    servers = [{"name": "portal", "url": tools.url}]
    with trace_receiver() as receiver, scripted_model(*script) as model:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        result = ask(make_rig(tmp_path, monkeypatch, model, servers=servers))
    assert "wrong key [redacted]" in result["error"]
    created = receiver.named("execute_tool create_pull_request")
    _, failed = [span for span in receiver.spans if span.name == "chat scripted"]
    assert json.loads(created.attributes["gen_ai.tool.call.arguments"])["title"] == "[redacted]"
    assert failed.failed
    assert [body for body in receiver.bodies if key.encode() in body] == []


@pytest.mark.usefixtures("fresh")
def test_without_a_receiver_the_episode_runs_and_tracing_is_given_up(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with scripted_model(Say("hi"), Say("hi")) as model:
        rig = make_rig(tmp_path, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}])
        assert ask(rig)["output"] == "hi"
        assert tracing.begin_trace({"traceparent": f"00-{TRACE}-{PARENT}-01"}) == (None, "")
        assert ask(rig)["output"] == "hi"
    assert capsys.readouterr().out == ""


def test_without_a_traceparent_there_is_no_trace() -> None:
    assert tracing.begin_trace({}) == (None, "")
