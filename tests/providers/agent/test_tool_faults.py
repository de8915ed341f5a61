"""Tools and their servers on a bad day: each episode still ends with a record that says what is known."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from episodes.canonical import digest_text
from episodes.record import StopReason
from tests.providers.agent.rig import Rig, make_rig
from tests.support.scripted_model import Say, ScriptedModel, Step, scripted_model
from tests.support.tool_process import ToolProcess, stdio_command, tool_process


class Bench:
    """Makes rigs whose server is the module's, or another one."""

    def __init__(self, tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tools = tools
        self.tmp_path = tmp_path
        self._monkeypatch = monkeypatch

    @contextmanager
    def rig(
        self, *script: Step, servers: list[dict[str, Any]] | None = None, **agent: Any
    ) -> Iterator[tuple[Rig, ScriptedModel]]:
        with scripted_model(*script) as model:
            chosen = [{"name": "portal", "url": self.tools.url}] if servers is None else servers
            yield make_rig(self.tmp_path, self._monkeypatch, model, servers=chosen, **agent), model


@pytest.fixture
def bench(tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    tools.log.unlink(missing_ok=True)
    return Bench(tools, tmp_path, monkeypatch)


def test_a_cut_off_call_is_told_apart_from_a_malformed_one(bench: Bench) -> None:
    with bench.rig(Say(calls=[("add", '{"a": 1')], finish_reason="length"), Say("done")) as (rig, model):
        result = rig.run()
    (call,) = result.episode.tool_calls or ()
    assert "(the answer was cut off at its token limit)" in call.problem
    assert model.asked[1].body["messages"][-1]["content"].startswith("Not called: the arguments are not JSON")


def test_the_model_gets_two_chances_to_mend_its_arguments_and_no_third(bench: Bench) -> None:
    bad = Say(calls=[("add", "{")])
    with bench.rig(bad, bad, Say("sorry"), bad, bad, bad, Say("never asked")) as (rig, model):
        mended = rig.run()
        given_up = rig.run()
    assert mended.episode.stop_reason is StopReason.USER_STOP
    assert given_up.episode.stop_reason is StopReason.MAX_STEPS
    assert given_up.error == ""
    assert "tool arguments were no JSON object in 3 answers of one turn; 2 repairs are allowed" in (
        given_up.episode.warnings
    )
    assert len(model.asked) == 6


def test_what_a_failing_tool_says_reaches_the_model_and_the_record(bench: Bench) -> None:
    with bench.rig(Say(calls=[("fail", {})]), Say("done")) as (rig, model):
        result = rig.run()
    (call,) = result.episode.tool_calls or ()
    assert call.status == "tool_error"
    assert call.problem
    assert model.asked[1].body["messages"][-1]["content"] == call.problem


def test_a_huge_result_is_cut_for_the_model_and_kept_whole_aside(bench: Bench) -> None:
    with bench.rig(Say(calls=[("huge", {"characters": 500_000})]), Say("done")) as (rig, model):
        result = rig.run(maxResultCharacters=1000)
    (call,) = result.episode.tool_calls or ()
    whole = (rig.home / call.result["file"]).read_text(encoding="utf-8")
    assert (call.result["length"], call.result["sha256"]) == (len(whole), digest_text(whole))
    assert whole.count("x") == 500_000
    told = model.asked[1].body["messages"][-1]["content"]
    assert len(told) < 1200
    assert f"characters, SHA-256 {digest_text(whole)}]" in told


def test_a_silent_tool_is_given_up_and_whether_it_ran_stays_unknown(bench: Bench) -> None:
    with bench.rig(Say(calls=[("slow", {"seconds": 30}), ("ping", {})]), Say("done")) as (rig, _):
        result = rig.run(toolTimeoutSeconds=0.3)
    assert result.statuses == [("slow", "transport_error"), ("ping", "ok")]
    assert (result.episode.tool_calls or ())[0].problem == (
        "The tool call failed: no sign of life for 0.3 s; whether it ran is unknown"
    )


def test_a_tool_that_reports_progress_is_not_silent(bench: Bench) -> None:
    with bench.rig(Say(calls=[("steps", {"count": 6, "pause": 0.2})]), Say("done")) as (rig, _):
        result = rig.run(toolTimeoutSeconds=0.8)
    assert result.statuses == [("steps", "ok")]


def test_the_deadline_ends_a_call_under_way_and_keeps_it_in_the_record(bench: Bench) -> None:
    with bench.rig(Say(calls=[("ping", {}), ("slow", {"seconds": 30})]), Say("done")) as (rig, _):
        started = time.monotonic()
        result = rig.run(deadlineSeconds=1.5)
    assert time.monotonic() - started < 20
    assert result.error.startswith("deadline: ")
    assert result.statuses == [("ping", "ok"), ("slow", "transport_error")]
    assert [message["role"] for message in result.episode.messages] == ["user", "assistant", "tool", "tool"]


def test_a_creating_call_that_the_deadline_cuts_off_stays_open_in_the_ledger(bench: Bench) -> None:
    with bench.rig(Say(calls=[("slow", {"seconds": 30})]), createsPullRequests=["slow"], tools=("slow",)) as (rig, _):
        rig.run(deadlineSeconds=1.5)
        intent, outcome = rig.ledger()
    assert intent["tool"] == "slow"
    assert (outcome["answered"], outcome["sent"]) == (False, True)


def test_a_server_that_dies_and_returns_takes_only_the_call_under_way_with_it(bench: Bench) -> None:
    with tool_process(bench.tmp_path) as server:

        def restart(_: dict[str, Any]) -> Say:
            server.process.wait(10)
            server.restart()
            return Say(calls=[("ping", {})])

        with bench.rig(
            Say(calls=[("die", {})]),
            restart,
            Say("done"),
            servers=[{"name": "portal", "url": server.url}],
            tools=("die", "ping"),
        ) as (rig, _):
            result = rig.run()
    assert result.statuses == [("die", "transport_error"), ("ping", "ok")]
    assert "whether it ran is unknown" in (result.episode.tool_calls or ())[0].problem
    assert result.output == "done"


def _processes_with(text: str) -> list[int]:
    """Pids of live processes whose command line holds `text`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            if text in command:
                found.append(int(entry.name))
    return found


def test_a_server_on_stdio_works_beside_one_over_http_and_leaves_no_process(bench: Bench) -> None:
    log = bench.tmp_path / "stdio.jsonl"
    command, args = stdio_command(log)
    servers: list[dict[str, Any]] = [
        {"name": "web", "url": bench.tools.url},
        {"name": "own", "command": command, "args": args},
    ]
    calls = [("web__ping", {}), ("own__ping", {}), ("add", {"a": 1, "b": 1})]
    with bench.rig(
        Say(calls=calls),
        Say("done"),
        servers=servers,
        tools=("web:ping", "own:ping", "own:add"),
        createsPullRequests=[],
    ) as (rig, model):
        result = rig.run()
        # The model sees the server's name only where two tools have the same one.
        assert [tool["function"]["name"] for tool in model.asked[0].body["tools"]] == ["web__ping", "own__ping", "add"]
    assert [(call.server, call.name, call.status) for call in result.episode.tool_calls or ()] == [
        ("web", "ping", "ok"),
        ("own", "ping", "ok"),
        ("own", "add", "ok"),
    ]
    assert _processes_with(str(log)) == []


def test_one_name_on_two_servers_must_be_told_apart_in_the_allow_list(bench: Bench) -> None:
    servers = [{"name": "one", "url": bench.tools.url}, {"name": "two", "url": bench.tools.url}]
    with bench.rig(Say("hi"), servers=servers, tools=("ping",)) as (rig, _):
        result = rig.run()
    assert result.error == (
        "tool_unavailable: the allow-list names the tool 'ping', which is offered more than once: "
        "write one:ping or two:ping"
    )


def test_a_program_that_can_not_start_says_so(bench: Bench) -> None:
    servers = [{"name": "own", "command": "/no/such/program"}]
    with bench.rig(Say("hi"), servers=servers, tools=("ping",)) as (rig, _):
        result = rig.run()
    assert result.error == "tool_unavailable: the server own can not be used: there is no program /no/such/program"


def test_what_a_program_said_before_it_ended_is_told(bench: Bench) -> None:
    program = ["-c", "raise SystemExit('no licence')"]
    servers = [{"name": "own", "command": sys.executable, "args": program, "connectSeconds": 2}]
    with bench.rig(Say("hi"), servers=servers, tools=("ping",)) as (rig, _):
        result = rig.run()
    assert result.error.startswith("tool_unavailable: the server own can not be used: ")
    assert result.error.endswith(": no licence")


def test_a_variable_of_a_server_that_is_not_set_is_named(bench: Bench) -> None:
    servers = [{"name": "own", "url": "${NOT_SET_IN_THIS_TEST}/mcp"}]
    with bench.rig(Say("hi"), servers=servers, tools=("ping",)) as (rig, _):
        result = rig.run()
    assert "server own: the environment variable NOT_SET_IN_THIS_TEST is not set" in result.error


def test_a_stdio_server_dies_with_its_worker_even_when_it_ignores_its_closed_input(tmp_path: Path) -> None:
    """The worker is killed hard; the server never reads its stdin and would live on for a minute."""
    import signal
    import subprocess

    marker = f"stays-alive-{os.getpid()}-{tmp_path.name}"
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, subprocess, sys, time\n"
            "from providers.agent import die_with_parent\n"
            "subprocess.Popen([sys.executable, '-I', '-S', die_with_parent.__file__, str(os.getpid()),"
            f" sys.executable, '-c', 'import time; time.sleep(60) # {marker}'], start_new_session=True)\n"
            "print('started', flush=True)\n"
            "time.sleep(60)\n",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "started\n"
    _until(lambda: len(_servers_of(marker, worker.pid)) == 1)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    _until(lambda: _servers_of(marker, worker.pid) == [])


def _servers_of(marker: str, worker: int) -> list[int]:
    return [pid for pid in _processes_with(marker) if pid != worker]


def _until(condition: Any) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come true within 15 seconds")
