"""Our Azure DevOps client against the local portal, on which Microsoft's own client makes the pull requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import PullRequestHost
from episodes.cleanup_report import Outcome
from episodes.hosts import HostError, host_for
from episodes.hosts.azure_devops import AzureDevOpsClient
from episodes.hosts.moments import earlier
from episodes.ledger import Ledger, now
from episodes.record import PullRequest
from episodes.sweep import sweep
from tests.support.portal_process import FULL_NAME, PortalProcess, portal_process


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortalProcess]:
    with portal_process(tmp_path_factory.mktemp("portal")) as process:
        yield process


@pytest.fixture
def client(portal: PortalProcess) -> Iterator[AzureDevOpsClient]:
    client = AzureDevOpsClient(portal.api_url, portal.service_token)
    yield client
    client.close()


def _host(portal: PortalProcess) -> PullRequestHost:
    return PullRequestHost("azure_devops", portal.api_url, (FULL_NAME,), portal.service_token, "local")


def test_a_pull_request_is_read_with_its_branches_and_its_creator(
    portal: PortalProcess, client: AzureDevOpsClient
) -> None:
    number = portal.open_pull("evals/read/x", title="Copy a spoke", description="By a test")

    pull = client.get(FULL_NAME, number)
    assert pull is not None
    assert (pull.id, pull.status, pull.source_branch, pull.target_branch) == (number, "active", "evals/read/x", "main")
    assert (pull.title, pull.description, pull.repository) == ("Copy a spoke", "By a test", FULL_NAME)
    assert pull.url == f"{portal.api_url}/platform/_git/spokes/pullrequest/{number}"
    assert pull.created_by
    assert pull.source_repository == FULL_NAME


def test_what_is_not_there_is_none(client: AzureDevOpsClient) -> None:
    assert client.get(FULL_NAME, "999999") is None
    assert client.repository_exists(FULL_NAME)
    assert not client.repository_exists("platform/other")


def test_changed_paths_are_those_of_the_pull_request(portal: PortalProcess, client: AzureDevOpsClient) -> None:
    number = portal.open_pull("evals/paths/x", path="notes/a b.md")
    assert client.changed_paths(FULL_NAME, number) == ("notes/a b.md",)


def test_abandoning_can_be_repeated(portal: PortalProcess, client: AzureDevOpsClient) -> None:
    number = portal.open_pull("evals/abandon/x")

    assert client.abandon(FULL_NAME, number).status == "abandoned"
    assert client.abandon(FULL_NAME, number).status == "abandoned"
    assert portal.status(number) == "abandoned"


def test_a_merged_pull_request_can_not_be_abandoned(portal: PortalProcess, client: AzureDevOpsClient) -> None:
    number = portal.open_pull("evals/merged/x", path="notes/merged.md")
    portal.complete(number)

    with pytest.raises(HostError):
        client.abandon(FULL_NAME, number)
    pull = client.get(FULL_NAME, number)
    assert pull is not None
    assert pull.status == "completed"


def test_only_the_branch_of_that_exact_name_is_deleted(portal: PortalProcess, client: AzureDevOpsClient) -> None:
    for branch in ("evals/delete", "evals/delete-not"):
        portal.open_pull(branch)

    assert client.delete_branch(FULL_NAME, "evals/delete")
    assert not client.delete_branch(FULL_NAME, "evals/delete")
    assert "evals/delete-not" in portal.branches()


def test_a_listing_ends_at_the_asked_time_and_has_every_status(
    portal: PortalProcess, client: AzureDevOpsClient
) -> None:
    numbers = [portal.open_pull(f"evals/list/{index}") for index in range(3)]
    client.abandon(FULL_NAME, numbers[1])

    listed = {pull.id: pull.status for pull in client.created_since(FULL_NAME, earlier(now(), 3600))}
    assert [listed[number] for number in numbers] == ["active", "abandoned", "active"]
    assert client.created_since(FULL_NAME, "2999-01-01T00:00:00Z") == ()


def test_a_wrong_token_is_named_and_not_shown(portal: PortalProcess) -> None:
    client = AzureDevOpsClient(portal.api_url, "hunter2-hunter2")
    with pytest.raises(HostError, match="the token is missing, wrong or expired") as caught:
        client.get(FULL_NAME, "1")
    assert "hunter2" not in str(caught.value)
    client.close()


@pytest.mark.parametrize("name", ["spokes", "a/b/c", "/spokes", "platform/"])
def test_a_repository_without_a_project_is_refused(client: AzureDevOpsClient, name: str) -> None:
    with pytest.raises(HostError, match="project/repository"):
        client.get(name, "1")


def test_a_host_is_chosen_by_its_kind(portal: PortalProcess) -> None:
    client = host_for(_host(portal))
    assert isinstance(client, AzureDevOpsClient)
    client.close()


def test_a_sweep_abandons_and_deletes_what_the_ledger_proves(portal: PortalProcess, tmp_path: Path) -> None:
    ours, theirs = portal.open_pull("evals/sweep/x"), portal.open_pull("human/sweep")
    ledger = Ledger.open(tmp_path, "E1", "local")
    ledger.intent("step", "call", "portal", "create_spoke_pull_request", "evals/sweep")
    url = f"{portal.api_url}/platform/_git/spokes/pullrequest/{ours}"
    ledger.result("step", "call", PullRequest(url, ours, "spokes", "evals/sweep/x", "active"))

    (item,) = sweep(tmp_path, "E1", lambda: _host(portal)).items
    assert (item.id, item.outcome, item.branch, item.repository) == (ours, Outcome.ABANDONED, "deleted", FULL_NAME)
    assert (portal.status(ours), portal.status(theirs)) == ("abandoned", "active")
    assert "evals/sweep/x" not in portal.branches()


def test_a_sweep_finds_a_lost_answer_by_the_branch_or_the_end_of_a_long_description(
    portal: PortalProcess, tmp_path: Path
) -> None:
    by_branch = portal.open_pull("evals/lost1/x")
    by_text = portal.open_pull("spokes/lost", description="long " * 200 + "\n\nevals/lost2")
    ledger = Ledger.open(tmp_path, "E1", "local")
    ledger.intent("step", "call-1", "portal", "create", "evals/lost1")
    ledger.result("step", "call-1", None, "no answer", answered=False)
    ledger.intent("step", "call-2", "portal", "create", "evals/lost2")
    ledger.result("step", "call-2", None, "no answer", answered=False)
    # Who our creator is shows a pull request that is proven.
    proven = portal.open_pull("evals/lost3/x")
    ledger.intent("step", "call-3", "portal", "create", "evals/lost3")
    ledger.result("step", "call-3", PullRequest("u", proven, FULL_NAME, "evals/lost3/x", "active"))

    report = sweep(tmp_path, "E1", lambda: _host(portal))
    assert {item.id: item.outcome for item in report.items} == dict.fromkeys(
        [by_branch, by_text, proven], Outcome.ABANDONED
    )
    assert "spokes/lost" in portal.branches()
