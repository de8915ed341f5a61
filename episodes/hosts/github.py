"""GitHub and GitHub Enterprise, REST API of 2022-11-28. A repository is written `owner/repository`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from episodes.hosts import HostedPullRequest, HostError, Status
from episodes.hosts.rest import BUDGET_SECONDS, Rest, path_of

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
PAGE = "100"
MOST_PAGES = 50
"""A listing longer than this is refused: it is not the test repository that the allow-list should name."""


class GitHubClient:
    """`api_url` is `https://api.github.com`, or `https://{server}/api/v3` for GitHub Enterprise."""

    def __init__(self, api_url: str, token: str, *, budget_s: float = BUDGET_SECONDS) -> None:
        self._rest = Rest(api_url, f"Bearer {token}" if token else "", HEADERS, budget_s=budget_s)

    def close(self) -> None:
        self._rest.close()

    def repository_exists(self, repository: str) -> bool:
        return self._rest.call("GET", _repository(repository), accept=(404,)).status != 404

    def get(self, repository: str, pull_request_id: str) -> HostedPullRequest | None:
        path = _repository(repository) + path_of("pulls", pull_request_id)
        answer = self._rest.call("GET", path, accept=(404,))
        return None if answer.status == 404 else _pull_request(repository, answer.body, path)

    def changed_paths(self, repository: str, pull_request_id: str) -> tuple[str, ...]:
        found: set[str] = set()
        for entry in self._pages(_repository(repository) + path_of("pulls", pull_request_id, "files"), {}):
            # A rename changes two paths.
            found.update(entry[key] for key in ("filename", "previous_filename") if isinstance(entry.get(key), str))
        return tuple(sorted(found))

    def created_since(self, repository: str, since: str) -> tuple[HostedPullRequest, ...]:
        from episodes.hosts.moments import seconds

        path = _repository(repository) + "/pulls"
        found = []
        for entry in self._pages(path, {"state": "all", "sort": "created", "direction": "desc"}):
            pull = _pull_request(repository, entry, path)
            if seconds(pull.created_at) < seconds(since):
                break
            found.append(pull)
        return tuple(found)

    def abandon(self, repository: str, pull_request_id: str) -> HostedPullRequest:
        path = _repository(repository) + path_of("pulls", pull_request_id)
        return _pull_request(repository, self._rest.call("PATCH", path, json={"state": "closed"}).body, path)

    def delete_branch(self, repository: str, branch: str) -> bool:
        path = _repository(repository) + "/git/refs/heads/" + quote(branch, safe="/")
        answer = self._rest.call("DELETE", path, accept=(404, 422))
        if answer.status == 422 and "does not exist" not in str(answer.body):
            raise HostError(f"DELETE {path}", "422: the branch may not be deleted", 422)
        return answer.status < 300

    def _pages(self, path: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        answer = self._rest.call("GET", path, query={**query, "per_page": PAGE})
        for _ in range(MOST_PAGES):
            if not isinstance(answer.body, list) or not all(isinstance(entry, dict) for entry in answer.body):
                raise HostError(f"GET {path}", "the answer is not a list of objects")
            yield from answer.body
            if not answer.next_url:
                return
            answer = self._rest.call("GET", answer.next_url)
        raise HostError(f"GET {path}", f"more than {MOST_PAGES} pages")


def _repository(repository: str) -> str:
    owner, _, name = repository.partition("/")
    if not owner or not name or "/" in name:
        raise HostError(f"repository {repository!r}", "GitHub repositories are written owner/repository")
    return "/repos" + path_of(owner, name)


def _pull_request(repository: str, body: Any, path: str) -> HostedPullRequest:
    try:
        # A listing has only `merged_at`, a single pull request `merged` too.
        merged = bool(body.get("merged_at")) or body.get("merged") is True
        status: Status = "completed" if merged else "active" if body["state"] == "open" else "abandoned"
        head, base = body["head"], body["base"]
        return HostedPullRequest(
            id=str(body["number"]),
            url=str(body.get("html_url", "")),
            repository=repository,
            title=str(body.get("title", "")),
            status=status,
            source_branch=str(head["ref"]),
            target_branch=str(base["ref"]),
            created_by=str((body.get("user") or {}).get("login", "")),
            created_at=str(body.get("created_at", "")),
            description=str(body.get("body") or ""),
            # The repository of a head is null when the fork was deleted.
            source_repository=str((head.get("repo") or {}).get("full_name") or "a fork"),
        )
    except (KeyError, TypeError, AttributeError):
        raise HostError(path, "the answer is not a pull request") from None
