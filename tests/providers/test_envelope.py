"""The envelope keeps its promise whatever happens inside: a result, always with a record."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from episodes.record import Episode, RoleUsage, StopReason
from providers import envelope
from providers.agent_protocol import ConfigurationProblem, EpisodeStopped
from providers.envelope import ProviderCall, run_episode


def context(**more: Any) -> dict[str, Any]:
    return {
        "vars": {"request": "a spoke", "__evalId": "eval-1", "__evalStepId": "test-3-prompt-0-repeat-1"},
        "test": {"description": "C07 copy a spoke", "metadata": {"id": "C07"}},
        **more,
    }


def run(body: Any, config: dict[str, Any] | None = None, **more: Any) -> tuple[dict[str, Any], Episode]:
    result = run_episode(body, "hello", {"config": config or {}}, context(**more))
    json.dumps(result, allow_nan=False)
    return result, Episode.from_metadata(result["metadata"])


async def _talk(call: ProviderCall) -> str:
    call.recorder.user_message(call.prompt)
    call.recorder.message({"role": "assistant", "content": "good day"})
    call.recorder.model_call("agent", RoleUsage(10, 5, 1, 0.25), 12.0)
    call.recorder.stop(StopReason.USER_STOP)
    return "good day"


def test_a_finished_episode_has_output_record_tokens_and_cost_but_no_error(tmp_path: Path) -> None:
    result, episode = run(_talk, {"basePath": str(tmp_path / "spoke-qa")})
    assert result["output"] == "good day"
    assert "error" not in result
    assert result["tokenUsage"] == {"total": 15, "prompt": 10, "completion": 5, "numRequests": 1}
    assert result["cost"] == 0.25
    assert (episode.case_id, episode.step_id, episode.eval_id) == ("C07", "test-3-prompt-0-repeat-1", "eval-1")
    assert episode.suite == "spoke-qa"
    assert [message["turn"] for message in episode.messages] == [1, 1]


def test_variables_of_promptfoo_itself_never_reach_the_episode() -> None:
    seen: dict[str, Any] = {}

    async def body(call: ProviderCall) -> str:
        seen.update(call.variables)
        return await _talk(call)

    run(body)
    assert seen == {"request": "a spoke"}


def test_a_crash_is_an_error_that_names_type_and_place_and_keeps_the_record() -> None:
    async def body(call: ProviderCall) -> str:
        call.recorder.user_message("hello")
        raise KeyError("no such thing")

    result, episode = run(body)
    assert result["error"].startswith(
        "provider_error: the provider crashed: KeyError: 'no such thing' at test_envelope"
    )
    assert episode.messages[0]["content"] == "hello"
    assert result["output"] == "Developer: hello"


@pytest.mark.parametrize(
    ("leaving", "told"),
    [
        (SystemExit(3), "the agent asked the process to exit with 3"),
        (KeyboardInterrupt(), "the agent asked the process to exit (KeyboardInterrupt)"),
        (BaseExceptionGroup("tasks", [asyncio.CancelledError()]), "the agent ended with BaseExceptionGroup: tasks"),
    ],
)
def test_an_agent_that_exits_the_process_ends_only_its_own_episode(leaving: BaseException, told: str) -> None:
    async def leave(_: ProviderCall) -> str:
        raise leaving

    result, _ = run(leave, {"deadlineSeconds": 5})
    assert f"the provider crashed: RuntimeError: {told}" in result["error"]
    assert "error" not in run(_talk)[0]


def test_an_episode_that_never_ends_is_cancelled_at_its_deadline_and_keeps_its_messages() -> None:
    cancelled: list[bool] = []

    async def body(call: ProviderCall) -> str:
        call.recorder.user_message("hello")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return ""

    result, episode = run(body, {"deadlineSeconds": 0.2})
    assert cancelled == [True]
    assert episode.stop_reason is StopReason.DEADLINE
    assert result["error"] == "deadline: the episode took longer than its 0.2 s (deadlineSeconds)"
    assert episode.messages[0]["content"] == "hello"


def test_an_episode_that_blocks_its_thread_is_given_up_and_the_next_one_runs() -> None:
    async def block(_: ProviderCall) -> str:
        time.sleep(1.5)
        return ""

    result, episode = run(block, {"deadlineSeconds": 0.2})
    assert episode.stop_reason is StopReason.DEADLINE
    assert "did not stop" in result["error"]
    assert "error" not in run(_talk)[0]
    # The thread that was given up ends by itself when its work does.
    for _ in range(400):
        if sum(thread.name == "episodes" for thread in threading.enumerate()) == 1:
            return
        time.sleep(0.02)
    pytest.fail("the loop that was given up is still there")


@pytest.mark.parametrize("reason", [StopReason.MAX_STEPS, StopReason.BUDGET, StopReason.CONTENT_FILTER])
def test_a_limit_that_the_agent_ran_into_is_no_error(reason: StopReason) -> None:
    async def body(call: ProviderCall) -> None:
        call.recorder.stop(reason)

    result, episode = run(body)
    assert "error" not in result
    assert episode.stop_reason is reason
    assert result["output"] == f"(nothing was said; stop reason: {reason})"


@pytest.mark.parametrize(
    "reason", [StopReason.SIMULATOR_DEFECT, StopReason.TOOL_UNAVAILABLE, StopReason.PROVIDER_ERROR]
)
def test_a_fault_of_the_machinery_is_an_error_beside_the_record(reason: StopReason) -> None:
    async def body(_: ProviderCall) -> None:
        raise EpisodeStopped(reason, "the reason in words")

    result, episode = run(body)
    assert result["error"] == f"{reason}: the reason in words"
    assert episode.stop_reason is reason
    assert "the reason in words" in episode.warnings


def test_a_wrong_configuration_is_an_error_and_not_an_answer() -> None:
    async def body(_: ProviderCall) -> None:
        raise ConfigurationProblem("temprature: unknown key; allowed: temperature")

    result, _ = run(body)
    assert result["error"] == "provider_error: configuration: temprature: unknown key; allowed: temperature"


@pytest.mark.parametrize("wrong", [0, -1, "ten", True, 290])
def test_a_deadline_that_promptfoo_would_not_wait_for_is_refused(wrong: Any) -> None:
    result, _ = run(_talk, {"deadlineSeconds": wrong})
    assert "deadlineSeconds: expected a number above 0 and at most 285" in result["error"]


def test_the_deadline_follows_the_providers_own_time_out() -> None:
    seen: list[float] = []

    async def body(call: ProviderCall) -> str:
        seen.append(call.deadline.seconds)
        return await _talk(call)

    run(body, {"timeout": 600_000})
    run(body, {"timeout": 10_000})
    assert seen == [pytest.approx(585, abs=1), pytest.approx(5, abs=1)]


def test_a_call_without_any_context_still_returns_a_record() -> None:
    result = run_episode(_talk, "hello", None, None)
    assert result["output"] == "good day"
    assert Episode.from_metadata(result["metadata"]).step_id == "test-0-prompt-0-repeat-0"


def test_the_first_stop_reason_stays() -> None:
    async def body(call: ProviderCall) -> None:
        call.recorder.stop(StopReason.MAX_TURNS, "15 turns")
        raise EpisodeStopped(StopReason.PROVIDER_ERROR, "could not close the session")

    result, episode = run(body)
    assert episode.stop_reason is StopReason.MAX_TURNS
    assert "error" not in result
    assert episode.tool_calls is None


@pytest.mark.parametrize("entry", ["production_agent.py", "simulated_user.py"])
def test_the_wrong_python_is_an_error_and_not_a_worker_that_never_answers(entry: str) -> None:
    """`-I -S` is a Python without this checkout's packages, as promptfoo finds it when nobody names another one."""
    path = Path(envelope.__file__).with_name(entry)
    program = (
        "import importlib.util, json\n"
        f"spec = importlib.util.spec_from_file_location('entry', {str(path)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(json.dumps(module.call_api('hi', {'config': {'agent': 'spoke'}}, {'vars': {}})))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    error = json.loads(done.stdout)["error"]
    assert "can not run an episode: No module named 'openai'" in error
    assert "set PROMPTFOO_PYTHON=" in error


def test_the_page_about_agents_lists_every_stop_reason_and_which_make_a_row_an_error() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")
    ]
    listed = {StopReason(row[0]): row[2] for row in rows if len(row) == 3 and row[0] != "stopReason"}
    assert listed == {reason: "error" if reason in envelope.MACHINERY else "judged" for reason in StopReason}
