"""What do we ask of a service that keeps pull requests? One small protocol; each service is one module beside this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from episodes.frozen import frozen

if TYPE_CHECKING:
    from endpoints import PullRequestHost

Status = Literal["active", "abandoned", "completed"]
"""`abandoned` is GitHub's "closed without merge", `completed` its "merged"."""


class HostError(RuntimeError):
    """The host did not do what was asked. The text says what was asked and what it answered, and holds no secret."""

    def __init__(self, what: str, problem: str, status: int | None = None) -> None:
        super().__init__(f"{what}: {problem}")
        self.what = what
        self.problem = problem
        self.status = status
        """The HTTP status, or None when no answer came."""


@frozen
class HostedPullRequest:
    """A pull request as its host describes it now. `repository` is written as the allow-list writes it."""

    id: str
    url: str
    repository: str
    title: str
    status: Status
    source_branch: str
    """Short name, without `refs/heads/`."""
    target_branch: str
    created_by: str
    """The host's name for the creator: a unique name (Azure DevOps) or a login (GitHub)."""
    created_at: str
    """ISO 8601 with an offset."""
    description: str = ""
    source_repository: str = ""
    """Where the source branch lives; another repository than `repository` when the pull request comes from a fork."""


class PullRequestClient(Protocol):
    """One host. Every method raises HostError; none prints. Not for use by several threads at once."""

    def repository_exists(self, repository: str) -> bool:
        """Whether this token can see the repository at all."""
        ...

    def get(self, repository: str, pull_request_id: str) -> HostedPullRequest | None:
        """The pull request, or None when this repository has none of that id."""
        ...

    def changed_paths(self, repository: str, pull_request_id: str) -> tuple[str, ...]:
        """Paths that the pull request changes, without a leading slash, sorted, each once."""
        ...

    def created_since(self, repository: str, since: str) -> tuple[HostedPullRequest, ...]:
        """Pull requests of any status that were created at or after `since` (ISO 8601), newest first.

        `description` may be cut short in a listing; `get` has the whole of it.
        """
        ...

    def abandon(self, repository: str, pull_request_id: str) -> HostedPullRequest:
        """Close the pull request without merging it, and return what it is now."""
        ...

    def delete_branch(self, repository: str, branch: str) -> bool:
        """Delete a branch. False when it was already gone."""
        ...

    def close(self) -> None:
        """Give back the connections."""
        ...


def host_for(host: PullRequestHost, *, budget_s: float = 60.0) -> PullRequestClient:
    """The client for a resolved host. May import `requests`, so call it only when there is something to ask.

    `budget_s` bounds all its requests together, waiting included: a hook must end, whatever the host does.
    """
    if host.kind == "github":
        from episodes.hosts.github import GitHubClient

        return GitHubClient(host.api_url, host.token, budget_s=budget_s)
    from episodes.hosts.azure_devops import AzureDevOpsClient

    return AzureDevOpsClient(host.api_url, host.token, budget_s=budget_s)


__all__ = ["HostError", "HostedPullRequest", "PullRequestClient", "Status", "host_for"]
