"""The production agent end to end: a real HTTP model service, a real MCP server, the real provider entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from episodes.record import StopReason
from tests.providers.agent.rig import Result, Rig, make_rig
from tests.support.scripted_model import KEY, Say, ScriptedModel, Step, scripted_model
from tests.support.tool_process import ToolProcess

Start = Callable[..., AbstractContextManager[tuple[Rig, ScriptedModel]]]


@pytest.fixture
def start(tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a scripted model and an agent whose only server is the module's tool server."""
    tools.log.unlink(missing_ok=True)

    @contextmanager
    def started(*script: Step, **agent: Any) -> Any:
        with scripted_model(*script) as model:
            servers = agent.pop("servers", [{"name": "portal", "url": tools.url}])
            yield make_rig(tmp_path, monkeypatch, model, servers=servers, **agent), model

    return started


def run(start: Start, *script: Step, prompt: str = "hello", **config: Any) -> tuple[Result, ScriptedModel]:
    with start(*script) as (rig, model):
        return rig.run(prompt, **config), model


def roles(result: Result) -> list[str]:
    return [str(message["role"]) for message in result.episode.messages]


def test_a_question_is_answered_with_the_tools_and_everything_is_recorded(start: Start, tools: ToolProcess) -> None:
    result, model = run(start, Say(calls=[("add", {"a": 2, "b": 3})]), Say("It is 5."), prompt="2 + 3?")
    assert result.error == ""
    assert result.output == "It is 5."
    assert result.error == ""
    assert tools.names() == ["add"]
    assert roles(result) == ["user", "assistant", "tool", "assistant"]
    assert result.episode.tool_calls is not None
    (call,) = result.episode.tool_calls
    assert (call.name, call.server, call.status, call.arguments, call.result) == (
        "add",
        "portal",
        "ok",
        {"a": 2, "b": 3},
        {"sum": 5},
    )
    assert (call.turn, call.step, call.batch) == (1, 1, 1)
    assert call.latency_ms > 0
    assert result.episode.usage.agent.requests == 2
    assert result.raw["tokenUsage"] == {"total": 220, "prompt": 200, "completion": 20, "numRequests": 2}
    assert result.episode.stop_reason is StopReason.USER_STOP
    first = model.asked[0]
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body["messages"] == [
        {"role": "system", "content": "Be careful.\n\nAdd with `add`."},
        {"role": "user", "content": "2 + 3?"},
    ]
    assert json.loads(model.asked[1].body["messages"][-1]["content"]) == {"sum": 5}


def test_the_model_is_offered_the_allow_list_and_nothing_else(start: Start) -> None:
    with start(Say("hi"), tools=("ping", "add")) as (rig, model):
        rig.run()
    assert [tool["function"]["name"] for tool in model.asked[0].body["tools"]] == ["ping", "add"]
    assert model.asked[0].body["tools"][1]["function"]["parameters"]["required"] == ["a", "b"]


def test_a_tool_outside_the_allow_list_is_refused_recorded_and_told_to_the_model(
    start: Start, tools: ToolProcess
) -> None:
    with start(Say(calls=[("fail", {}), ("invented", {})]), Say("I can not."), tools=("ping",)) as (rig, model):
        result = rig.run()
    assert result.statuses == [("fail", "not_executed"), ("invented", "not_executed")]
    assert tools.names() == []
    told = [message["content"] for message in model.asked[1].body["messages"] if message["role"] == "tool"]
    assert told == [
        "The tool 'fail' is not one of your tools. Your tools: ping.",
        "The tool 'invented' does not exist. Your tools: ping.",
    ]


def test_an_allowed_tool_that_no_server_offers_stops_the_episode_at_its_start(start: Start) -> None:
    with start(Say("hi"), tools=("ping", "teleport")) as (rig, model):
        result = rig.run()
    assert result.error.startswith(
        "tool_unavailable: the allow-list names the tool 'teleport', which no server offers; offered: add"
    )
    assert model.asked == []
    assert result.episode.tool_calls == ()


def test_one_bad_call_does_not_hurt_its_siblings_and_each_gets_its_message(start: Start, tools: ToolProcess) -> None:
    calls: Sequence[tuple[str, Any]] = [
        ("add", '{"a": 1, "b"'),
        ("ping", {}),
        ("add", {"a": "one", "b": 2}),
        ("fail", {}),
        ("gone", {}),
        ("add", {"a": 1, "b": 2}),
    ]
    result, model = run(start, Say(calls=calls), Say("done"))
    assert result.statuses == [
        ("add", "parse_error"),
        ("ping", "ok"),
        ("add", "schema_error"),
        ("fail", "tool_error"),
        ("gone", "not_executed"),
        ("add", "ok"),
    ]
    assert sorted(tools.names()) == ["add", "fail", "ping"]
    messages = model.asked[1].body["messages"]
    asked = [call["id"] for call in messages[2]["tool_calls"]]
    assert [message["tool_call_id"] for message in messages[3:]] == asked
    assert {call.batch for call in result.episode.tool_calls or ()} == {1}


def test_calls_of_one_answer_run_side_by_side(start: Start) -> None:
    result, _ = run(start, Say(calls=[("slow", {"seconds": 0.4})] * 3), Say("done"))
    calls = result.episode.tool_calls or ()
    assert [call.status for call in calls] == ["ok"] * 3
    assert result.episode.timings.duration_ms < sum(call.latency_ms for call in calls)


def test_the_step_limit_stops_an_agent_that_never_answers_without_calling_it_an_error(start: Start) -> None:
    result, model = run(start, *[Say(calls=[("ping", {})])] * 5, maxSteps=3)
    assert result.episode.stop_reason is StopReason.MAX_STEPS
    assert result.error == ""
    assert len(model.asked) == 3
    assert len(result.episode.tool_calls or ()) == 3
    assert "no answer after 3 steps (maxSteps)" in result.episode.warnings


def test_a_provider_may_replace_instructions_model_and_temperature(start: Start) -> None:
    with start(Say("hi")) as (rig, model):
        (rig.folder / "shorter.md").write_text("Be brief.", encoding="utf-8")
        result = rig.run(instructions="shorter.md", model="other", temperature=0.7)
    body = model.asked[0].body
    assert body["messages"][0]["content"] == "Be brief.\n\nAdd with `add`."
    assert (body["model"], body["temperature"]) == ("other", 0.7)
    assert result.episode.fingerprint["instructions"].name == "shorter.md"
    assert result.episode.fingerprint["model"].name == "other"


def test_the_environment_names_the_model_only_where_the_provider_does_not(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(Say("hi"), Say("hi")) as (rig, model):
        monkeypatch.setenv("EVALS_AGENT_MODEL", "from-environment")
        rig.run()
        rig.run(model="from-provider")
    assert [asked.body["model"] for asked in model.asked] == ["from-environment", "from-provider"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"temprature": 0}, "config.temprature: unknown key; allowed: agent, budget"),
        ({"maxSteps": 0}, "maxSteps: expected a whole number of at least 1, found 0"),
        ({"agent": "nobody"}, "agents: spoke, or a folder ./name"),
        ({"agent": None}, "config.agent: expected the name of an agent (spoke)"),
        ({"instructions": "nowhere.md"}, "config.instructions: there is no file"),
        ({"temperature": "hot"}, "config.temperature: expected a number of at least 0 and at most 2, found 'hot'"),
        ({"servers": [{"name": "x"}]}, "config.servers[0]: expected either url (streamable HTTP) or command"),
        ({"budget": {"token": 1}}, "budget.token: unknown key; allowed: tokens, cost, steps, toolCalls"),
        ({"prices": {"m": {"input": 1}}}, "config.prices.m.output: missing"),
        ({"marker": "yes"}, "config.marker: expected true or false, found 'yes'"),
        ({"api": "soap"}, "config.api: expected one of chat, responses, found 'soap'"),
        ({"capabilities": {"temp": False}}, "config.capabilities.temp: unknown key; allowed: temperature"),
    ],
)
def test_a_wrong_configuration_is_an_error_that_names_the_key_and_what_is_allowed(
    start: Start, config: dict[str, Any], message: str
) -> None:
    result, model = run(start, Say("hi"), **config)
    assert result.error.startswith("provider_error: configuration: ")
    assert message in result.error
    assert model.asked == []


def test_a_chat_prompt_brings_its_history(start: Start) -> None:
    prompt = json.dumps(
        [
            {"role": "user", "content": "My name is Ada."},
            {"role": "assistant", "content": "Hello Ada."},
            {"role": "user", "content": "Who am I?"},
        ]
    )
    result, model = run(start, Say("Ada."), prompt=prompt)
    assert [message["content"] for message in model.asked[0].body["messages"][1:]] == [
        "My name is Ada.",
        "Hello Ada.",
        "Who am I?",
    ]
    assert result.output == "Ada."
    assert [(message["role"], message["turn"]) for message in result.episode.messages] == [
        ("user", 0),
        ("assistant", 0),
        ("user", 1),
        ("assistant", 1),
    ]


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("  ", "the prompt is empty"),
        (
            '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]',
            "the last message must be a user's",
        ),
        ('[{"role": "boss", "content": "a"}]', "prompt[0].role: 'boss' is none of system, user, assistant, tool"),
    ],
)
def test_a_prompt_that_asks_nothing_is_an_error(start: Start, prompt: str, message: str) -> None:
    result, _ = run(start, Say("hi"), prompt=prompt)
    assert message in result.error


def test_a_created_pull_request_is_in_the_ledger_before_and_after_and_carries_our_marker(
    start: Start, tools: ToolProcess
) -> None:
    with start(Say(calls=[("create_pull_request", {"title": "new-spoke"})]), Say("done")) as (rig, _):
        result = rig.run()
        intent, outcome = rig.ledger()
    (pull,) = result.episode.pull_requests
    assert (pull.id, pull.repository, pull.status) == ("7", "spokes", "active")
    assert (intent["kind"], intent["tool"], intent["step"]) == (
        "intent",
        "create_pull_request",
        "test-0-prompt-0-repeat-0",
    )
    assert (outcome["kind"], outcome["answered"], outcome["pullRequest"]["id"]) == ("result", True, "7")
    marker = intent["marker"]
    assert pull.source_branch == f"{marker}/new-spoke"
    assert tools.calls()[0]["arguments"] == {
        "title": "new-spoke",
        "description": marker,
        "branch_prefix": marker,
    }
    (call,) = result.episode.tool_calls or ()
    assert call.arguments == {"title": "new-spoke"}
    assert call.added_arguments == {"branch_prefix": marker, "description": marker}


def test_without_marker_the_call_is_sent_as_the_agent_made_it(start: Start, tools: ToolProcess) -> None:
    with start(Say(calls=[("create_pull_request", {"title": "x"})]), Say("done")) as (rig, _):
        result = rig.run(marker=False)
        assert rig.ledger()[0]["marker"] == ""
    assert tools.calls()[0]["arguments"]["branch_prefix"] == "spoke"
    assert (result.episode.tool_calls or ())[0].added_arguments is None


def test_a_refused_creation_is_settled_in_the_ledger_without_a_pull_request(start: Start) -> None:
    with start(Say(calls=[("create_pull_request", {"title": "refuse"})]), Say("sorry")) as (rig, _):
        result = rig.run()
        outcome = rig.ledger()[1]
    assert result.statuses == [("create_pull_request", "tool_error")]
    assert result.episode.pull_requests == ()
    assert outcome["answered"] is True
    assert "pullRequest" not in outcome


def test_a_pull_request_that_the_agent_only_talks_about_is_not_recorded(start: Start) -> None:
    text = "See https://dev.azure.com/landing-zones/platform/_git/spokes/pullrequest/99"
    result, _ = run(start, Say(text))
    assert result.episode.pull_requests == ()


def test_an_unwritable_ledger_keeps_the_creating_call_from_being_sent(start: Start, tools: ToolProcess) -> None:
    with start(Say(calls=[("create_pull_request", {"title": "x"})]), Say("done")) as (rig, _):
        rig.home.mkdir(exist_ok=True)
        (rig.home / "ledger").write_text("a file where the folder should be", encoding="utf-8")
        result = rig.run()
    assert tools.names() == []
    assert result.statuses == [("create_pull_request", "not_executed")]
    assert "the ledger could not be written" in result.error


def test_variables_of_promptfoo_and_assertions_never_reach_the_model(start: Start) -> None:
    with start(Say("hi")) as (rig, model):
        rig.run(variables={"__secret": "hidden-value"})
    assert "hidden-value" not in json.dumps([asked.body for asked in model.asked])


def test_somebody_elses_agent_is_tested_through_the_same_protocol(start: Start) -> None:
    with start() as (rig, model):
        (rig.folder / "foreign_agent_of_the_test.py").write_text(
            "from contextlib import asynccontextmanager\n"
            "from providers.agent_protocol import AgentAnswer\n"
            "class Parrot:\n"
            "    name = 'parrot'\n"
            "    def begin(self, history): self.history = list(history)\n"
            "    async def answer(self, message): return AgentAnswer(message.upper())\n"
            "@asynccontextmanager\n"
            "async def build_agent(setup):\n"
            "    assert setup.options['loud'] is True\n"
            "    yield Parrot()\n",
            encoding="utf-8",
        )
        result = rig.run("polly", agent="foreign_agent_of_the_test:build_agent", loud=True)
    assert result.output == "POLLY"
    assert roles(result) == ["user", "assistant"]
    assert result.episode.tool_calls is None
    assert model.asked == []


def test_a_factory_that_can_not_be_loaded_is_named(start: Start) -> None:
    result, _ = run(start, agent="no_such_module_here:build")
    assert "config.agent: 'no_such_module_here:build' can not be loaded: No module named" in result.error


def test_nothing_is_printed_to_standard_output(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    run(start, Say(calls=[("fail", {})]), Say("done"))
    assert capfd.readouterr().out == ""
