"""A pull request, the call that created it and how it is judged, for the tests of `pull_request`."""

from __future__ import annotations

from typing import Any

from assertions.pull_request import check
from assertions.run_check import grade
from assertions.verdict import CheckResult
from episodes.record import PullRequest
from tests.assertions.conversations import tool

URL = "https://dev.azure.com/contoso/platform/_git/spokes/pullrequest/41"
OTHER = "https://dev.azure.com/contoso/platform/_git/spokes/pullrequest/40"
RESULT = {
    "pullRequestId": 41,
    "url": URL,
    "status": "active",
    "targetBranch": "main",
    "sourceBranch": "agent/spoke-a",
    "path": "spokes/spoke-a.json",
}
OFFLINE: dict[str, Any] = {"look_up": False}


def pull(url: str = URL) -> PullRequest:
    return PullRequest(url, url.rpartition("/")[2], "platform/spokes", "agent/spoke-a", "active")


def creates(result: Any = RESULT, **more: Any) -> Any:
    return tool("create", {"title": "Add spoke-a"}, result, **more)


def judge(evidence: Any, config: dict[str, Any] | None = None) -> CheckResult:
    return grade("pull_request", check, evidence, OFFLINE if config is None else config)
