"""An episode in a forked process: the same result as in the worker itself, and it ends with its worker."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from providers import worker
from tests.support.fork_server import SECONDS, fork_server, gone, until
from tests.support.promptfoo import CHECKOUT
from tests.support.trace_receiver import trace_receiver

Shared = tuple[str, subprocess.Popen[bytes]]
WRAPPER = CHECKOUT / "setup/promptfoo/node_modules/promptfoo/dist/src/python/persistent_wrapper.py"
AGENT = """
import json, os, sys, time
from contextlib import asynccontextmanager
from providers.agent_protocol import AgentAnswer

print("the agent was loaded", file=sys.stderr, flush=True)

class Told:
    name = "told"

    def begin(self, history):
        pass

    async def answer(self, message):
        here = {"pid": os.getpid(), "folder": os.getcwd(), "marker": os.environ.get("MARKER"), "zone": time.tzname[0]}
        if message == "wait":
            with open("waiting", "w") as file:
                file.write(str(here["pid"]))
            time.sleep(60)
        return AgentAnswer(json.dumps(here))

@asynccontextmanager
async def build_agent(setup):
    setup.recorder.watch_tools()
    yield Told()
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    with fork_server() as server:
        yield server


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder to work in, with an agent that tells where it runs."""
    (tmp_path / "told_agent.py").write_text(AGENT)
    return tmp_path


class Worker:
    """A provider in promptfoo's own wrapper, as promptfoo starts it."""

    def __init__(self, folder: Path, fork_server: str | None, **more: str) -> None:
        self._folder = folder
        environment = {
            **os.environ,
            **more,
            "PYTHONPATH": str(folder),
            "MARKER": "the worker's",
            "TZ": "XYZ-3",
            "EVALS_HOME": str(folder),
        }
        if fork_server is not None:
            environment["EVALS_FORK_SERVER"] = fork_server
        self.process = subprocess.Popen(
            [sys.executable, str(WRAPPER), str(CHECKOUT / "providers/production_agent.py"), "call_api"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            text=True,
        )

    def ask(self, question: str, **more: str) -> None:
        identity = {"vars": {"__evalId": "eval-1", "__evalStepId": "step-1"}, "test": {"metadata": {"id": "W1"}}}
        context = {**identity, **more}
        config = {"agent": "told_agent:build_agent", "basePath": str(self._folder)}
        (self._folder / "request.json").write_text(json.dumps([question, {"config": config}, context]))
        assert self.process.stdin is not None
        self.process.stdin.write(f"CALL|call_api|{self._folder}/request.json|{self._folder}/response.json\n")
        self.process.stdin.flush()

    def result(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("DONE|"):
                break
        answer = json.loads((self._folder / "response.json").read_text())
        assert answer["type"] == "result", answer
        result: dict[str, Any] = answer["data"]
        return result

    def call(self, question: str) -> dict[str, Any]:
        self.ask(question)
        return self.result()

    def end(self) -> str:
        """End the worker and return what it wrote to stderr."""
        _, errors = self.process.communicate("SHUTDOWN\n", timeout=SECONDS)
        assert self.process.returncode == 0
        return errors


def _where(result: dict[str, Any]) -> dict[str, Any]:
    assert "error" not in result, result["error"]
    told: dict[str, Any] = json.loads(result["output"])
    return told


def test_a_forked_episode_has_its_workers_environment_folder_modules_and_output_but_a_process_of_its_own(
    shared: Shared,
    place: Path,
) -> None:
    path, server = shared
    worker = Worker(place, path)
    first, second = _where(worker.call("where?")), _where(worker.call("and now?"))
    assert first == second
    assert (first["folder"], first["marker"], first["zone"]) == (str(place), "the worker's", "XYZ")
    assert first["pid"] not in (worker.process.pid, server.pid)
    assert "the agent was loaded" in worker.end()
    until(lambda: gone(first["pid"]))


def test_each_worker_has_a_process_of_its_own(shared: Shared, place: Path) -> None:
    path, _ = shared
    workers = [Worker(place, path) for _ in range(2)]
    pids = {_where(worker.call("where?"))["pid"] for worker in workers}
    assert len(pids) == 2
    for one in workers:
        one.end()


def test_the_record_is_the_same_with_and_without_a_fork_server(shared: Shared, place: Path) -> None:
    def record(worker: Worker) -> dict[str, Any]:
        metadata: dict[str, Any] = worker.call("where?")["metadata"]
        worker.end()
        told = json.loads(metadata["messages"][-1]["content"])
        assert told.pop("pid")
        metadata["messages"][-1]["content"] = told
        return {key: value for key, value in metadata.items() if key != "timings"}

    path, _ = shared
    forked = record(Worker(place, path))
    assert forked == record(Worker(place, None))


def test_a_forked_episode_sends_its_spans_to_the_receiver_of_its_worker(shared: Shared, place: Path) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    path, _ = shared
    with trace_receiver() as receiver:
        worker = Worker(place, path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
        worker.ask("where?", traceparent=f"00-{trace}-{parent}-01")
        assert _where(worker.result())["pid"] != worker.process.pid
        worker.end()
    episode = receiver.named("episode W1")
    assert (episode.trace, episode.parent) == (trace, parent)


@pytest.mark.parametrize("killed", ["worker", "process"])
def test_a_kill_in_mid_episode_ends_the_forked_process_and_leaves_a_record_where_there_is_a_worker(
    shared: Shared, place: Path, killed: str
) -> None:
    path, _ = shared
    worker = Worker(place, path)
    worker.ask("wait")
    until(lambda: (place / "waiting").exists() and (place / "waiting").read_text())
    pid = int((place / "waiting").read_text())
    os.kill(worker.process.pid if killed == "worker" else pid, signal.SIGKILL)
    until(lambda: gone(pid))
    if killed == "worker":
        worker.process.communicate()
        return
    result = worker.result()
    assert result["error"] == (
        "provider_error: the process of this worker ended in mid-episode (its connection was closed); "
        "what it had done is not on record"
    )
    assert (result["metadata"]["caseId"], result["metadata"]["stepId"]) == ("W1", "step-1")
    assert _where(worker.call("where?"))["pid"] not in (pid, worker.process.pid)
    worker.end()


def test_a_worker_whose_process_and_fork_server_are_both_killed_loses_one_episode_and_runs_the_next_itself(
    place: Path,
) -> None:
    with fork_server() as (path, server):
        worker = Worker(place, path)
        worker.ask("wait")
        until(lambda: (place / "waiting").exists() and (place / "waiting").read_text())
        server.kill()
        server.wait()
        os.kill(int((place / "waiting").read_text()), signal.SIGKILL)
        assert worker.result()["error"].startswith("provider_error: the process of this worker ended in mid-episode")
        assert _where(worker.call("where?"))["pid"] == worker.process.pid
        worker.end()


def test_a_process_that_is_killed_between_two_episodes_costs_none(shared: Shared, place: Path) -> None:
    path, _ = shared
    worker = Worker(place, path)
    pid = _where(worker.call("where?"))["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: gone(pid))
    assert _where(worker.call("where?"))["pid"] != pid
    worker.end()


def test_an_episode_does_not_begin_when_its_worker_is_gone_before_it_was_read(place: Path) -> None:
    call = {
        "body": "providers.agent.single_answer:single_answer",
        "prompt": "wait",
        "options": {"config": {"agent": "told_agent:build_agent", "basePath": str(place)}},
        "context": {},
        "started": time.monotonic(),
    }
    environment = {**os.environ, "EVALS_HOME": str(place)}
    worker = {
        "executable": sys.executable,
        "environment": environment,
        "folder": str(place),
        "path": [str(place), str(CHECKOUT), *sys.path],
    }
    with fork_server() as (path, server):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(path)
            with Path(os.devnull).open("w") as nothing:
                socket.send_fds(connection, [b"w"], [nothing.fileno()] * 2)
            connection.sendall(json.dumps(worker).encode() + b"\n")
            with connection.makefile() as lines:
                assert json.loads(lines.readline()) == {"problem": None}
            children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
            (pid,) = (int(child) for child in children.split())
            os.kill(pid, signal.SIGSTOP)
            connection.sendall(json.dumps(call).encode() + b"\n")
        os.kill(pid, signal.SIGCONT)
        until(lambda: gone(pid))
    assert not (place / "waiting").exists()


def test_a_worker_runs_its_episodes_itself_where_no_fork_server_answers(place: Path) -> None:
    worker = Worker(place, str(place / "nobody.sock"))
    assert _where(worker.call("where?"))["pid"] == worker.process.pid
    assert "the worker imports everything itself" in worker.end()


def test_a_fork_server_that_can_not_import_sends_its_workers_to_do_it_themselves(place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fs") as folder:
        path = Path(folder) / "w.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            listener.listen()
            worker = Worker(place, str(path))
            connection, _ = listener.accept()
            with connection, connection.makefile() as lines:
                lines.readline()
        worker.ask("where?")
        assert _where(worker.result())["pid"] == worker.process.pid
        assert "the fork server ended" in worker.end()


@pytest.mark.parametrize(
    ("worker", "problem"),
    [
        ({"executable": "/other/python"}, f"the worker's Python is /other/python, this one is {sys.executable}"),
        (
            {"environment": {"SSL_CERT_FILE": "/own.pem"}},
            "the worker's SSL_CERT_FILE is not the one that was in force here",
        ),
    ],
)
def test_a_worker_whose_libraries_would_be_others_gets_no_process(
    shared: Shared, place: Path, worker: dict[str, Any], problem: str
) -> None:
    path, _ = shared
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        with Path(os.devnull).open("w") as nothing:
            socket.send_fds(connection, [b"w"], [nothing.fileno()] * 2)
        asked = {"executable": sys.executable, "environment": {}, "folder": str(place), "path": []} | worker
        connection.sendall(json.dumps(asked).encode() + b"\n")
        with connection.makefile() as lines:
            assert json.loads(lines.readline()) == {"problem": problem}
            assert lines.readline() == ""


def test_a_fork_server_that_hangs_is_not_waited_for(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="fs") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder) / "w.sock")
        listener.bind(path)
        listener.listen()
        monkeypatch.setattr(worker, "IMPORT_SECONDS", 0.2)
        monkeypatch.setenv("EVALS_FORK_SERVER", path)
        monkeypatch.syspath_prepend(str(place))
        worker.prepare()
        config = {"agent": "told_agent:build_agent", "basePath": str(place)}
        result = worker.run("providers.agent.single_answer:single_answer", "where?", {"config": config}, {})
    assert _where(result)["pid"] == os.getpid()
