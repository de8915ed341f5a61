"""Azure DevOps Services and Server, Git REST API 7.1. A repository is written `project/repository`."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, cast

from episodes.hosts import HostedPullRequest, HostError, Status
from episodes.hosts.rest import BUDGET_SECONDS, Rest, path_of

API_VERSION = "7.1"
PAGE = 100
MOST_PAGES = 50
"""A listing longer than this is refused: it is not the test repository that the allow-list should name."""
NO_COMMIT = "0" * 40
HEADS = "refs/heads/"


class AzureDevOpsClient:
    """`api_url` is the organisation's address (`https://dev.azure.com/{organisation}`, or a server's collection)."""

    def __init__(self, api_url: str, token: str, *, budget_s: float = BUDGET_SECONDS) -> None:
        self._rest = Rest(api_url, _authorization(token), {"Accept": "application/json"}, budget_s=budget_s)

    def close(self) -> None:
        self._rest.close()

    def repository_exists(self, repository: str) -> bool:
        return self._get(_repository(repository), accept=(404,)) is not None

    def get(self, repository: str, pull_request_id: str) -> HostedPullRequest | None:
        path = _repository(repository) + path_of("pullRequests", pull_request_id)
        body = self._get(path, accept=(404,))
        return None if body is None else _pull_request(repository, body, path)

    def changed_paths(self, repository: str, pull_request_id: str) -> tuple[str, ...]:
        pull = _repository(repository) + path_of("pullRequests", pull_request_id)
        iterations = _values(self._get(pull + "/iterations"), pull)
        if not iterations:
            return ()
        latest = str(max(int(iteration.get("id", 0)) for iteration in iterations))
        changes = pull + path_of("iterations", latest, "changes")
        found: set[str] = set()
        for skip in range(0, MOST_PAGES * PAGE, PAGE):
            body = self._get(changes, {"$top": str(PAGE), "$skip": str(skip)}) or {}
            entries = body.get("changeEntries")
            if not isinstance(entries, list):
                raise HostError(f"GET {changes}", "the answer has no list of changes")
            for entry in entries:
                found.update(_paths(entry))
            if len(entries) < PAGE:
                return tuple(sorted(found))
        raise HostError(f"GET {changes}", f"more than {MOST_PAGES * PAGE} changes")

    def created_since(self, repository: str, since: str) -> tuple[HostedPullRequest, ...]:
        from episodes.hosts.moments import seconds

        found = [pull for pull in self._all(repository, since) if seconds(pull.created_at) >= seconds(since)]
        return tuple(sorted(found, key=lambda pull: pull.created_at, reverse=True))

    def abandon(self, repository: str, pull_request_id: str) -> HostedPullRequest:
        path = _repository(repository) + path_of("pullRequests", pull_request_id)
        body = self._rest.call("PATCH", path, query=_version(), json={"status": "abandoned"}).body
        return _pull_request(repository, body, path)

    def delete_branch(self, repository: str, branch: str) -> bool:
        path = _repository(repository) + "/refs"
        # The filter is a prefix: `evals/a` finds `evals/ab` as well.
        listed = _values(self._get(path, {"filter": f"heads/{branch}"}), path)
        tips = [ref.get("objectId") for ref in listed if ref.get("name") == HEADS + branch]
        if not tips:
            return False
        update = {"name": HEADS + branch, "oldObjectId": tips[0], "newObjectId": NO_COMMIT}
        answer = self._rest.call("POST", path, query=_version(), json=[update]).body
        done = _values(answer, path)
        if not done or done[0].get("success") is not True:
            status = done[0].get("updateStatus", "unknown") if done else "no answer"
            raise HostError(f"POST {path}", f"the branch was not deleted: {status}")
        return True

    def _all(self, repository: str, since: str) -> Iterator[HostedPullRequest]:
        path = _repository(repository) + "/pullrequests"
        query = {
            "searchCriteria.status": "all",
            "searchCriteria.minTime": since,
            "searchCriteria.queryTimeRangeType": "created",
            "$top": str(PAGE),
        }
        for page in range(MOST_PAGES):
            entries = _values(self._get(path, {**query, "$skip": str(page * PAGE)}), path)
            for entry in entries:
                yield _pull_request(repository, entry, path)
            if len(entries) < PAGE:
                return
        raise HostError(f"GET {path}", f"more than {MOST_PAGES * PAGE} pull requests since {since}")

    def _get(self, path: str, query: dict[str, str] | None = None, accept: tuple[int, ...] = ()) -> Any:
        answer = self._rest.call("GET", path, query={**_version(), **(query or {})}, accept=accept)
        return None if answer.status in accept else answer.body


def _repository(repository: str) -> str:
    project, _, name = repository.partition("/")
    if not project or not name or "/" in name:
        raise HostError(f"repository {repository!r}", "Azure DevOps repositories are written project/repository")
    return path_of(project) + "/_apis/git/repositories" + path_of(name)


def _version() -> dict[str, str]:
    return {"api-version": API_VERSION}


def _authorization(token: str) -> str:
    """Entra ID gives JSON Web Tokens, which are sent as they are; a personal access token is a password."""
    if not token:
        return ""
    if token.count(".") == 2 and token.startswith("eyJ"):
        return f"Bearer {token}"
    return "Basic " + base64.b64encode(f":{token}".encode()).decode("ascii")


def _values(body: Any, path: str) -> list[dict[str, Any]]:
    values = body.get("value") if isinstance(body, dict) else None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise HostError(path, "the answer has no list of values")
    return values


def _pull_request(repository: str, body: Any, path: str) -> HostedPullRequest:
    try:
        status = body["status"]
        if status not in ("active", "abandoned", "completed"):
            raise HostError(path, f"unknown status {status!r}")
        source = (body.get("forkSource") or {}).get("repository")
        return HostedPullRequest(
            id=str(body["pullRequestId"]),
            url=_web_url(body),
            repository=repository,
            title=str(body.get("title", "")),
            status=cast(Status, status),
            source_branch=str(body["sourceRefName"]).removeprefix(HEADS),
            target_branch=str(body["targetRefName"]).removeprefix(HEADS),
            created_by=str((body.get("createdBy") or {}).get("uniqueName", "")),
            created_at=str(body.get("creationDate", "")),
            description=str(body.get("description") or ""),
            source_repository=str(source.get("id") or source.get("name") or "a fork") if source else repository,
        )
    except (KeyError, TypeError, AttributeError):
        raise HostError(path, "the answer is not a pull request") from None


def _web_url(body: Any) -> str:
    web = (body.get("repository") or {}).get("webUrl") or ""
    return f"{web}/pullrequest/{body['pullRequestId']}" if web else str(body.get("url", ""))


def _paths(entry: Any) -> set[str]:
    """A rename changes two paths."""
    if not isinstance(entry, dict):
        return set()
    item = entry.get("item")
    named = [item.get("path") if isinstance(item, dict) else None, entry.get("originalPath")]
    folder = isinstance(item, dict) and item.get("isFolder") is True
    return set() if folder else {path.lstrip("/") for path in named if isinstance(path, str) and path}
