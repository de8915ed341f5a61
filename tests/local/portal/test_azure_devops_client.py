"""The official client of Azure DevOps on the portal: everything that this project's own client relies on, and more."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any

import pytest
from msrest.authentication import BasicAuthentication, BasicTokenAuthentication

from local.portal.identity import PORTAL, SERVICE
from tests.local.portal.official_client import connection, failure, models, service_error
from tests.support.portal_process import FULL_NAME, PROJECT, REPOSITORY, PortalProcess

NO_COMMIT = "0" * 40
BRANCHES = itertools.count(1)


@pytest.fixture
def git(portal: PortalProcess) -> Any:
    return portal.git()


@pytest.fixture
def branch() -> str:
    """A branch name that no other test uses."""
    return f"client/{next(BRANCHES)}"


def pull(git: Any, number: str) -> Any:
    return git.get_pull_request(REPOSITORY, int(number), project=PROJECT)


def refused() -> Any:
    return pytest.raises(service_error())


def test_a_pull_request_is_created_read_abandoned_and_its_branch_deleted(
    portal: PortalProcess, git: Any, branch: str
) -> None:
    number = portal.open_pull(branch, title="By the client", description="Why")
    read = pull(git, number)
    assert (read.title, read.description, read.status) == ("By the client", "Why", "active")
    assert (read.source_ref_name, read.target_ref_name) == (f"refs/heads/{branch}", "refs/heads/main")
    assert (read.merge_status, read.is_draft, read.supports_iterations) == ("succeeded", False, True)
    assert read.created_by.unique_name == SERVICE.unique_name
    assert read.repository.name == REPOSITORY
    assert read.repository.project.name == PROJECT
    assert abs(dt.datetime.now(dt.UTC) - read.creation_date) < dt.timedelta(minutes=5)
    assert read.closed_date is None

    update = models().GitPullRequest(status="abandoned")
    abandoned = git.update_pull_request(update, REPOSITORY, int(number), project=PROJECT)
    assert abandoned.status == "abandoned"
    assert abandoned.closed_by.unique_name == SERVICE.unique_name
    assert abandoned.closed_date >= abandoned.creation_date

    [ref] = git.get_refs(REPOSITORY, project=PROJECT, filter=f"heads/{branch}")
    gone = models().GitRefUpdate(name=ref.name, old_object_id=ref.object_id, new_object_id=NO_COMMIT)
    [result] = git.update_refs([gone], REPOSITORY, project=PROJECT)
    assert (result.success, result.update_status) == (True, "succeeded")
    assert git.get_refs(REPOSITORY, project=PROJECT, filter=f"heads/{branch}") == []
    assert pull(git, number).status == "abandoned"


def test_a_pull_request_is_found_by_its_number_alone(portal: PortalProcess, git: Any, branch: str) -> None:
    number = portal.open_pull(branch)
    for project in (None, PROJECT):
        assert str(git.get_pull_request_by_id(int(number), project=project).pull_request_id) == number


def test_the_paths_that_a_pull_request_changes_are_read(portal: PortalProcess, git: Any, branch: str) -> None:
    number = portal.open_pull(branch, path="spokes/spoke-client-dev.json")
    [iteration] = git.get_pull_request_iterations(REPOSITORY, int(number), project=PROJECT)
    assert iteration.id == 1
    changes = git.get_pull_request_iteration_changes(REPOSITORY, int(number), iteration.id, project=PROJECT)
    [entry] = changes.change_entries
    item = entry.additional_properties["item"]
    assert (item["path"], entry.additional_properties["changeType"]) == ("/spokes/spoke-client-dev.json", "add")
    assert git.get_pull_request_iteration(REPOSITORY, int(number), 1, project=PROJECT).id == 1
    assert (
        git.get_pull_request_iteration_changes(REPOSITORY, int(number), 1, project=PROJECT, compare_to=1).change_entries
        == []
    )
    [commit] = git.get_pull_request_commits(REPOSITORY, int(number), project=PROJECT)
    assert commit.commit_id == iteration.source_ref_commit.commit_id
    assert commit.comment == "Test"


def test_differences_between_two_branches_are_read(portal: PortalProcess, git: Any, branch: str) -> None:
    portal.open_pull(branch, path="notes/difference.md")
    diffs = git.get_commit_diffs(
        REPOSITORY,
        project=PROJECT,
        diff_common_commit=True,
        base_version_descriptor=models().GitBaseVersionDescriptor(base_version="main", base_version_type="branch"),
        target_version_descriptor=models().GitTargetVersionDescriptor(
            target_version=branch, target_version_type="branch"
        ),
    )
    assert [change["item"]["path"] for change in diffs.changes] == ["/notes/difference.md"]
    assert diffs.change_counts == {"Add": 1}
    assert diffs.all_changes_included


def test_a_file_is_read_at_a_branch(portal: PortalProcess, git: Any, branch: str) -> None:
    portal.open_pull(branch, path="notes/file.md")
    at = models().GitVersionDescriptor(version=branch, version_type="branch")
    content = b"".join(git.get_item_content(REPOSITORY, "/notes/file.md", project=PROJECT, version_descriptor=at))
    assert content == branch.encode()
    item = git.get_item(REPOSITORY, "notes/file.md", project=PROJECT, version_descriptor=at, include_content=True)
    assert (item.path, item.content) == ("/notes/file.md", branch)
    with refused() as caught:
        git.get_item(REPOSITORY, "/notes/file.md", project=PROJECT)
    assert failure(caught) == ("GitItemNotFoundException", "TF401174")
    with refused() as caught:
        wrong = models().GitVersionDescriptor(version="none", version_type="branch")
        git.get_item(REPOSITORY, "/notes/file.md", project=PROJECT, version_descriptor=wrong)
    assert failure(caught) == ("GitUnresolvableToCommitException", "TF401175")


def test_the_files_of_a_folder_are_listed(git: Any) -> None:
    items = git.get_items(REPOSITORY, project=PROJECT, scope_path="/spokes", recursion_level="oneLevel")
    paths = [item.path for item in items]
    assert paths[0] == "/spokes"
    assert items[0].is_folder
    assert "/spokes/spoke-crm-prod.json" in paths
    everything = git.get_items(REPOSITORY, project=PROJECT, scope_path="/", recursion_level="full")
    assert set(paths) <= {item.path for item in everything}


def test_commits_are_read(portal: PortalProcess, git: Any, branch: str) -> None:
    number = portal.open_pull(branch)
    commit_id = pull(git, number).last_merge_source_commit.commit_id
    commit = git.get_commit(commit_id, REPOSITORY, project=PROJECT)
    assert commit.author.email == SERVICE.unique_name
    [seed] = git.get_commits(REPOSITORY, None, project=PROJECT)
    assert seed.comment == "Seed the spokes"
    assert commit.parents == [seed.commit_id]


def test_pull_requests_are_listed_by_what_is_asked(portal: PortalProcess, git: Any) -> None:
    names = [f"listed/{next(BRANCHES)}" for _ in range(4)]
    numbers = [int(portal.open_pull(name)) for name in names]
    git.update_pull_request(models().GitPullRequest(status="abandoned"), REPOSITORY, numbers[0], project=PROJECT)

    def listed(skip: int | None = None, top: int | None = None, **criteria: str) -> list[int]:
        wanted = models().GitPullRequestSearchCriteria(**criteria)
        found = git.get_pull_requests(REPOSITORY, wanted, project=PROJECT, skip=skip, top=top)
        return [one.pull_request_id for one in found if one.pull_request_id in numbers]

    newest_first = numbers[::-1]
    assert listed(status="all") == newest_first
    assert listed() == newest_first[:3], "without a status, the active ones"
    assert listed(status="active") == newest_first[:3]
    assert listed(status="abandoned") == numbers[:1]
    assert listed(status="completed") == []
    assert listed(status="all", source_ref_name=f"refs/heads/{names[2]}") == [numbers[2]]
    assert listed(status="all", target_ref_name="refs/heads/none") == []
    assert listed(status="all", creator_id=SERVICE.id) == newest_first
    assert listed(status="all", creator_id=PORTAL.id) == []
    assert listed(status="all", creator_id="nobody") == []
    assert listed(status="all", reviewer_id=SERVICE.id) == []
    assert listed(status="all", repository_id=NO_COMMIT) == []

    everything = models().GitPullRequestSearchCriteria(status="all")
    pages = [
        [
            one.pull_request_id
            for one in git.get_pull_requests(REPOSITORY, everything, project=PROJECT, skip=skip, top=2)
        ]
        for skip in (0, 2)
    ]
    assert pages == [newest_first[:2], newest_first[2:]]
    by_project = git.get_pull_requests_by_project(PROJECT, everything, top=1)
    assert [one.pull_request_id for one in by_project] == [numbers[3]]


def test_a_second_open_pull_request_of_the_same_branches_is_a_conflict(
    portal: PortalProcess, git: Any, branch: str
) -> None:
    portal.open_pull(branch)
    again = models().GitPullRequest(
        source_ref_name=f"refs/heads/{branch}", target_ref_name="refs/heads/main", title="Again"
    )
    with refused() as caught:
        git.create_pull_request(again, REPOSITORY, project=PROJECT)
    assert failure(caught) == ("GitPullRequestExistsException", "TF401179")


def test_a_pull_request_needs_two_branches_that_exist(git: Any) -> None:
    for source, target in (("none", "main"), ("main", "none")):
        wanted = models().GitPullRequest(
            source_ref_name=f"refs/heads/{source}", target_ref_name=f"refs/heads/{target}", title="Nowhere"
        )
        with refused() as caught:
            git.create_pull_request(wanted, REPOSITORY, project=PROJECT)
        assert failure(caught) == ("GitPullRequestCannotBeActivated", "TF401398")


def test_an_abandoned_one_is_opened_again(portal: PortalProcess, git: Any, branch: str) -> None:
    number = int(portal.open_pull(branch))
    for status in ("abandoned", "abandoned", "active", "active"):
        updated = git.update_pull_request(models().GitPullRequest(status=status), REPOSITORY, number, project=PROJECT)
        assert updated.status == status
    assert updated.closed_date is None


def test_title_and_description_are_updated(portal: PortalProcess, git: Any, branch: str) -> None:
    number = int(portal.open_pull(branch))
    update = models().GitPullRequest(title="Better", description="Longer")
    git.update_pull_request(update, REPOSITORY, number, project=PROJECT)
    assert (pull(git, str(number)).title, pull(git, str(number)).description) == ("Better", "Longer")


def test_what_can_not_be_updated_is_refused(portal: PortalProcess, git: Any, branch: str) -> None:
    number = int(portal.open_pull(branch))
    for update in (
        models().GitPullRequest(source_ref_name="refs/heads/main"),
        models().GitPullRequest(status="merged"),
        models().GitPullRequest(title="x" * 401),
        models().GitPullRequest(description="x" * 4001),
    ):
        with refused() as caught:
            git.update_pull_request(update, REPOSITORY, number, project=PROJECT)
        assert caught.value.type_key == "InvalidArgumentValueException"
    assert pull(git, str(number)).status == "active"


def test_unknown_numbers_repositories_and_projects_are_not_found(git: Any) -> None:
    with refused() as caught:
        pull(git, "999999")
    assert failure(caught) == ("GitPullRequestNotFoundException", "TF401180")
    with refused() as caught:
        git.get_pull_request_by_id(999999)
    assert failure(caught) == ("GitPullRequestNotFoundException", "TF401180")
    with refused() as caught:
        git.get_pull_request("other", 1, project=PROJECT)
    assert failure(caught) == ("GitRepositoryNotFoundException", "TF401019")
    with refused() as caught:
        git.get_pull_request(REPOSITORY, 1, project="Other")
    assert failure(caught) == ("ProjectDoesNotExistWithNameException", "TF200016")


def test_the_repository_is_found_by_name_and_by_id(git: Any) -> None:
    [listed] = git.get_repositories(project=PROJECT)
    assert f"{listed.project.name}/{listed.name}" == FULL_NAME
    assert listed.default_branch == "refs/heads/main"
    for key in (listed.id, listed.name, listed.name.upper()):
        assert git.get_repository(key, project=PROJECT.upper()).id == listed.id
    assert git.get_repository(listed.id).id == listed.id


def test_branches_move_only_from_where_they_are(portal: PortalProcess, git: Any, branch: str) -> None:
    main = git.get_refs(REPOSITORY, project=PROJECT, filter="heads/main")[0].object_id

    def moved(name: str, old: str, new: str) -> str:
        update = models().GitRefUpdate(name=name, old_object_id=old, new_object_id=new)
        [result] = git.update_refs([update], REPOSITORY, project=PROJECT)
        assert result.success == (result.update_status == "succeeded")
        return str(result.update_status)

    name = f"refs/heads/{branch}"
    assert moved(name, NO_COMMIT, main) == "succeeded"
    assert moved(name, NO_COMMIT, main) == "staleOldObjectId"
    assert moved(name, "1" * 40, NO_COMMIT) == "staleOldObjectId"
    assert moved(name, main, "1" * 40) == "unresolvableToCommit"
    assert moved(f"{name}/below", NO_COMMIT, main) == "refNameConflict"
    assert moved("refs/heads/bad..name", NO_COMMIT, main) == "invalidRefName"
    assert moved("refs/pull/1/source", main, NO_COMMIT) == "invalidRefName"
    assert moved("refs/heads/main", main, NO_COMMIT) == "rejectedByPolicy"
    assert moved(name, main, NO_COMMIT) == "succeeded"
    assert portal.branches() & {branch, "main"} == {"main"}


def test_a_push_needs_the_newest_commit_of_its_branch(portal: PortalProcess, git: Any, branch: str) -> None:
    number = portal.open_pull(branch)
    tip = pull(git, number).last_merge_source_commit.commit_id

    def push(old: str, *changes: dict[str, Any], name: str = f"refs/heads/{branch}") -> Any:
        wanted = models().GitPush(
            ref_updates=[models().GitRefUpdate(name=name, old_object_id=old)],
            commits=[models().GitCommitRef(comment="More", changes=list(changes))],
        )
        return git.create_push(wanted, REPOSITORY, project=PROJECT)

    added = {
        "changeType": "add",
        "item": {"path": "/notes/binary"},
        "newContent": {"content": "AAEC", "contentType": "base64encoded"},
    }
    deleted = {"changeType": "delete", "item": {"path": "/spokes/spoke-tender-acc.json"}}
    with refused() as caught:
        push("1" * 40, added)
    assert failure(caught) == ("GitReferenceStaleException", "TF401028")
    for change, name in (
        ({**added, "item": {"path": "/../x"}}, None),
        ({**added, "changeType": "rename"}, None),
        ({**added, "newContent": {"content": "?", "contentType": "base64encoded"}}, None),
        (added, "refs/heads/main"),
    ):
        with refused() as caught:
            push(tip, change, name=name or f"refs/heads/{branch}")
        assert caught.value.type_key == "InvalidArgumentValueException"
    pushed = push(tip, added, deleted)
    assert pushed.ref_updates[0].old_object_id == tip
    assert pull(git, number).last_merge_source_commit.commit_id == pushed.ref_updates[0].new_object_id
    changes = git.get_pull_request_iteration_changes(REPOSITORY, int(number), 1, project=PROJECT)
    shown = {
        entry.additional_properties["item"]["path"]: entry.additional_properties["changeType"]
        for entry in changes.change_entries
    }
    assert shown == {"/notes/binary": "add", "/notes/test.md": "add", "/spokes/spoke-tender-acc.json": "delete"}


def test_the_client_is_told_who_it_is(portal: PortalProcess) -> None:
    authentication = BasicTokenAuthentication({"access_token": portal.service_token})
    connected = connection(portal, authentication)
    connected.authenticate()
    data = connected.clients_v7_1.get_location_client().get_connection_data()
    assert data.authenticated_user.id == SERVICE.id


def test_a_wrong_token_is_an_authentication_error(portal: PortalProcess) -> None:
    connected = connection(portal, BasicAuthentication("", "wrong"))
    with refused() as caught:
        connected.authenticate()
    assert failure(caught) == ("UnauthorizedRequestException", "TF400813")
