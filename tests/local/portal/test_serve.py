"""The process: how it is started, whom it serves, when it ends, and what it leaves on disk."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from local.leases import Leases
from local.ports import PortError, listen
from tests.support.promptfoo import CHECKOUT

PATIENCE = 60.0


class Stack:
    """A `python -m local serve` of the test's own."""

    def __init__(self, folder: Path, *arguments: str, only: str | None = "portal", data: Path | None = None) -> None:
        self.data = data or folder / "data"
        self.socket = folder / "socket"
        command = [sys.executable, "-m", "local", "serve", "--data", str(self.data), "--socket", str(self.socket)]
        command += [] if only is None else ["--only", only]
        self.log = folder / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *arguments], cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def ask(self, question: dict[str, Any] | bytes = b"{}") -> dict[str, Any]:
        """Wait until it answers."""
        line = question if isinstance(question, bytes) else json.dumps(question).encode()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                answer: dict[str, Any] = json.loads(self.say(line))
            except (OSError, ValueError):
                time.sleep(0.02)
            else:
                return answer
        raise AssertionError(self.log.read_text())

    def say(self, line: bytes) -> str:
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(self.socket))
            connection.sendall(line + b"\n")
            return connection.makefile(encoding="utf-8").readline()

    def ended(self) -> int:
        """Its exit code. One that does not end is killed, and that is an error."""
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a short path, as the path of a Unix socket must be."""
    with tempfile.TemporaryDirectory(prefix="serve-") as folder:
        yield Path(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    """A stack, portal and model, that the tests share which leave it as it is."""
    with short_folder() as folder:
        stack = Stack(folder, "--lease-pid", str(os.getpid()), only=None)
        yield stack
        stack.process.terminate()
        stack.ended()


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Stack]]:
    stacks: list[Stack] = []

    def begin(*arguments: str, where: Path = folder, **options: Any) -> Stack:
        stacks.append(Stack(where, *arguments, **options))
        return stacks[-1]

    yield begin
    for stack in stacks:
        if stack.process.poll() is None:
            stack.process.kill()
        stack.process.wait()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local", *arguments], cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"]])
def test_it_explains_itself(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 0
    assert "serve" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: COMMAND"),
        (["serve"], "required: --data, --socket"),
        (["serve", "--data", "d", "--socket", "s", "--portal-port", "0"], "'0' is not a port"),
        (["serve", "--data", "d", "--socket", "s", "--lease-pid", "x"], "'x' is not a process id"),
        (["serve", "--data", "d", "--socket", "s", "--only", "both"], "invalid choice: 'both'"),
    ],
)
def test_a_wrong_command_line_is_refused_in_words(arguments: list[str], words: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_answer_has_everything_and_the_socket_is_for_this_user_only(running: Stack) -> None:
    stack = running
    answer = stack.ask({"leases": [os.getpid()]})
    assert answer["pid"] == stack.process.pid
    assert answer["mcpUrl"] == f"{answer['portalUrl']}/mcp"
    assert answer["pullRequestApi"] == f"{answer['portalUrl']}/landing-zones"
    assert answer["repositories"] == ["platform/spokes"]
    assert stat.S_IMODE(stack.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(stack.data.stat().st_mode) == 0o700
    assert stack.ask({"lease": os.getpid()}) == answer
    assert stack.ask({}) == answer


@dataclass(frozen=True)
class Lives:
    """Three stacks, portal only, one after another in the same folder: how they answered and how each ended."""

    answers: list[dict[str, Any]]
    exit_codes: list[int]
    """The first was ended by SIGTERM while a client kept its connection, the second killed, the last by SIGINT."""
    sockets_left: list[bool]
    token_of_the_first: int
    """HTTP status that the first stack's token gets from the second one."""
    files: dict[Path, bytes]
    log: str


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    answers: list[dict[str, Any]] = []
    exit_codes: list[int] = []
    left: list[bool] = []
    with short_folder() as folder:
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            stack = Stack(folder, "--lease-pid", str(os.getpid()))
            answers.append(stack.ask())
            assert answers[-1]["pid"] == stack.process.pid
            api = answers[-1]["pullRequestApi"]
            if number == signal.SIGTERM:
                token = {"Authorization": f"Bearer {answers[0]['pullRequestToken']}"}
                assert requests.get(f"{api}/_apis/connectionData", headers=token, timeout=30).ok
                idle = socket.create_connection(("127.0.0.1", urlsplit(api).port or 0))
                idle.sendall(b"GET / HTTP/1.1\r\n")
            elif number == signal.SIGKILL:
                status = requests.get(f"{api}/_apis/git/repositories", headers=token, timeout=30).status_code
            stack.process.send_signal(number)
            exit_codes.append(stack.ended())
            left.append(stack.socket.exists())
        idle.close()
        files = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        yield Lives(answers, exit_codes, left, status, files, stack.log.read_text())


def test_no_token_is_written_to_disk(lives: Lives) -> None:
    tokens = [answer[name].encode() for answer in lives.answers for name in ("portalToken", "pullRequestToken")]
    assert len(set(tokens)) == 6
    assert len(lives.files) > 10
    for file, content in lives.files.items():
        assert not any(token in content for token in tokens), file


@pytest.mark.parametrize("line", [b"", b"nonsense", b"[]", b'{"leases": 1', b"\xff\xfe", b"x" * 100_000])
def test_a_broken_question_gets_no_tokens_and_hurts_nobody(running: Stack, line: bytes) -> None:
    running.ask()
    said = ""
    with suppress(ConnectionResetError, BrokenPipeError):
        said = running.say(line)
    assert said == ""
    assert running.ask()["pid"] == running.process.pid


def test_a_signal_ends_it_cleanly_although_a_client_keeps_its_connection(lives: Lives) -> None:
    assert lives.exit_codes == [0, -signal.SIGKILL, 0]
    assert (lives.sockets_left[0], lives.sockets_left[2]) == (False, False)
    assert "Traceback" not in lives.log


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


def test_it_ends_when_the_last_process_with_a_lease_is_gone(start: Callable[..., Stack]) -> None:
    first, second = sleeper(), sleeper()
    stack = start("--lease-pid", str(first.pid))
    stack.ask({"leases": [second.pid]})
    # Killed and not waited for: a zombie holds no lease.
    first.kill()
    time.sleep(1.5)
    assert stack.process.poll() is None, "the second still needs it"
    second.kill()
    assert stack.ended() == 0
    assert not stack.socket.exists()
    first.wait()
    second.wait()


def test_without_a_lease_it_belongs_to_its_parent(folder: Path) -> None:
    data, address = folder / "data", folder / "socket"
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-m', 'local', 'serve', '--only', 'portal', '--data', {str(data)!r},"
        f" '--socket', {str(address)!r}])\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not address.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert address.exists()
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + PATIENCE
    while address.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not address.exists()


def test_a_process_that_is_gone_gets_no_lease() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    leases = Leases()
    gone.wait()
    for pid in (gone.pid, 0, -1, 2**40):
        leases.add(pid)
    assert not leases.any_alive()
    leases.add(os.getpid())
    assert leases.any_alive()


def test_addresses_stay_valid_after_a_restart_and_tokens_do_not(lives: Lives) -> None:
    before, after, _ = lives.answers
    assert after["portalUrl"] == before["portalUrl"]
    assert after["portalToken"] != before["portalToken"]
    assert lives.token_of_the_first == 401


def test_a_port_is_taken_again_until_somebody_else_has_it(tmp_path: Path) -> None:
    with listen(tmp_path, "portal", None) as first:
        port = first.getsockname()[1]
    with listen(tmp_path, "portal", None) as again:
        assert again.getsockname()[1] == port
        with listen(tmp_path, "portal", None) as other:
            assert other.getsockname()[1] != port


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"portal": "x"}', '{"portal": 80}', '{"portal": true}', '{"portal": 99999}']
)
def test_a_damaged_memory_of_ports_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "ports.json").write_text(text)
    with listen(tmp_path, "portal", None) as listener:
        assert listener.getsockname()[1] >= 1024
        assert json.loads((tmp_path / "ports.json").read_text())["portal"] == listener.getsockname()[1]


def test_a_port_that_was_asked_for_is_taken_or_refused(folder: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortError, match=f"port {port} for the portal can not be used"):
            listen(tmp_path, "portal", port)
        place = ("--data", str(folder / "data"), "--socket", str(folder / "socket"))
        done = run("serve", "--only", "portal", *place, "--portal-port", str(port))
        assert done.returncode == 1
        assert f"port {port} for the portal can not be used" in done.stderr
    with listen(tmp_path, "portal", port) as listener:
        assert listener.getsockname()[1] == port


def test_answers_are_not_held_back_by_the_network_stack(tmp_path: Path) -> None:
    with listen(tmp_path, "portal", None) as listener:
        # asyncio switches Nagle's delay off only for sockets that name their protocol.
        assert listener.proto == socket.IPPROTO_TCP


def test_a_second_stack_on_the_same_socket_is_refused(running: Stack, tmp_path: Path) -> None:
    before = running.ask()
    done = run("serve", "--only", "portal", "--data", str(tmp_path / "other"), "--socket", str(running.socket))
    assert done.returncode == 1
    assert "another stack answers there already" in done.stderr
    assert not (tmp_path / "other").exists()
    assert running.ask() == before


def test_a_socket_that_a_killed_stack_left_is_replaced(lives: Lives) -> None:
    assert lives.sockets_left[1]
    assert len({answer["pid"] for answer in lives.answers}) == 3


def test_a_file_in_the_place_of_the_socket_is_left_alone(folder: Path) -> None:
    (folder / "socket").write_text("precious")
    done = run("serve", "--only", "portal", "--data", str(folder / "data"), "--socket", str(folder / "socket"))
    assert done.returncode == 1
    assert "exists and is no socket" in done.stderr
    assert (folder / "socket").read_text() == "precious"


def test_a_folder_that_others_can_enter_is_refused(start: Callable[..., Stack], folder: Path) -> None:
    folder.chmod(0o755)
    stack = start("--lease-pid", str(os.getpid()))
    assert stack.ended() == 1
    assert f"{folder} must be a folder that only you can enter" in stack.log.read_text()


def test_a_data_folder_that_is_none_is_refused(start: Callable[..., Stack], folder: Path) -> None:
    (folder / "data").write_text("")
    stack = start("--lease-pid", str(os.getpid()))
    assert stack.ended() == 1
    assert "can not be used as data folder" in stack.log.read_text()
    assert "Traceback" not in stack.log.read_text()


def test_without_git_it_says_so(folder: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "local", "serve", "--only", "portal"),
            *("--data", str(folder / "data"), "--socket", str(folder / "socket")),
        ],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PATH": str(folder)},
    )
    assert done.returncode == 1
    assert "git is not on PATH" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_part_that_is_not_served_has_no_address(lives: Lives) -> None:
    assert [(answer["modelUrl"], answer["modelKey"]) for answer in lives.answers] == [("", "")] * 3


def test_both_servers_run_in_one_process(running: Stack) -> None:
    answer = running.ask()
    models = requests.get(
        f"{answer['modelUrl']}/models", headers={"Authorization": f"Bearer {answer['modelKey']}"}, timeout=30
    )
    assert models.status_code == 200
    assert len({answer["portalToken"], answer["modelKey"], answer["pullRequestToken"]}) == 3
    headers = {"Authorization": f"Bearer {answer['pullRequestToken']}"}
    assert requests.get(f"{answer['pullRequestApi']}/_apis/git/repositories", headers=headers, timeout=30).ok


def test_many_askers_at_once_get_the_same_answer(running: Stack) -> None:
    expected = running.ask()
    answers: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda: answers.append(running.ask())) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 20
