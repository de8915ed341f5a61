"""The local stack that is killed and comes back, and the pull requests of other people that nobody may touch."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.gateway import Upstream
from endpoints import local_stack
from episodes.hosts import HostedPullRequest
from episodes.hosts.azure_devops import HEADS, AzureDevOpsClient
from episodes.hosts.rest import Rest, path_of

PROJECT, REPOSITORY = "platform", "spokes"
FULL_NAME = f"{PROJECT}/{REPOSITORY}"
_GIT = path_of(PROJECT) + "/_apis/git/repositories" + path_of(REPOSITORY)
_VERSION = {"api-version": "7.1"}
LONG_AGO = "2020-01-01T00:00:00Z"


@dataclass(frozen=True)
class Foreign:
    """Somebody else's pull request, as it was when it was opened."""

    number: str
    branch: str
    tip: str


class Stage:
    """The stack of the folder `home`. Killed and revived by one thread, asked for by many."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.foreign: list[Foreign] = []
        self._stack: local_stack.Stack | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the stack, or join it. Raises StackError when it does not come up."""
        stack = local_stack.join(self.home, [os.getpid()])
        with self._lock:
            self._stack = stack

    def kill(self) -> None:
        """Kill the stack where it stands, and wait until it is gone."""
        with self._lock:
            stack, self._stack = self._stack, None
        if stack is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(stack.pid, signal.SIGKILL)
            while local_stack.running(self.home) is not None:
                time.sleep(0.02)

    def stop(self) -> None:
        """End the stack as a person would."""
        with self._lock:
            stack, self._stack = self._stack, None
        if stack is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(stack.pid, signal.SIGTERM)

    def model(self) -> Upstream | None:
        stack = self._stack
        return None if stack is None else Upstream(stack.model_url, f"Bearer {stack.model_key}")

    def portal(self) -> Upstream | None:
        stack = self._stack
        return None if stack is None else Upstream(stack.portal_url, f"Bearer {stack.portal_token}")

    def host(self) -> Upstream | None:
        stack = self._stack
        return None if stack is None else Upstream(stack.portal_url, f"Bearer {stack.pull_request_token}")

    def open_foreign(self, branch: str, title: str, description: str) -> None:
        """A person pushes a branch and opens a pull request over REST."""
        note = _file_change("add", f"notes/{branch.replace('/', '-')}.md", f"{title}\n")
        with self._rest() as rest:
            made = self._open(rest, branch, note, title, description)
            self.foreign.append(Foreign(str(made["pullRequestId"]), branch, self._tips(rest)[branch]))

    def merge_change(self, path: str, change: Callable[[dict[str, Any]], object]) -> None:
        """A person changes a configuration in the main branch, by way of a pull request of its own."""
        with self._rest() as rest:
            query = {**_VERSION, "path": f"/{path}", "includeContent": "true"}
            content = json.loads(rest.call("GET", f"{_GIT}/items", query=query).body["content"])
            change(content)
            edit = _file_change("edit", path, json.dumps(content, indent=2) + "\n")
            made = self._open(rest, f"person/{len(self._tips(rest))}", edit, "Change a spoke", "")
            commit = made["lastMergeSourceCommit"]
            done = {"status": "completed", "lastMergeSourceCommit": commit}
            rest.call("PATCH", f"{_GIT}/pullRequests/{made['pullRequestId']}", query=_VERSION, json=done)

    def open_foreign_by_tool(self, spoke: str, marker: str) -> None:
        """Another user's agent opens a pull request with the same tool, under the same account."""
        stack = self._running()
        accept = {"Accept": "application/json, text/event-stream"}
        rest = Rest(stack.portal_url, f"Bearer {stack.portal_token}", accept)
        with contextlib.closing(rest):
            source = _call_tool(rest, "get_spoke", {"name": spoke})
            arguments = {
                "configuration": {**source["configuration"], "reviewDate": "2031-01-01"},
                "title": "Move the review date",
                "description": f"Asked for by somebody else.\n\n{marker}",
                "branch_prefix": marker,
            }
            made = _call_tool(rest, "create_spoke_pull_request", arguments)
        with self._rest() as rest:
            branch = str(made["sourceBranch"])
            self.foreign.append(Foreign(str(made["pullRequestId"]), branch, self._tips(rest)[branch]))

    def pull_requests(self) -> tuple[HostedPullRequest, ...]:
        """All pull requests there are, asked for without the gateway."""
        stack = self._running()
        client = AzureDevOpsClient(stack.pull_request_api, stack.pull_request_token)
        with contextlib.closing(client):
            return client.created_since(FULL_NAME, LONG_AGO)

    def abandon(self, number: str) -> None:
        """A person closes a pull request."""
        stack = self._running()
        client = AzureDevOpsClient(stack.pull_request_api, stack.pull_request_token)
        with contextlib.closing(client):
            client.abandon(FULL_NAME, number)

    def tips(self) -> dict[str, str]:
        """All branches and the commit at the tip of each."""
        with self._rest() as rest:
            return self._tips(rest)

    def check_repository(self) -> str:
        """What `git fsck` says, empty when it finds nothing."""
        found = []
        for folder in (self.home / "portal").glob("*.git"):
            done = subprocess.run(
                ["git", "-C", str(folder), "fsck", "--full", "--strict", "--no-dangling", "--no-progress"],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode:
                found.append((done.stdout + done.stderr).strip())
        return "\n".join(found)

    def _running(self) -> local_stack.Stack:
        stack = self._stack
        if stack is None:
            raise RuntimeError("the stack is not running")
        return stack

    @contextlib.contextmanager
    def _rest(self) -> Iterator[Rest]:
        stack = self._running()
        rest = Rest(stack.pull_request_api, f"Bearer {stack.pull_request_token}", {"Accept": "application/json"})
        with contextlib.closing(rest):
            yield rest

    def _open(self, rest: Rest, branch: str, change: dict[str, Any], title: str, description: str) -> dict[str, Any]:
        push = {
            "refUpdates": [{"name": HEADS + branch, "oldObjectId": self._tips(rest)["main"]}],
            "commits": [{"comment": title, "changes": [change]}],
        }
        rest.call("POST", f"{_GIT}/pushes", query=_VERSION, json=push)
        wanted = {
            "sourceRefName": HEADS + branch,
            "targetRefName": f"{HEADS}main",
            "title": title,
            "description": description,
        }
        return dict(rest.call("POST", f"{_GIT}/pullrequests", query=_VERSION, json=wanted).body)

    @staticmethod
    def _tips(rest: Rest) -> dict[str, str]:
        body = rest.call("GET", f"{_GIT}/refs", query={**_VERSION, "filter": "heads/", "$top": "1000"}).body
        return {str(ref["name"]).removeprefix(HEADS): str(ref["objectId"]) for ref in body["value"]}


def _file_change(kind: str, path: str, content: str) -> dict[str, Any]:
    new = {"content": content, "contentType": "rawtext"}
    return {"changeType": kind, "item": {"path": f"/{path}"}, "newContent": new}


def _call_tool(rest: Rest, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """One call of a portal tool; the portal answers each request by itself, without a session."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    result = rest.call("POST", "/mcp", json=call).body["result"]
    if result.get("isError"):
        raise RuntimeError(f"{name}: {result['content']}")
    return dict(result["structuredContent"])
