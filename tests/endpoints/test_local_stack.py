"""One stack per data folder, whoever comes first, and none when everybody has gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from endpoints import local_stack

JOIN = """
import json, sys, time
from endpoints import resolve
endpoints = resolve()
print(json.dumps([endpoints.portal.web_url, endpoints.model.base_url, endpoints.local]), flush=True)
time.sleep(float(sys.argv[1]))
"""


def join_in_a_process(home: Path, stay: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", JOIN, str(stay)]
    environment = os.environ | {"EVALS_HOME": str(home)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> list[object]:
    assert process.stdout is not None
    answer: list[object] = json.loads(process.stdout.readline())
    return answer


def ends(stack: local_stack.Stack) -> bool:
    """Wait for the stack's process to be gone; a zombie that nobody has collected yet is gone too."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{stack.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_eight_processes_that_start_at_once_share_one_stack_and_it_ends_with_the_last(tmp_path: Path) -> None:
    processes = [join_in_a_process(tmp_path, 3) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(first_line, processes))
    stack = local_stack.running(tmp_path)
    assert stack is not None
    assert answers == [[stack.portal_url, stack.model_url, True]] * 8
    assert [process.wait(timeout=30) for process in processes] == [0] * 8
    assert ends(stack)
    assert local_stack.running(tmp_path) is None


def test_the_stack_ends_when_the_only_process_that_needs_it_is_killed(tmp_path: Path) -> None:
    process = join_in_a_process(tmp_path, 60)
    first_line(process)
    stack = local_stack.running(tmp_path)
    assert stack is not None
    process.kill()
    process.wait(timeout=10)
    assert ends(stack)
    assert local_stack.running(tmp_path) is None


def test_a_restarted_stack_keeps_its_addresses_and_changes_its_tokens(tmp_path: Path) -> None:
    answers, tokens = [], []
    for _ in range(2):
        process = join_in_a_process(tmp_path, 60)
        answers.append(first_line(process))
        stack = local_stack.running(tmp_path)
        assert stack is not None
        tokens.append({stack.portal_token, stack.model_key, stack.pull_request_token})
        process.kill()
        process.wait(timeout=10)
        assert ends(stack)
    assert answers[0] == answers[1]
    assert tokens[0].isdisjoint(tokens[1])


def test_no_token_reaches_the_disk_and_no_door_is_open_without_one(tmp_path: Path) -> None:
    process = join_in_a_process(tmp_path, 60)
    first_line(process)
    stack = local_stack.running(tmp_path)
    assert stack is not None
    try:
        secrets = [token.encode() for token in (stack.portal_token, stack.model_key, stack.pull_request_token)]
        written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert written
        assert not any(secret in content for secret in secrets for content in written)
        assert requests.get(f"{stack.model_url}/models", timeout=10).status_code == 401
        assert requests.post(stack.mcp_url, json={}, timeout=10).status_code == 401
    finally:
        process.kill()
        process.wait(timeout=10)
    assert ends(stack)


def test_a_stack_that_can_not_start_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "portal").mkdir()
    (tmp_path / "portal" / "spokes.git").write_text("not a repository")
    (tmp_path / "portal").chmod(0o700)
    with pytest.raises(local_stack.StackError, match="ended while they started"):
        local_stack.join(tmp_path, [os.getpid()])
