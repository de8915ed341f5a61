"""The decisions of one sweep: for each creation, is it proven ours, what is its state, and what is done about it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from episodes.cleanup_report import BranchOutcome, CleanupItem, Outcome
from episodes.creations import Creation, ProvenPullRequest
from episodes.hosts import HostedPullRequest, HostError, PullRequestClient, host_for
from episodes.hosts.moments import earlier, seconds
from episodes.pull_request_url import parse

if TYPE_CHECKING:
    from endpoints import PullRequestHost
    from episodes.sweep import SweepOptions

CLOCK_SKEW_SECONDS = 600.0
"""How far the host's clock and ours may be apart."""
SETTLE_SECONDS = 5.0
"""How long a host may go on with a request whose sender is gone."""
CUT_DESCRIPTION = 400
"""Characters at which listings of Azure DevOps cut a description."""


class Sweeper:
    """Handles creations against one host. A context manager, because it holds connections."""

    def __init__(self, find_host: Callable[[], PullRequestHost], options: SweepOptions) -> None:
        self._find_host = find_host
        self._options = options
        self._host: PullRequestHost | None = None
        self._client: PullRequestClient | None = None
        self._down = ""
        self._creators: set[str] = set()
        self._listed: dict[str, list[HostedPullRequest]] = {}
        self._since = ""

    def __enter__(self) -> Sweeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.close()

    def handle(self, creations: Sequence[Creation]) -> Iterable[tuple[Creation, list[CleanupItem]]]:
        """Clean up each creation; those with a proven pull request come first, because they show who our creator is."""
        self._listed = {}
        self._since = earlier(min((one.at for one in creations), default="", key=seconds), CLOCK_SKEW_SECONDS)
        for creation in sorted(creations, key=lambda one: one.pull_request is None):
            yield creation, self._handle(creation)

    def _handle(self, creation: Creation) -> list[CleanupItem]:
        try:
            host, client = self._connected()
            if self._down:
                return [_item(creation, Outcome.FAILED, self._down)]
            if creation.host != host.label:
                return [
                    _item(creation, Outcome.OTHER_HOST, f"created on {creation.host}, this run's host is {host.label}")
                ]
            if creation.pull_request is not None:
                return [self._proven(creation, creation.pull_request, host, client)]
            return self._looked_up(creation, host, client)
        except HostError as error:
            if error.status is None:
                self._down = str(error)
            return [_item(creation, Outcome.FAILED, str(error))]

    def _connected(self) -> tuple[PullRequestHost, PullRequestClient]:
        if self._host is None or self._client is None:
            try:
                self._host = self._find_host()
                self._client = host_for(self._host, budget_s=self._options.budget_s)
            except (OSError, RuntimeError, ValueError, ImportError) as error:
                raise HostError("the pull-request host", str(error)) from error
        return self._host, self._client

    def _proven(
        self, creation: Creation, named: ProvenPullRequest, host: PullRequestHost, client: PullRequestClient
    ) -> CleanupItem:
        repository = allowed_repository(named.repository, named.url, host.repositories)
        if repository is None:
            listed = ", ".join(host.repositories) or "empty"
            return _item(creation, Outcome.NOT_ALLOWED, f"EVALS_REPOSITORIES is {listed}")
        live = client.get(repository, named.id)
        if live is None:
            if client.repository_exists(repository):
                return _item(creation, Outcome.GONE)
            return _item(creation, Outcome.FAILED, f"the token does not see the repository {repository}")
        difference = _difference(creation, named, live)
        if difference:
            return _item(creation, Outcome.NOT_OURS, difference)
        self._creators.add(live.created_by)
        return self._close(creation, live, client)

    def _looked_up(self, creation: Creation, host: PullRequestHost, client: PullRequestClient) -> list[CleanupItem]:
        if not creation.marker:
            return [_item(creation, *_without_marker(creation))]
        found = [pull for repository in host.repositories for pull in self._carrying(creation, repository, client)]
        if found:
            return [self._claimed(creation, pull, client) for pull in found]
        if not creation.result_at and creation.writer_alive:
            return [_item(creation, Outcome.IN_FLIGHT, f"process {creation.pid} may still be waiting for its answer")]
        age = dt.datetime.now(dt.UTC).timestamp() - seconds(creation.result_at or creation.at)
        if not creation.answered and age < SETTLE_SECONDS:
            return [_item(creation, Outcome.IN_FLIGHT, "the call was cut off a moment ago")]
        return [_item(creation, Outcome.NOTHING_CREATED, creation.problem)]

    def _carrying(self, creation: Creation, repository: str, client: PullRequestClient) -> Iterable[HostedPullRequest]:
        """The pull requests of a repository that carry the marker: in the branch, else in the description."""
        if repository not in self._listed:
            self._listed[repository] = list(client.created_since(repository, self._since))
        listed = self._listed[repository]
        by_branch = [pull for pull in listed if pull.source_branch.startswith(creation.marker)]
        return by_branch or [
            pull
            for place in range(len(listed))
            if creation.marker in (pull := self._whole(listed, place, client)).description.split()
        ]

    @staticmethod
    def _whole(listed: list[HostedPullRequest], place: int, client: PullRequestClient) -> HostedPullRequest:
        """One of the listed, with its whole description, asked for once. Nobody needs to clean up an abandoned one."""
        pull = listed[place]
        if len(pull.description) == CUT_DESCRIPTION and pull.status != "abandoned":
            listed[place] = client.get(pull.repository, pull.id) or pull
        return listed[place]

    def _claimed(self, creation: Creation, pull: HostedPullRequest, client: PullRequestClient) -> CleanupItem:
        """Close a pull request that carries our marker, unless who made it, or when, speaks against it."""
        if seconds(pull.created_at) < seconds(creation.at) - CLOCK_SKEW_SECONDS:
            return _item(creation, Outcome.UNPROVEN, "it carries our marker, but is older than our call", pull)
        if self._creators and pull.created_by not in self._creators:
            return _item(creation, Outcome.UNPROVEN, f"it carries our marker, but {pull.created_by} made it", pull)
        if not self._creators and not pull.source_branch.startswith(creation.marker):
            # Anybody can copy a description; a branch name is chosen once.
            return _item(creation, Outcome.UNPROVEN, "only its description carries our marker", pull)
        return self._close(creation, pull, client)

    def _close(self, creation: Creation, live: HostedPullRequest, client: PullRequestClient) -> CleanupItem:
        if live.status == "completed":
            return _item(creation, Outcome.COMPLETED, f"merged into {live.target_branch}; not touched", live)
        if self._options.dry_run:
            outcome = Outcome.WOULD_ABANDON if live.status == "active" else Outcome.ALREADY_ABANDONED
            return _item(creation, outcome, "", live)
        outcome = Outcome.ALREADY_ABANDONED
        if live.status == "active":
            try:
                after = client.abandon(live.repository, live.id)
            except HostError:
                # Somebody may have closed or merged it since we looked.
                again = client.get(live.repository, live.id)
                if again is None or again.status == "active":
                    raise
                return self._close(creation, again, client)
            if after.status != "abandoned":
                return _item(creation, Outcome.FAILED, f"the host still says {after.status}", live)
            outcome = Outcome.ABANDONED
        branch, detail = self._branch(creation, live, client)
        return _item(creation, outcome, detail, live, branch)

    def _branch(
        self, creation: Creation, live: HostedPullRequest, client: PullRequestClient
    ) -> tuple[BranchOutcome, str]:
        """Delete the source branch when its name proves that the call made it."""
        ours = bool(creation.marker) and live.source_branch.startswith(creation.marker)
        here = live.source_repository.casefold() == live.repository.casefold()
        if not (self._options.delete_branches and ours and here):
            return "kept", ""
        try:
            return ("deleted" if client.delete_branch(live.repository, live.source_branch) else "absent"), ""
        except HostError as error:
            return "failed", str(error)


def allowed_repository(repository: str, url: str, allow_list: Sequence[str]) -> str | None:
    """The allow-list's spelling of a repository; None when it is not listed.

    A tool may name the repository without its project or owner; the pull request's address then says the rest.
    """
    name = repository
    if "/" not in name:
        parsed = parse(url)
        if parsed is None or parsed.repository.casefold() != name.casefold():
            return None
        name = f"{parsed.owner[-1]}/{parsed.repository}"
    return next((listed for listed in allow_list if listed.casefold() == name.casefold()), None)


def _difference(creation: Creation, named: ProvenPullRequest, live: HostedPullRequest) -> str:
    """Why the host's pull request is not the one that the call created; empty when it is."""
    branch = named.source_branch.removeprefix("refs/heads/")
    if branch and branch != live.source_branch:
        return f"its source branch is {live.source_branch}, ours was {branch}"
    if creation.marker and live.source_branch.startswith(creation.marker):
        return ""
    if seconds(live.created_at) < seconds(creation.at) - CLOCK_SKEW_SECONDS:
        return f"it was there before our call (since {live.created_at})"
    return ""


def _without_marker(creation: Creation) -> tuple[Outcome, str]:
    if creation.answered and creation.problem:
        return Outcome.NOTHING_CREATED, creation.problem
    if not creation.result_at and creation.writer_alive:
        return Outcome.IN_FLIGHT, f"process {creation.pid} may still be waiting for its answer"
    return Outcome.UNPROVEN, f"{creation.tool or 'the tool'} was called at {creation.at}, and it takes no marker"


def _item(
    creation: Creation,
    outcome: Outcome,
    detail: str = "",
    live: HostedPullRequest | None = None,
    branch: BranchOutcome = "",
) -> CleanupItem:
    named = creation.pull_request
    if live is not None:
        repository, number, url = live.repository, live.id, (named.url if named else "") or live.url
    elif named is not None:
        repository, number, url = named.repository, named.id, named.url
    else:
        repository, number, url = "", "", ""
    return CleanupItem(
        run_id=creation.run_id,
        step_id=creation.step_id,
        intent_id=creation.intent_id,
        tool=creation.tool,
        repository=repository,
        id=number,
        url=url,
        outcome=outcome,
        detail=detail,
        branch=branch,
    )
