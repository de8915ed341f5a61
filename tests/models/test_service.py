"""One model behind a real HTTP service: what is sent, what comes back, and what every failure means."""

from __future__ import annotations

import asyncio
import datetime as dt
import email.utils
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from endpoints import ModelEndpoint
from models.config_values import ModelSettingsError
from models.deadline import Deadline
from models.plain_service import open_plain_model
from models.protocol import Model, ModelFailure, ModelReply, ModelRequest
from models.retry import asked_wait, back_off
from models.service import open_model
from models.settings import ModelSettings, parse_model_settings
from tests.support.scripted_model import KEY, Say, ScriptedModel, Step, scripted_model

HELLO = ModelRequest(messages=[{"role": "user", "content": "hello"}])
TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}},
}


WAYS: dict[str, Any] = {"official": open_model, "plain": open_plain_model}
_way: list[str] = []


@pytest.fixture(params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest) -> Any:
    """Every test asks through the official client, and as the judge of an assertion does."""
    _way.append(request.param)
    yield
    _way.pop()


def settings(**config: Any) -> ModelSettings:
    return parse_model_settings({"model": "m", "retries": 2, **config})


def ask(
    model: ScriptedModel, request: ModelRequest = HELLO, seconds: float = 20, kind: Any = "compatible", **config: Any
) -> ModelReply:
    async def once(service: Model) -> ModelReply:
        return await service.complete(request, Deadline.after(seconds))

    reply: ModelReply = using(model, once, kind=kind, **config)
    return reply


def using(
    model: ScriptedModel, work: Callable[[Model], Awaitable[Any]], kind: Any = "compatible", **config: Any
) -> Any:
    base = model.url.removesuffix("/v1") if kind == "azure" else model.url
    endpoint = ModelEndpoint(kind, base, KEY, "2024-10-21" if kind == "azure" else None)

    async def go() -> Any:
        async with WAYS[_way[-1]](endpoint, settings(**config)) as service:
            return await work(service)

    return asyncio.run(go())


def failure(*script: Step, seconds: float = 20, **config: Any) -> tuple[ModelFailure, ScriptedModel]:
    with scripted_model(*script) as model, pytest.raises(ModelFailure) as raised:
        ask(model, seconds=seconds, **config)
    return raised.value, model


def test_a_reply_carries_text_usage_and_cost() -> None:
    with scripted_model(Say("hi", prompt_tokens=1000, completion_tokens=500)) as model:
        reply = ask(model, prices={"m": {"input": 2, "output": 8}}, temperature=0.2, maxTokens=50, seed=3)
    assert (reply.text, reply.finish_reason, reply.calls) == ("hi", "stop", ())
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.requests) == (1000, 500, 1)
    assert reply.usage.cost == pytest.approx(0.006)
    body = model.asked[0].body
    assert (body["temperature"], body["max_completion_tokens"], body["seed"]) == (0.2, 50, 3)


def test_without_a_price_the_cost_is_unknown_and_not_nothing() -> None:
    with scripted_model(Say("hi")) as model:
        assert ask(model, prices={"another": {"input": 2, "output": 8}}).usage.cost is None


def test_what_the_deployment_does_not_take_is_never_sent() -> None:
    request = replace(HELLO, tools=[TOOL], parallel_tool_calls=False, response_schema={"type": "object"})
    nothing = {"temperature": False, "parallelToolCalls": False, "structuredOutput": False, "tokenLimit": "none"}
    with scripted_model(Say("hi")) as model:
        ask(model, request, temperature=0, maxTokens=5, capabilities=nothing)
    assert set(model.asked[0].body) == {"model", "messages", "tools"}


def test_azure_is_asked_at_the_deployment_with_its_own_key_header() -> None:
    with scripted_model(Say("hi")) as model:
        assert ask(model, kind="azure").text == "hi"
    assert model.asked[0].path == "/openai/deployments/m/chat/completions?api-version=2024-10-21"
    assert model.asked[0].headers["api-key"] == KEY


def test_azure_is_asked_for_responses_without_the_deployment_in_the_address() -> None:
    with scripted_model(Say("hi")) as model:
        assert ask(model, kind="azure", api="responses").text == "hi"
    assert model.asked[0].path == "/openai/responses?api-version=2024-10-21"
    assert model.asked[0].body["model"] == "m"


def test_openai_itself_is_asked_with_a_bearer_token() -> None:
    with scripted_model(Say("hi")) as model:
        assert ask(model, kind="openai").text == "hi"
    assert model.asked[0].path == "/v1/chat/completions"
    assert model.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_refused_parameter_is_left_out_once_recorded_and_not_sent_again() -> None:
    def refuse(parameter: str) -> Say:
        error = {"code": "unsupported_parameter", "param": parameter, "message": f"{parameter} is not supported"}
        return Say(status=400, error=error)

    async def twice(service: Model) -> list[ModelReply]:
        return [await service.complete(HELLO, Deadline.after(20)) for _ in range(2)]

    with scripted_model(refuse("temperature"), refuse("max_completion_tokens"), Say("a"), Say("b")) as model:
        first, second = using(model, twice, temperature=0, maxTokens=9)
    assert [sorted(asked.body) for asked in model.asked] == [
        ["max_completion_tokens", "messages", "model", "temperature"],
        ["max_completion_tokens", "messages", "model"],
        ["max_tokens", "messages", "model"],
        ["max_tokens", "messages", "model"],
    ]
    assert [note.split(":")[1] for note in first.notes] == [
        " temperature was refused and left out; say so under `capabilities` in the configuration",
        " max_completion_tokens was refused and left out; say so under `capabilities` in the configuration",
    ]
    assert second.notes == ()


def test_a_parameter_that_can_not_be_left_out_is_a_failure_with_the_services_words() -> None:
    refusal = Say(status=400, error={"code": "unsupported_parameter", "param": "messages", "message": "no messages"})
    problem, model = failure(refusal)
    assert (problem.kind, problem.problem) == ("bad_request", "HTTP 400 unsupported_parameter: no messages")
    assert len(model.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    with scripted_model(Say(status=status, headers={"Retry-After": "0"}), Say("hi")) as model:
        reply = ask(model)
    assert reply.text == "hi"
    assert reply.notes[0].startswith(f"model m: 1 retries (HTTP {status}")


def test_a_dropped_connection_and_an_answer_that_is_not_json_are_tried_again() -> None:
    with scripted_model(Say(drop=True), Say(raw=b"<html>"), Say("hi")) as model:
        assert ask(model).text == "hi"
    assert len(model.asked) == 3


def test_retries_end_after_their_number() -> None:
    problem, model = failure(*[Say(status=503, headers={"Retry-After": "0"})] * 5)
    assert (problem.kind, problem.attempts, len(model.asked)) == ("server", 3, 3)
    assert problem.problem == "given up after 3 attempts: HTTP 503 no"


def test_a_wait_that_the_deadline_does_not_allow_is_not_begun() -> None:
    problem, model = failure(Say(status=429, headers={"Retry-After": "60"}), seconds=5)
    assert problem.kind == "rate_limit"
    assert problem.problem.startswith("the next attempt is 6")
    assert len(model.asked) == 1


def test_an_exhausted_quota_is_not_tried_again() -> None:
    problem, model = failure(Say(status=429, error={"code": "insufficient_quota", "message": "pay first"}))
    assert problem.problem == "HTTP 429 insufficient_quota: pay first"
    assert len(model.asked) == 1


def test_a_slow_answer_ends_at_the_read_time_out_and_at_the_deadline() -> None:
    assert failure(Say("late", delay_s=1), readTimeoutSeconds=0.1, retries=0)[0].kind == "timeout"
    assert failure(Say("late", delay_s=1), seconds=0.2)[0].kind == "deadline"


def test_a_service_that_is_not_there_is_named_without_its_address() -> None:
    with scripted_model() as model:
        pass
    with pytest.raises(ModelFailure) as raised:
        ask(model, retries=0)
    assert raised.value.kind == "connection"
    named = {"official": "ConnectError", "plain": "ConnectionRefusedError"}[_way[-1]]
    assert raised.value.problem == f"given up after 1 attempts: the connection failed ({named})"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "invalid_api_key", "authentication"),
        (403, "", "authentication"),
        (404, "DeploymentNotFound", "not_found"),
        (400, "content_filter", "content_filter"),
        (400, "context_length_exceeded", "bad_request"),
    ],
)
def test_a_refusal_has_a_kind_and_is_not_tried_again(status: int, code: str, kind: str) -> None:
    problem, model = failure(Say(status=status, error={"code": code, "message": "no"}))
    assert problem.kind == kind
    assert len(model.asked) == 1


def test_neither_key_nor_address_stands_in_an_error() -> None:
    with scripted_model() as model:
        model.script = [Say(status=401, error={"message": f"Wrong key {KEY} at {model.url}"})]
        with pytest.raises(ModelFailure) as raised:
            ask(model)
    assert raised.value.problem == "HTTP 401: Wrong key … at …"
    seen: BaseException | None = raised.value
    while seen is not None:
        assert KEY not in repr(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"choices": []}', "the answer has no choices[0].message: its keys are choices"),
        (b'{"choices": [{"message": {"tool_calls": {}}}]}', None),
        (b'{"choices": [{"message": {"tool_calls": "x"}}]}', "tool_calls is a str instead of a list"),
        (b'{"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}', "tool_calls[0] has no function name"),
        (b"[]", "given up after 3 attempts: the answer is a JSON list instead of an object"),
    ],
)
def test_a_reply_of_the_wrong_shape_is_asked_for_again_and_then_a_failure(body: bytes, problem: str | None) -> None:
    if problem is None:
        with scripted_model(Say(raw=body)) as model:
            assert ask(model).calls == ()
        return
    found, model = failure(*[Say(raw=body)] * 3)
    assert (found.kind, found.problem) == ("malformed_reply", problem)
    assert len(model.asked) == 3


def test_calls_without_usable_ids_get_ids_of_their_own() -> None:
    calls = [{"function": {"name": "add", "arguments": {"a": 1}}}] * 2 + [
        {"id": "x", "function": {"name": "add", "arguments": None}}
    ] * 2
    body = {"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    with scripted_model(Say(raw=json.dumps(body).encode())) as model:
        reply = ask(model)
    assert len({call.id for call in reply.calls}) == 4
    assert [call.arguments_raw for call in reply.calls] == ['{"a": 1}', '{"a": 1}', "", ""]


def test_the_responses_api_speaks_the_same_protocol() -> None:
    async def converse(service: Model) -> list[ModelReply]:
        first = await service.complete(replace(HELLO, tools=[TOOL]), Deadline.after(20))
        result = {"role": "tool", "tool_call_id": first.calls[0].id, "content": "5"}
        history = [*HELLO.messages, first.message, result]
        return [first, await service.complete(ModelRequest(messages=history), Deadline.after(20))]

    with scripted_model(Say("let me see", calls=[("add", {"a": 1})]), Say("five")) as model:
        first, second = using(model, converse, api="responses", maxTokens=99, prices={"*": {"input": 1, "output": 1}})
    assert (first.text, first.calls[0].name, first.finish_reason) == ("let me see", "add", "tool_calls")
    assert (second.text, second.finish_reason) == ("five", "stop")
    assert first.usage.prompt_tokens == 100
    assert first.usage.cost is not None
    asked = model.asked[0]
    assert asked.path == "/v1/responses"
    assert asked.body["store"] is False
    assert asked.body["max_output_tokens"] == 99
    assert asked.body["tools"][0] == {
        "type": "function",
        "strict": False,
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {}},
    }
    kinds = [item.get("type") or item["role"] for item in model.asked[1].body["input"]]
    assert kinds == ["user", "reasoning", "message", "function_call", "function_call_output"]


@pytest.mark.parametrize(
    ("reason", "expected"), [("content_filter", "content_filter"), ("max_output_tokens", "length")]
)
def test_a_cut_answer_of_the_responses_api_keeps_its_reason(reason: str, expected: str) -> None:
    with scripted_model(Say("half", finish_reason=reason)) as model:
        assert ask(model, api="responses").finish_reason == expected


def test_retry_after_is_read_in_all_its_forms() -> None:
    now = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    date = email.utils.format_datetime(now + dt.timedelta(seconds=30), usegmt=True)
    assert asked_wait({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert asked_wait({"retry-after": "9"}) == 9
    assert asked_wait({"retry-after": date}, now) == 30
    assert asked_wait({"retry-after": "-3"}) == 0
    for unreadable in ("soon", "nan", "inf", ""):
        assert asked_wait({"retry-after": unreadable}) is None


def test_the_back_off_grows_to_its_limit_and_never_undercuts_what_was_asked() -> None:
    assert all(0.25 <= back_off(1, None) <= 0.5 for _ in range(50))
    assert all(4 <= back_off(9, None) <= 8 for _ in range(50))
    assert all(2 <= back_off(1, 2.0) <= 2.25 for _ in range(50))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": ""}, "user.model: expected the name of a model or deployment, found ''"),
        ({"model": "m", "temperature": True}, "user.temperature: expected a number of at least 0 and at most 2"),
        ({"model": "m", "maxTokens": 1.5}, "user.maxTokens: expected a whole number of at least 1, found 1.5"),
        ({"model": "m", "tempature": 1}, "user.tempature: unknown key; allowed: model, temperature"),
        ({"model": "m", "capabilities": {"tokenLimit": "max"}}, "user.capabilities.tokenLimit: expected one of"),
        ({"model": "m", "prices": {"m": {"input": -1, "output": 1}}}, "user.prices.m.input: expected a price from 0"),
        ({"model": "m", "headers": {"x": 1}}, "user.headers: expected a mapping of names to texts"),
    ],
)
def test_wrong_model_settings_name_the_key_and_what_is_allowed(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelSettingsError, match="user"):
        parse_model_settings(config, "user.")
    with pytest.raises(ModelSettingsError) as raised:
        parse_model_settings(config, "user.")
    assert str(raised.value).startswith(message)
