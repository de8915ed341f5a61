"""Our GitHub client against a server that PyGithub, GitHub's best-known Python client, works on as well."""

from __future__ import annotations

from collections.abc import Iterator

import github
import pytest
from github import Auth, Github

from episodes.hosts import HostError
from episodes.hosts.github import GitHubClient
from tests.support.github_server import REPOSITORY, TOKEN, GitHub, github_server


@pytest.fixture
def server() -> Iterator[GitHub]:
    with github_server() as state:
        yield state


@pytest.fixture
def client(server: GitHub) -> Iterator[GitHubClient]:
    client = GitHubClient(server.url, TOKEN)
    yield client
    client.close()


def test_the_server_is_one_that_pygithub_can_use(server: GitHub) -> None:
    server.branches["evals/a/x"] = "2" * 40
    pygithub = Github(
        base_url=server.url, auth=Auth.Token(TOKEN), seconds_between_requests=0, seconds_between_writes=0, retry=None
    )
    repository = pygithub.get_repo(REPOSITORY)
    pull = repository.create_pull(base="main", head="evals/a/x", title="A spoke")
    assert (pull.state, pull.merged, pull.head.ref) == ("open", False, "evals/a/x")
    pull.edit(state="closed")
    assert [one.number for one in repository.get_pulls(state="closed")] == [pull.number]
    repository.get_git_ref("heads/evals/a/x").delete()
    with pytest.raises(github.UnknownObjectException):
        repository.get_git_ref("heads/evals/a/x")
    pygithub.close()


def test_a_pull_request_is_read_with_its_branches_and_its_creator(server: GitHub, client: GitHubClient) -> None:
    server.open_pull(41, "evals/a/x", title="Copy a spoke", user="portal", body="evals/a")

    pull = client.get(REPOSITORY, "41")
    assert pull is not None
    assert (pull.id, pull.status, pull.source_branch, pull.target_branch) == ("41", "active", "evals/a/x", "main")
    assert (pull.title, pull.created_by, pull.description) == ("Copy a spoke", "portal", "evals/a")
    assert pull.url.endswith("/landing-zones/spokes/pull/41")
    assert pull.source_repository == REPOSITORY


def test_what_is_not_there_is_none(client: GitHubClient) -> None:
    assert client.get(REPOSITORY, "41") is None
    assert client.repository_exists(REPOSITORY)
    assert not client.repository_exists("landing-zones/other")


def test_a_merged_pull_request_is_completed_in_a_listing_too(server: GitHub, client: GitHubClient) -> None:
    pull = server.open_pull(41, "evals/a/x")
    pull.state, pull.merged_at = "closed", "2026-03-01T11:00:00Z"

    single = client.get(REPOSITORY, "41")
    assert single is not None
    assert single.status == "completed"
    assert [one.status for one in client.created_since(REPOSITORY, "2026-01-01T00:00:00Z")] == ["completed"]


def test_abandoning_closes_and_can_be_repeated(server: GitHub, client: GitHubClient) -> None:
    server.open_pull(41, "evals/a/x")

    assert client.abandon(REPOSITORY, "41").status == "abandoned"
    assert client.abandon(REPOSITORY, "41").status == "abandoned"
    assert server.pulls[41].state == "closed"


def test_a_branch_is_deleted_once(server: GitHub, client: GitHubClient) -> None:
    server.open_pull(41, "evals/a/x y")

    assert client.delete_branch(REPOSITORY, "evals/a/x y")
    assert not client.delete_branch(REPOSITORY, "evals/a/x y")
    assert list(server.branches) == ["main"]


def test_all_pages_are_read_up_to_the_asked_time(server: GitHub, client: GitHubClient) -> None:
    for number in range(1, 251):
        server.open_pull(number, f"b{number}", created_at=f"2026-03-01T{number // 60:02d}:{number % 60:02d}:00Z")

    found = client.created_since(REPOSITORY, "2026-03-01T00:30:00Z")
    assert [pull.id for pull in found] == [str(number) for number in range(250, 29, -1)]
    assert sum("page=" in line and "&page=" in line for line in server.requests) == 2


def test_changed_paths_name_both_sides_of_a_rename(server: GitHub, client: GitHubClient) -> None:
    files = ({"filename": "spokes/b.json", "previous_filename": "spokes/a.json"}, {"filename": "README.md"})
    server.open_pull(41, "evals/a/x", files=files)

    assert client.changed_paths(REPOSITORY, "41") == ("README.md", "spokes/a.json", "spokes/b.json")


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (500, {}),
        (502, {}),
        (429, {"Retry-After": "0"}),
        (403, {"Retry-After": "0"}),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}),
    ],
)
def test_what_passes_is_asked_again(server: GitHub, client: GitHubClient, status: int, headers: dict[str, str]) -> None:
    server.open_pull(41, "evals/a/x")
    server.answers_ahead = [(status, headers)]

    assert client.get(REPOSITORY, "41") is not None
    assert len(server.requests) == 2


def test_a_refusal_is_not_asked_again(server: GitHub, client: GitHubClient) -> None:
    server.answers_ahead = [(403, {})]

    with pytest.raises(HostError, match="403: asked for by the test") as caught:
        client.get(REPOSITORY, "41")
    assert caught.value.status == 403
    assert len(server.requests) == 1


def test_a_wait_longer_than_the_budget_is_not_begun(server: GitHub) -> None:
    server.answers_ahead = [(429, {"Retry-After": "20"})]
    client = GitHubClient(server.url, TOKEN, budget_s=5)

    with pytest.raises(HostError, match="out of time; asked to wait"):
        client.get(REPOSITORY, "41")
    client.close()


def test_errors_do_not_hold_the_token(server: GitHub) -> None:
    client = GitHubClient(server.url, "hunter2-hunter2")
    with pytest.raises(HostError, match="the token is missing, wrong or expired") as caught:
        client.get(REPOSITORY, "41")
    error: BaseException | None = caught.value
    while error is not None:
        assert "hunter2" not in repr(error)
        error = error.__cause__ or error.__context__
    client.close()


def test_no_answer_at_all_is_an_error_without_an_address() -> None:
    client = GitHubClient("http://127.0.0.1:9/api/v3", TOKEN, budget_s=1)
    with pytest.raises(HostError, match="no answer") as caught:
        client.get(REPOSITORY, "41")
    assert caught.value.status is None
    client.close()


def test_a_redirect_is_not_followed(server: GitHub, client: GitHubClient) -> None:
    server.answers_ahead = [(302, {"Location": "https://example.org/sign-in"})]
    with pytest.raises(HostError, match="302"):
        client.get(REPOSITORY, "41")


def test_the_next_page_must_be_on_the_same_host(server: GitHub, client: GitHubClient) -> None:
    server.next_page = "http://127.0.0.1:9/steal"
    with pytest.raises(HostError, match="leads to another host"):
        client.created_since(REPOSITORY, "2026-01-01T00:00:00Z")


@pytest.mark.parametrize("name", ["spokes", "a/b/c", "/spokes", "a/"])
def test_a_repository_without_an_owner_is_refused(client: GitHubClient, name: str) -> None:
    with pytest.raises(HostError, match="owner/repository"):
        client.get(name, "41")
