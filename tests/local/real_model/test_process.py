"""`python -m local real-model` with a stand-in for the engine: what it answers, and how it ends."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from endpoints.settings import CHECKOUT
from tests.support.real_model import StandIn, alive, stand_in

MODEL = "small"
TOOLS = [{"type": "function", "function": {"name": "get_spoke", "parameters": {"type": "object"}}}]


class Served:
    """The running process, as a client sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        answer = json.loads(process.stdout.readline())
        self.url: str = answer["url"]
        self.key: str = answer["key"]

    def ask(self, words: str, *, key: str | None = None, **more: Any) -> tuple[int, dict[str, Any]]:
        body = {"model": MODEL, "messages": [{"role": "user", "content": words}], **more}
        return self.post(json.dumps(body).encode(), key)

    def post(self, body: bytes, key: str | None = None) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"}
        request = urllib.request.Request(f"{self.url}/chat/completions", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


def start(engine: StandIn, lease: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "local", "real-model", "--python", str(engine.python), "--name", MODEL]
    command += ["--model", str(engine.home / "model.gguf"), "--context", "4096", "--most-tokens", "500"]
    command += ["--threads", "1", "--lease-pid", str(lease or os.getpid())]
    return subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    """What it wrote to stderr, after it has ended by itself."""
    _, errors = process.communicate(timeout=60)
    return errors


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def engine(tmp_path: Path) -> StandIn:
    return stand_in(tmp_path)


@pytest.fixture
def served(engine: StandIn) -> Iterator[Served]:
    process = start(engine)
    try:
        yield Served(process)
    finally:
        process.terminate()
        ended(process)


def test_a_call_that_was_written_as_text_is_answered_as_a_call_and_says_so(served: Served) -> None:
    status, answer = served.ask("Copy a spoke.", tools=TOOLS)
    (choice,) = answer["choices"]
    assert (status, answer["calls_read_from_text"], choice["finish_reason"]) == (200, 1, "tool_calls")
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "from_text_1_0",
                "type": "function",
                "function": {"name": "get_spoke", "arguments": '{"name": "spoke-webshop-dev"}'},
            }
        ],
    }


def test_a_tool_that_was_not_offered_is_not_called(served: Served) -> None:
    other = [{"type": "function", "function": {"name": "search_docs", "parameters": {"type": "object"}}}]
    _, answer = served.ask("Copy a spoke.", tools=other)
    assert "calls_read_from_text" not in answer
    assert answer["choices"][0]["message"]["content"].startswith("```json")
    _, answer = served.ask("Copy a spoke.", tools=TOOLS, tool_choice="none")
    assert "calls_read_from_text" not in answer


def test_answers_have_a_bound_that_a_request_can_only_lower(served: Served, engine: StandIn) -> None:
    served.ask("hello")
    served.ask("hello", max_completion_tokens=9)
    served.ask("hello", max_tokens=100_000)
    assert [entry["max_tokens"] for entry in engine.noted()[1:]] == [500, 9, 500]


def test_wrong_requests_are_refused_in_words(served: Served, engine: StandIn) -> None:
    assert served.ask("hello", key="wrong")[0] == 401
    assert served.ask("hello", key="")[0] == 401
    status, answer = served.ask("hello", model="judge")
    assert (status, answer["error"]["code"]) == (404, "model_not_found")
    assert answer["error"]["message"] == "There is no model 'judge' here, only small."
    assert served.ask("hello", stream=True)[0] == 400
    assert served.post(b"[1]")[0] == 400
    assert served.post(b"\xff{")[0] == 400
    assert len(engine.noted()) == 1, "nothing of it reached the engine"


def test_a_conversation_that_no_longer_fits_has_the_usual_code(served: Served) -> None:
    status, answer = served.ask("This is too long.")
    assert (status, answer["error"]["code"]) == (400, "context_length_exceeded")


def test_an_answer_that_nobody_waits_for_is_given_up(served: Served, engine: StandIn) -> None:
    engine.behave("hangs")
    address = urlsplit(served.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "hello"}]})
    connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {served.key}"})
    wait_until(lambda: len(engine.noted()) == 2)
    connection.close()
    wait_until(lambda: engine.noted()[-1] == {"gone": True})
    engine.behave("answers")
    assert served.ask("hello")[0] == 200


def test_it_ends_when_nobody_needs_it_any_more(engine: StandIn) -> None:
    with subprocess.Popen(["sleep", "600"]) as needing:
        process = start(engine, needing.pid)
        Served(process)
        needing.kill()
    assert ended(process) == ""
    assert process.returncode == 0
    wait_until(lambda: not any(map(alive, engine.engine_pids())))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_engine_is_left_however_it_is_ended(engine: StandIn, number: signal.Signals) -> None:
    process = start(engine)
    Served(process)
    process.send_signal(number)
    ended(process)
    assert len(engine.engine_pids()) == 1
    wait_until(lambda: not any(map(alive, engine.engine_pids())))


def test_it_ends_when_the_engine_dies(engine: StandIn) -> None:
    process = start(engine)
    served = Served(process)
    engine.behave("dies")
    with contextlib.suppress(OSError, http.client.HTTPException):
        assert served.ask("hello")[0] == 502
    ended(process)
    assert process.returncode == 0


def test_an_engine_that_does_not_start_is_told_in_its_own_words(engine: StandIn) -> None:
    engine.behave("refuses")
    process = start(engine)
    errors = ended(process)
    assert process.returncode == 1
    problem = f"RuntimeError: failed to load {engine.home / 'model.gguf'}"
    assert errors.splitlines()[-1] == f"python -m local: the engine did not start: {problem}"


def test_a_missing_engine_is_told(engine: StandIn) -> None:
    (engine.packages / "xllamacpp.py").unlink()
    process = start(engine)
    assert "the engine did not start: ModuleNotFoundError: No module named 'xllamacpp'" in ended(process)
    assert process.returncode == 1
