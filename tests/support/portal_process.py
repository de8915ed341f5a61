"""The local portal as a process of the test's own, and pull requests made on it with the official client."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.promptfoo import CHECKOUT

PROJECT = "platform"
REPOSITORY = "spokes"
FULL_NAME = f"{PROJECT}/{REPOSITORY}"


@dataclass(frozen=True)
class PortalProcess:
    """A running portal. `api_url` is the address of the Azure DevOps organisation."""

    pid: int
    data: Path
    web_url: str
    mcp_url: str
    api_url: str
    portal_token: str = field(repr=False)
    service_token: str = field(repr=False)

    def environment(self) -> dict[str, str]:
        """The variables that point the cleanup at this portal."""
        return {
            "EVALS_PULL_REQUEST_API": self.api_url,
            "EVALS_PULL_REQUEST_TOKEN": self.service_token,
            "EVALS_REPOSITORIES": FULL_NAME,
        }

    def git(self) -> Any:
        """The official client. Its cache of addresses on disk is in a folder of this portal."""
        os.environ["AZURE_DEVOPS_CACHE_DIR"] = str(self.data / "client-cache")
        from msrest.authentication import BasicAuthentication

        client = import_module("azure.devops.connection")
        connection = client.Connection(base_url=self.api_url, creds=BasicAuthentication("", self.service_token))
        return connection.clients_v7_1.get_git_client()

    def open_pull(self, branch: str, *, path: str = "notes/test.md", title: str = "Test", description: str = "") -> str:
        """Push a branch with one new file, open a pull request to `main`, and return its number."""
        models = import_module("azure.devops.v7_1.git.models")
        git = self.git()
        main = git.get_refs(REPOSITORY, project=PROJECT, filter="heads/main")[0].object_id
        content = {"content": branch, "contentType": "rawtext"}
        added = {"changeType": "add", "item": {"path": f"/{path}"}, "newContent": content}
        push = models.GitPush(
            ref_updates=[models.GitRefUpdate(name=f"refs/heads/{branch}", old_object_id=main)],
            commits=[models.GitCommitRef(comment="Test", changes=[added])],
        )
        git.create_push(push, REPOSITORY, project=PROJECT)
        wanted = models.GitPullRequest(
            source_ref_name=f"refs/heads/{branch}",
            target_ref_name="refs/heads/main",
            title=title,
            description=description,
        )
        return str(git.create_pull_request(wanted, REPOSITORY, project=PROJECT).pull_request_id)

    def status(self, number: str) -> str:
        return str(self.git().get_pull_request(REPOSITORY, int(number), project=PROJECT).status)

    def complete(self, number: str) -> None:
        """Merge a pull request, as a person would."""
        models = import_module("azure.devops.v7_1.git.models")
        git = self.git()
        commit = git.get_pull_request(REPOSITORY, int(number), project=PROJECT).last_merge_source_commit
        update = models.GitPullRequest(status="completed", last_merge_source_commit=commit)
        git.update_pull_request(update, REPOSITORY, int(number), project=PROJECT)

    def branches(self) -> set[str]:
        refs = self.git().get_refs(REPOSITORY, project=PROJECT, filter="heads/")
        return {ref.name.removeprefix("refs/heads/") for ref in refs}


@contextmanager
def portal_process(data: Path) -> Iterator[PortalProcess]:
    """Serve the portal on a free loopback port until the block ends; its data is in `data`."""
    # The path of a Unix socket must be short, so it does not go into pytest's folder.
    folder = Path(tempfile.mkdtemp(prefix="portal-"))
    address = folder / "socket"
    command = [sys.executable, "-m", "local", "serve", "--only", "portal", "--data", str(data), "--socket"]
    log = (folder / "log").open("w+")
    process = subprocess.Popen(
        [*command, str(address), "--lease-pid", str(os.getpid())], cwd=CHECKOUT, stdout=log, stderr=log
    )
    try:
        answer = _handed_over(address, process, folder / "log")
        yield PortalProcess(
            process.pid,
            data,
            answer["portalUrl"],
            answer["mcpUrl"],
            answer["pullRequestApi"],
            answer["portalToken"],
            answer["pullRequestToken"],
        )
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()
        shutil.rmtree(folder)


def _handed_over(address: Path, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    for _ in range(1200):
        assert process.poll() is None, log.read_text()
        with suppress(OSError), closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
            connection.connect(str(address))
            connection.sendall(json.dumps({"leases": [os.getpid()]}).encode() + b"\n")
            answer: dict[str, Any] = json.loads(connection.makefile().readline())
            return answer
        time.sleep(0.05)
    raise AssertionError(f"the portal did not answer: {log.read_text()}")
