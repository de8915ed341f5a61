"""Faults on request: each kind, their grammar, and that a run can be repeated fault by fault."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from openai import InternalServerError, OpenAI, RateLimitError

from local.model.app import build_app
from local.model.faults import Attempts, Dice, Faults, parse_faults
from local.model.protocol import Draft
from tests.local.model.serving import KEY, http, served_model

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]


def send(url: str, faults: str, seed: int = 0, attempt: int | None = None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {KEY}", "X-Standin-Faults": faults}
    if attempt is not None:
        headers["X-Standin-Attempt"] = str(attempt)
    body = {"model": "spoke-agent", "messages": HELLO, "seed": seed}
    return http().post(f"{url}/chat/completions", json=body, headers=headers)


def test_a_rate_limit_says_when_to_come_back(model_url: str) -> None:
    client = OpenAI(base_url=model_url, api_key=KEY, max_retries=0, default_headers={"X-Standin-Faults": "rate_429=1"})
    with pytest.raises(RateLimitError) as caught:
        client.chat.completions.create(model="judge", messages=HELLO)
    assert caught.value.response.headers["retry-after"] == "1"
    assert caught.value.code == "rate_limit_exceeded"


def test_a_server_error_has_an_error_body(model_url: str) -> None:
    client = OpenAI(base_url=model_url, api_key=KEY, max_retries=0, default_headers={"X-Standin-Faults": "rate_500=1"})
    with pytest.raises(InternalServerError) as caught:
        client.chat.completions.create(model="judge", messages=HELLO)
    assert caught.value.code == "internal_error"


def test_a_cut_answer_stops_half_way_and_says_so(model_url: str) -> None:
    whole = send(model_url, "").json()["choices"][0]
    cut = send(model_url, "cut=1").json()["choices"][0]
    assert cut["finish_reason"] == "length"
    assert whole["message"]["content"].startswith(cut["message"]["content"])
    assert len(cut["message"]["content"]) < len(whole["message"]["content"])


def test_cut_arguments_are_no_json() -> None:
    ready = Draft("", (("get_spoke", '{"name": "spoke-a-dev"}'),), "tool_calls")
    cut = Dice(Faults(cut=1.0), "digest", 1).damage(ready)
    assert cut.finish_reason == "length"
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(cut.calls[0][1])


def test_malformed_arguments_are_never_what_was_meant() -> None:
    arguments = '{"name": "spoke-a-dev"}'
    ready = Draft("", (("list_spokes", "{}"), ("get_spoke", arguments)), "tool_calls")
    seen: set[str] = set()
    for attempt in range(60):
        damaged = Dice(Faults(malformed=1.0), "digest", attempt).damage(ready)
        assert damaged.calls != ready.calls
        assert damaged.finish_reason == "tool_calls"
        seen.update(raw for _, raw in damaged.calls)
    assert {"", "null", "[]"} <= seen, "every way of being malformed comes up"


def test_malformed_leaves_an_answer_in_words_alone() -> None:
    ready = Draft("Hello", (), "stop")
    assert Dice(Faults(malformed=1.0), "digest", 1).damage(ready) == ready


def test_latency_is_added_and_changes_nothing_else(model_url: str) -> None:
    late, prompt = send(model_url, "latency=5"), send(model_url, "")
    assert late.content == prompt.content


def test_the_same_seed_and_attempt_give_the_same_fault(model_url: str) -> None:
    rates = "rate_429=0.3,rate_500=0.3;seed=7"
    first = [send(model_url, rates, seed=n, attempt=1).status_code for n in range(40)]
    again = [send(model_url, rates, seed=n, attempt=1).status_code for n in range(40)]
    assert first == again
    assert {200, 429, 500} <= set(first)
    other = [send(model_url, rates.replace("7", "8"), seed=n, attempt=1).status_code for n in range(40)]
    assert other != first


def test_a_retry_of_the_same_request_gets_a_new_chance() -> None:
    def run() -> list[int]:
        with served_model() as url:
            return [send(url, "rate_500=0.5;seed=3").status_code for _ in range(12)]

    first, second = run(), run()
    assert first == second, "a new server counts attempts from the start"
    assert {200, 500} == set(first)


def test_an_official_client_gets_through_with_retries(model_url: str) -> None:
    headers = {"X-Standin-Faults": "rate_500=0.5;seed=2"}
    client = OpenAI(base_url=model_url, api_key=KEY, max_retries=10, default_headers=headers)
    for number in range(5):
        answer = client.chat.completions.create(model="spoke-agent", messages=HELLO, seed=number)
        assert answer.choices[0].message.content


def test_rates_come_out_about_as_asked() -> None:
    hits = sum(Dice(Faults(seed=1), f"request {n}", 1).share("rate_429") < 0.2 for n in range(5000))
    assert 900 < hits < 1100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed=1", "unknown fault 'speed'; allowed: latency"),
        ("cut=often", "needs a number"),
        ("cut=1.5", "out of range"),
        ("latency=-1", "out of range"),
    ],
)
def test_a_wrong_specification_says_what_is_allowed(text: str, words: str, model_url: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_faults(text)
    response = send(model_url, text)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


def test_the_grammar_takes_commas_and_semicolons_and_spaces() -> None:
    assert parse_faults(" latency=50, rate_429=0.2 ;seed=7") == Faults(latency=50, rate_429=0.2, seed=7)
    assert parse_faults("") == Faults()


def test_an_attempt_that_is_no_number_is_refused(model_url: str) -> None:
    headers = {"Authorization": f"Bearer {KEY}", "X-Standin-Attempt": "first"}
    body = {"model": "judge", "messages": HELLO}
    assert http().post(f"{model_url}/chat/completions", json=body, headers=headers).status_code == 400


def test_the_environment_asks_for_faults_and_a_header_overrules_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_MODEL_FAULTS", "rate_500=1")
    with served_model() as url:
        body = {"model": "judge", "messages": HELLO}
        plain = {"Authorization": f"Bearer {KEY}"}
        assert http().post(f"{url}/chat/completions", json=body, headers=plain).status_code == 500
        assert send(url, "seed=1").status_code == 200


def test_a_wrong_environment_stops_the_server_from_being_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_MODEL_FAULTS", "rate_500=often")
    with pytest.raises(ValueError, match="LOCAL_MODEL_FAULTS: fault rate_500 needs a number"):
        build_app("key")


def test_attempts_are_counted_for_each_request_and_memory_stays_flat() -> None:
    attempts = Attempts()
    assert [attempts.next("a"), attempts.next("b"), attempts.next("a")] == [1, 1, 2]
    for number in range(10_001):
        attempts.next(f"request {number}")
    assert attempts.next("a") == 1, "the oldest are forgotten"
