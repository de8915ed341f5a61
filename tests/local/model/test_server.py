"""The server as the official clients see it: paths, keys, errors, usage, and the same bytes for the same request."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from openai import (
    APIStatusError,
    AuthenticationError,
    AzureOpenAI,
    BadRequestError,
    NotFoundError,
    OpenAI,
)
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from local.model.app import build_app
from local.model.problems import RequestProblem
from local.model.protocol import parse_request
from tests.local.model.serving import KEY, http
from tests.support.promptfoo import CHECKOUT

MODELS = ["spoke-agent", "spoke-agent-careless", "developer", "judge"]
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
TOOL: Any = {
    "type": "function",
    "function": {"name": "list_spokes", "description": "", "parameters": {"type": "object", "properties": {}}},
}


def post(url: str, body: Any, **headers: str) -> httpx2.Response:
    sent = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **headers}
    content = body if isinstance(body, str) else json.dumps(body)
    return http().post(f"{url}/chat/completions", content=content, headers=sent)


def problem(response: httpx2.Response) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"message", "type", "code", "param"}
    return error


def test_the_models_are_listed(client: OpenAI) -> None:
    listed = [model.id for model in client.models.list()]
    assert set(MODELS) <= set(listed)
    assert client.models.retrieve("judge").owned_by == "local"


def test_an_answer_has_everything_that_the_official_client_reads(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="spoke-agent", messages=HELLO)
    assert answer.id.startswith("chatcmpl-")
    assert answer.object == "chat.completion"
    assert answer.model == "spoke-agent"
    assert answer.system_fingerprint
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.content
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.completion_tokens == -(-len(answer.choices[0].message.content) // 4)


def test_a_tool_call_has_an_id_and_json_arguments(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="spoke-agent",
        messages=[{"role": "user", "content": "Make a copy of our webshop."}],
        tools=[TOOL],
    )
    [call] = answer.choices[0].message.tool_calls or []
    assert answer.choices[0].finish_reason == "tool_calls"
    assert call.type == "function"
    assert call.id.startswith("call_")
    assert (call.function.name, json.loads(call.function.arguments)) == ("list_spokes", {})


def test_the_same_request_gives_the_same_bytes_and_another_one_another_id(model_url: str) -> None:
    body = {"model": "spoke-agent", "messages": HELLO, "seed": 1}
    first, second = post(model_url, body), post(model_url, body)
    assert first.content == second.content
    other = post(model_url, {**body, "seed": 2})
    assert other.json()["id"] != first.json()["id"]


def test_the_order_of_keys_in_a_request_does_not_matter(model_url: str) -> None:
    first = post(model_url, {"model": "judge", "messages": HELLO})
    second = post(model_url, {"messages": HELLO, "model": "judge"})
    assert first.content == second.content


def test_a_wrong_key_is_refused_without_being_repeated(model_url: str) -> None:
    with pytest.raises(AuthenticationError) as caught:
        OpenAI(base_url=model_url, api_key="wrong-key", max_retries=0).models.list()
    assert caught.value.code == "invalid_api_key"
    assert "wrong-key" not in str(caught.value)


def test_no_key_is_refused(model_url: str) -> None:
    response = http().post(f"{model_url}/chat/completions", json={"model": "judge", "messages": HELLO})
    assert response.status_code == 401


def test_an_unknown_model_is_not_found_and_the_known_ones_are_named(client: OpenAI) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.chat.completions.create(model="gpt-9", messages=HELLO)
    assert caught.value.code == "model_not_found"
    for name in MODELS:
        assert name in caught.value.message


def test_azure_clients_are_served_under_their_own_path(model_url: str) -> None:
    endpoint = model_url.removesuffix("/v1")
    azure = AzureOpenAI(azure_endpoint=endpoint, api_key=KEY, api_version="2024-10-21", max_retries=0)
    answer = azure.chat.completions.create(model="spoke-agent", messages=HELLO)
    assert answer.model == "spoke-agent"
    with pytest.raises(NotFoundError) as caught:
        azure.chat.completions.create(model="nobody", messages=HELLO)
    assert caught.value.code == "DeploymentNotFound"
    with pytest.raises(AuthenticationError):
        AzureOpenAI(azure_endpoint=endpoint, api_key="x", api_version="2024-10-21").chat.completions.create(
            model="judge", messages=HELLO
        )


def test_an_azure_request_without_version_is_told_what_is_missing(model_url: str) -> None:
    url = f"{model_url.removesuffix('/v1')}/openai/deployments/judge/chat/completions"
    response = http().post(url, json={"messages": HELLO}, headers={"api-key": KEY})
    assert response.status_code == 400
    assert problem(response)["param"] == "api-version"


def test_streaming_is_refused_in_plain_words(client: OpenAI) -> None:
    with pytest.raises(BadRequestError) as caught:
        client.chat.completions.create(model="spoke-agent", messages=HELLO, stream=True)
    assert "does not stream" in caught.value.message
    assert caught.value.param == "stream"


@pytest.mark.parametrize(
    ("change", "param", "words"),
    [
        ({"messages": []}, "messages", "at least one"),
        ({"messages": "Hello"}, "messages", "list"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role", "allowed"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content", "string"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]", "text part"),
        (
            {"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]},
            "messages[0].tool_call_id",
            "preceding",
        ),
        ({"model": ""}, "model", "must provide"),
        ({"n": 2}, "n", "Only n=1"),
        ({"temprature": 0}, "temprature", "Unknown parameter"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name", "letters"),
        ({"tools": {}}, "tools", "list"),
        ({"tool_choice": "always"}, "tool_choice", "'auto'"),
        ({"tool_choice": "required"}, "tool_choice", "needs tools"),
        ({"max_tokens": 0}, "max_tokens", "at least 1"),
        ({"response_format": {"type": "xml"}}, "response_format", "json_schema"),
        ({"stop": [1]}, "stop", "strings"),
    ],
)
def test_a_bad_request_is_told_which_parameter_and_what_is_allowed(
    change: Mapping[str, Any], param: str, words: str, model_url: str
) -> None:
    response = post(model_url, {"model": "judge", "messages": HELLO, **change})
    assert response.status_code == 400
    error = problem(response)
    assert error["param"] == param
    assert words in error["message"]


def test_a_body_that_is_no_json_or_no_object_is_refused(model_url: str) -> None:
    assert post(model_url, "{").status_code == 400
    assert post(model_url, "[]").status_code == 400


def test_a_tool_call_without_its_answer_is_refused(model_url: str) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "list_spokes", "arguments": "{}"}}
    asked = [*HELLO, {"role": "assistant", "content": None, "tool_calls": [call]}]
    late = [*asked, {"role": "user", "content": "And?"}]
    for messages in (asked, late):
        response = post(model_url, {"model": "spoke-agent", "messages": messages})
        assert response.status_code == 400
        assert "call_1" in problem(response)["message"]


def test_an_unknown_path_and_a_wrong_method_have_error_bodies(model_url: str) -> None:
    assert problem(http().get(f"{model_url}/nothing"))["message"]
    response = http().get(f"{model_url}/chat/completions")
    assert response.status_code == 405
    assert problem(response)["message"]


def test_an_answer_stops_at_the_token_limit_and_says_so(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="spoke-agent", messages=HELLO, max_tokens=5)
    assert answer.choices[0].finish_reason == "length"
    assert len(answer.choices[0].message.content or "") == 20


def test_an_answer_stops_before_a_stop_word(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="spoke-agent", messages=HELLO, stop=["pull request"])
    assert answer.choices[0].message.content == "I change configurations of spokes by "


def test_tool_choice_none_and_no_parallel_calls_are_kept_to(client: OpenAI) -> None:
    tools: Any = [TOOL, {"type": "function", "function": {"name": "get_spoke"}}]
    tools.append({"type": "function", "function": {"name": "get_spoke_schema"}})
    wish: Any = [{"role": "user", "content": "Copy spoke-a-dev to spoke-a-test, 10.0.0.0/24."}]
    both = client.chat.completions.create(model="spoke-agent", messages=wish, tools=tools)
    assert len(both.choices[0].message.tool_calls or []) == 2
    one = client.chat.completions.create(model="spoke-agent", messages=wish, tools=tools, parallel_tool_calls=False)
    assert len(one.choices[0].message.tool_calls or []) == 1
    none = client.chat.completions.create(model="spoke-agent", messages=wish, tools=tools, tool_choice="none")
    assert not none.choices[0].message.tool_calls


def test_parameters_of_the_official_client_are_accepted_unless_they_can_not_be_served() -> None:
    refused = {"audio", "function_call", "functions", "moderation", "prediction", "web_search_options"}
    known = set(CompletionCreateParamsBase.__annotations__) - refused
    body: dict[str, Any] = dict.fromkeys(known)
    parsed = parse_request({**body, "model": "judge", "messages": HELLO})
    assert parsed.model == "judge"
    with pytest.raises(RequestProblem):
        parse_request({"model": "judge", "messages": HELLO, "functions": []})


def test_a_server_without_key_is_not_built() -> None:
    with pytest.raises(ValueError, match="needs a key"):
        build_app("")


def test_a_stand_in_that_fails_answers_500_with_an_error_body(model_url: str) -> None:
    # A schema may nest deeper than any reader can follow; the answer is an error body all the same.
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"type": "array", "items": deep}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": deep}}
    order = json.dumps({"task": "rubric", "criteria": ["a"], "answer": "b"})
    messages = [{"role": "user", "content": order}]
    response = post(model_url, {"model": "judge", "messages": messages, "response_format": wanted})
    assert response.status_code in (400, 500)
    assert problem(response)["message"]


def test_the_server_loads_without_the_validation_library() -> None:
    # It is loaded when a structured answer is asked for, so that the stack starts quickly.
    script = "import sys, local.model.app; print('jsonschema' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_official_errors_carry_status_and_type(client: OpenAI) -> None:
    with pytest.raises(APIStatusError) as caught:
        client.chat.completions.create(model="judge", messages=[])
    assert caught.value.status_code == 400
    assert caught.value.type == "invalid_request_error"
