"""Kill -9 in the middle of the work, again and again: the repository stays whole, and rows and branches agree."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from local.portal.data_folder import DataFolder, DataFolderError
from local.portal.state import PortalState
from tests.support.portal_process import PortalProcess, portal_process
from tests.support.promptfoo import CHECKOUT

SERVER_KILLS = 3
KILLS = 15
WORKERS = 3

CREATOR = """
import pathlib, secrets, sys, threading
from local.portal.data_folder import DataFolder
from local.portal.identity import PORTAL
from local.portal.state import PortalState

state, _ = PortalState.open(DataFolder.open(pathlib.Path(sys.argv[1])), "http://127.0.0.1:1")

def work():
    while True:
        branch = f"agent/{secrets.token_hex(8)}"
        content = secrets.token_bytes(2000)
        row = state.pull_requests.open_with_file(PORTAL, "Title", "", branch, "spokes/x.json", content)
        print(row.id, branch, flush=True)

for _ in range(int(sys.argv[2])):
    threading.Thread(target=work).start()
"""


def create(portal: PortalProcess, number: int) -> dict[str, Any] | None:
    """Open a pull request with one small HTTP request; None when the portal went away in between."""
    arguments = {
        "configuration": {"name": "spoke-killed-dev", "number": number},
        "title": f"Number {number}",
        "description": "",
    }
    call = {"name": "create_spoke_pull_request", "arguments": arguments}
    try:
        answer = requests.post(
            portal.mcp_url,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            headers={
                "Authorization": f"Bearer {portal.portal_token}",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25",
            },
            timeout=30,
        )
        result: dict[str, Any] = answer.json()["result"]["structuredContent"]
    except requests.RequestException:
        return None
    return result


def rows(data: Path) -> dict[int, tuple[str, str, str]]:
    """Status, branch and commit of every pull request."""
    with closing(sqlite3.connect(data / "portal.db")) as table:
        found = table.execute("SELECT id, status, source_ref, source_commit FROM pull_requests").fetchall()
    return {number: (status, ref, commit) for number, status, ref, commit in found}


def branches(data: Path) -> dict[str, str]:
    printed = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/agent"],
        cwd=data / "spokes.git",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(line.split() for line in printed.splitlines())


def check_repository(data: Path) -> None:
    done = subprocess.run(
        ["git", "fsck", "--full", "--strict"], cwd=data / "spokes.git", capture_output=True, text=True
    )
    complaints = [line for line in done.stderr.splitlines() + done.stdout.splitlines() if "dangling" not in line]
    assert (done.returncode, complaints) == (0, [])


def test_a_kill_in_the_middle_of_creating_leaves_rows_and_branches_in_step(tmp_path: Path) -> None:
    data = tmp_path / "data"
    seed = random.Random(20_261_129)
    answered: dict[int, str] = {}
    for _ in range(SERVER_KILLS):
        with portal_process(data) as portal:
            stop = threading.Event()

            def work(portal: PortalProcess = portal, stop: threading.Event = stop) -> None:
                while not stop.is_set():
                    made = create(portal, random.getrandbits(60))
                    if made is None:
                        return
                    answered[made["pullRequestId"]] = made["sourceBranch"]

            workers = [threading.Thread(target=work) for _ in range(WORKERS)]
            for worker in workers:
                worker.start()
            before = len(answered)
            deadline = time.monotonic() + 30
            while len(answered) < before + 3 and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(seed.uniform(0, 0.03))
            os.kill(portal.pid, signal.SIGKILL)
            stop.set()
            for worker in workers:
                worker.join()
    assert len(answered) >= 3 * SERVER_KILLS
    check_all(data, answered)


def test_many_kills_of_the_part_that_creates_leave_nothing_behind(tmp_path: Path) -> None:
    """Without the server, which takes its time to start: more kills, at more different moments."""
    data = tmp_path / "data"
    seed = random.Random(20_261_129)
    answered: dict[int, str] = {}
    for _ in range(KILLS):
        creator = subprocess.Popen(
            [sys.executable, "-c", CREATOR, str(data), str(WORKERS)], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
        )
        assert creator.stdout is not None
        lines = [creator.stdout.readline()]
        time.sleep(seed.uniform(0, 0.03))
        creator.kill()
        lines += creator.stdout.readlines()
        creator.wait()
        # The last line may be cut; the one before it is whole.
        answered |= {int(line.split()[0]): line.split()[1] for line in lines if line.endswith("\n")}
    assert len(answered) >= KILLS
    check_all(data, answered)


def check_all(data: Path, answered: dict[int, str]) -> None:
    """Open the folder once more, as the next portal does, and compare rows, branches and what had been answered."""
    state, _ = PortalState.open(DataFolder.open(data), "http://127.0.0.1:1")
    state.close()
    check_repository(data)
    after, existing = rows(data), branches(data)
    assert {status for status, _, _ in after.values()} == {"active"}, "nothing is left half-made"
    for number, (_, ref, commit) in after.items():
        assert existing.get(ref) == commit, f"pull request {number} has no branch"
    assert {ref for _, ref, _ in after.values()} == set(existing), "no branch is without a pull request"
    for number, branch in answered.items():
        assert after[number][1] == f"refs/heads/{branch}", "what was answered is kept"
    assert not list((data / "spokes.git").rglob("*.lock"))


def test_the_next_portal_waits_for_the_git_processes_of_a_killed_one(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "data")
    # A git process of a killed portal: it holds the lock that it has inherited.
    straggler = subprocess.Popen(["sleep", "600"], pass_fds=(folder.lock_fd,))
    folder.close()
    with pytest.raises(DataFolderError, match="is in use by another portal"):
        DataFolder.open(tmp_path / "data", wait_seconds=0.2)
    timer = threading.Timer(0.3, straggler.kill)
    timer.start()
    opened = DataFolder.open(tmp_path / "data", wait_seconds=30)
    straggler.wait()
    opened.close()
    timer.join()


def test_no_git_process_outlives_a_killed_portal(tmp_path: Path) -> None:
    with portal_process(tmp_path / "data") as portal:
        create(portal, 1)
        children = Path(f"/proc/{portal.pid}/task/{portal.pid}/children").read_text().split()
        os.kill(portal.pid, signal.SIGKILL)
        state, repaired = PortalState.open(DataFolder.open(tmp_path / "data"), "http://127.0.0.1:1")
    state.close()
    assert repaired == []
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}/exe").exists() for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in children if Path(f"/proc/{pid}/exe").exists()]
