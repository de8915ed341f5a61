"""Pull requests as rows and branches, without HTTP: what may follow what, and what a kill in between leaves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from local.portal.identity import PORTAL, SERVICE
from local.portal.pull_request_table import Filter, Row
from local.portal.pull_requests import PullRequestError
from local.portal.repository import MAIN, NO_COMMIT, RefUpdate
from local.portal.state import PortalState

PATH = "spokes/spoke-crm-test.json"


def opened(state: PortalState, branch: str = "agent/x", content: bytes = b"{}\n", path: str = PATH) -> Row:
    return state.pull_requests.open_with_file(PORTAL, "A title", "A description", branch, path, content)


def problem_of(caught: pytest.ExceptionInfo[PullRequestError]) -> str:
    return caught.value.problem


def begun(state: PortalState, branch: str) -> Row:
    """A row as it is in the moment before its branch is made."""
    base = state.repository.resolve(MAIN) or ""
    row = Row(
        id=0,
        title="Begun",
        description="",
        status="creating",
        source_ref=f"refs/heads/{branch}",
        target_ref=MAIN,
        source_commit="",
        base_commit=base,
        merge_commit="",
        created_by=PORTAL.unique_name,
        created_at="2026-01-01T00:00:00.000000Z",
        closed_by="",
        closed_at="",
    )
    return state.table.insert(row)


def test_opening_makes_a_row_a_branch_and_one_commit_with_one_file(state: PortalState) -> None:
    row = opened(state)
    assert row.status == "active"
    assert state.repository.resolve("refs/heads/agent/x") == row.source_commit
    info = state.repository.commit_info(row.source_commit)
    assert info is not None
    assert info.parents == (state.repository.resolve(MAIN),)
    assert info.message == "A title\n\nA description"
    assert [change.path for change in state.pull_requests.changes(row)] == [PATH]
    assert state.pull_requests.get(row.id) == row


def test_main_stays_where_it_is_until_a_pull_request_is_completed(state: PortalState) -> None:
    before = state.repository.resolve(MAIN)
    row = opened(state)
    assert state.repository.resolve(MAIN) == before
    done = state.pull_requests.complete(row.id, SERVICE)
    assert done.status == "completed"
    assert done.closed_by == SERVICE.unique_name
    assert state.repository.resolve(MAIN) == done.merge_commit
    info = state.repository.commit_info(done.merge_commit)
    assert info is not None
    assert info.parents == (before, row.source_commit)
    assert state.repository.file(done.merge_commit, PATH) == b"{}\n"


def test_completing_changes_what_the_catalogue_answers(state: PortalState) -> None:
    assert "spoke-new-dev" not in state.catalogue.snapshot().spokes
    row = opened(state, content=b'{"name": "spoke-new-dev"}', path="spokes/spoke-new-dev.json")
    state.pull_requests.complete(row.id, SERVICE)
    assert state.catalogue.snapshot().spokes["spoke-new-dev"].configuration == {"name": "spoke-new-dev"}


def test_a_file_on_main_that_is_no_spoke_is_left_out_of_the_catalogue(state: PortalState) -> None:
    before = set(state.catalogue.snapshot().spokes)
    for number, (name, content) in enumerate([("spoke-bad-dev", b"{"), ("spoke-list-dev", b"[]"), ("notes", b"{}")]):
        row = opened(state, f"agent/{number}", content, f"spokes/{name}.json")
        state.pull_requests.complete(row.id, SERVICE)
    assert set(state.catalogue.snapshot().spokes) == before


def test_two_changes_of_one_file_conflict_and_of_two_files_do_not(state: PortalState) -> None:
    first, second = opened(state, "agent/1", b"1"), opened(state, "agent/2", b"2")
    third = opened(state, "agent/3", b"3", "spokes/spoke-crm-prod.json")
    same = opened(state, "agent/4", b"1")
    state.pull_requests.complete(first.id, SERVICE)
    assert state.pull_requests.merge_status(second) == "conflicts"
    with pytest.raises(PullRequestError, match=r"spoke-crm-test\.json changed on the target") as caught:
        state.pull_requests.complete(second.id, SERVICE)
    assert problem_of(caught) == "conflict"
    assert state.pull_requests.get(second.id).status == "active"
    assert state.pull_requests.merge_status(third) == "succeeded"
    assert state.pull_requests.complete(third.id, SERVICE).status == "completed"
    assert state.pull_requests.complete(same.id, SERVICE).status == "completed"


def test_an_abandoned_one_can_be_opened_again_and_a_completed_one_is_final(state: PortalState) -> None:
    row = opened(state)
    abandoned = state.pull_requests.abandon(row.id, SERVICE)
    assert (abandoned.status, abandoned.closed_by) == ("abandoned", SERVICE.unique_name)
    assert state.pull_requests.abandon(row.id, PORTAL) == abandoned
    again = state.pull_requests.reactivate(row.id)
    assert (again.status, again.closed_at, again.closed_by) == ("active", "", "")
    state.pull_requests.complete(row.id, SERVICE)
    actions: list[Callable[[], Row]] = [
        lambda: state.pull_requests.abandon(row.id, SERVICE),
        lambda: state.pull_requests.reactivate(row.id),
        lambda: state.pull_requests.complete(row.id, SERVICE),
        lambda: state.pull_requests.edit(row.id, "New", None, None),
    ]
    for action in actions:
        with pytest.raises(PullRequestError) as caught:
            action()
        assert problem_of(caught) == "not_editable"


def test_what_an_abandoned_one_changed_is_still_readable_without_its_branch(state: PortalState) -> None:
    row = opened(state)
    state.pull_requests.abandon(row.id, SERVICE)
    state.repository.update_refs([RefUpdate(row.source_ref, row.source_commit, NO_COMMIT)])
    assert [change.path for change in state.pull_requests.changes(state.pull_requests.get(row.id))] == [PATH]
    assert state.repository.resolve(f"refs/pull/{row.id}/source") == row.source_commit
    with pytest.raises(PullRequestError) as caught:
        state.pull_requests.reactivate(row.id)
    assert problem_of(caught) == "no_branch"


def test_an_open_one_follows_its_branch(state: PortalState) -> None:
    row = opened(state)
    files = {"spokes/spoke-crm-prod.json": b"more"}
    tip = state.repository.commit([row.source_ref], [row.source_commit], files, "More", PORTAL.person)
    assert state.pull_requests.get(row.id).source_commit == tip
    assert len(state.pull_requests.changes(state.pull_requests.get(row.id))) == 2
    assert state.pull_requests.abandon(row.id, SERVICE).source_commit == tip


def test_a_branch_has_one_open_pull_request_to_a_target(state: PortalState) -> None:
    row = opened(state)
    with pytest.raises(PullRequestError) as caught:
        state.pull_requests.open_from_branch(SERVICE, "Again", "", row.source_ref, MAIN)
    assert problem_of(caught) == "exists"
    state.pull_requests.abandon(row.id, SERVICE)
    second = state.pull_requests.open_from_branch(SERVICE, "Again", "", row.source_ref, MAIN)
    with pytest.raises(PullRequestError) as caught:
        state.pull_requests.reactivate(row.id)
    assert problem_of(caught) == "exists"
    assert second.id > row.id


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"title": "  "}, "needs a title"),
        ({"title": "x" * 401}, "401 characters; 400 are allowed"),
        ({"title": "two\nlines"}, "one line"),
        ({"title": "half \ud800"}, "not text"),
        ({"description": "x" * 4001}, "4001 characters; 4000 are allowed"),
        ({"description": "nul \0"}, "not text"),
        ({"branch": "bad..name"}, "not a usable branch name"),
        ({"branch": "x y"}, "not a usable branch name"),
    ],
)
def test_texts_that_can_not_be_used_are_refused_and_leave_nothing(
    state: PortalState, change: dict[str, str], words: str
) -> None:
    texts = {"title": "T", "description": "D", "branch": "agent/x"} | change
    with pytest.raises(PullRequestError, match=words):
        state.pull_requests.open_with_file(PORTAL, path=PATH, content=b"x", **texts)
    assert state.pull_requests.matching(Filter()) == []
    assert set(state.repository.refs("refs/")) == {MAIN}


def test_a_file_that_would_not_change_is_refused(state: PortalState) -> None:
    content = state.repository.file(state.repository.resolve(MAIN) or "", PATH)
    assert content is not None
    with pytest.raises(PullRequestError, match="nothing to change"):
        opened(state, content=content)


def test_editing_changes_what_may_be_changed(state: PortalState) -> None:
    row = opened(state)
    main = state.repository.resolve(MAIN) or ""
    state.repository.update_refs([RefUpdate("refs/heads/release", NO_COMMIT, main)])
    edited = state.pull_requests.edit(row.id, "New title", None, "refs/heads/release")
    assert edited == dataclasses.replace(row, title="New title", target_ref="refs/heads/release")
    with pytest.raises(PullRequestError) as caught:
        state.pull_requests.edit(row.id, None, None, "refs/heads/none")
    assert problem_of(caught) == "no_branch"


def test_rows_are_listed_by_what_is_asked_newest_first(state: PortalState) -> None:
    rows = [opened(state, f"agent/{number}", str(number).encode()) for number in range(5)]
    state.pull_requests.abandon(rows[0].id, SERVICE)
    state.pull_requests.complete(rows[1].id, SERVICE)

    def ids(**wanted: Any) -> list[int]:
        return [row.id for row in state.pull_requests.matching(Filter(**wanted))]

    assert ids() == [5, 4, 3, 2, 1]
    assert ids(status="active") == [5, 4, 3]
    assert ids(status="abandoned") == [1]
    assert ids(source_ref="refs/heads/agent/3") == [4]
    assert ids(target_ref="refs/heads/none") == []
    assert ids(created_by=PORTAL.unique_name, skip=1, top=2) == [4, 3]
    assert ids(created_by=SERVICE.unique_name) == []
    assert ids(created_since=rows[3].created_at) == [5, 4]
    assert ids(created_until=rows[1].created_at) == [2, 1]
    assert ids(closed_since="2000-01-01T00:00:00.000000Z") == [2, 1]
    assert ids(closed_until="2000-01-01T00:00:00.000000Z") == []


def test_a_row_without_branch_is_forgotten_after_a_kill_and_its_number_is_not_used_again(state: PortalState) -> None:
    row = begun(state, "agent/never")
    assert state.pull_requests.matching(Filter()) == []
    with pytest.raises(PullRequestError, match="there is no pull request 1"):
        state.pull_requests.get(row.id)
    assert state.pull_requests.reconcile() == ["pull request 1: its branch had not been made, so it is forgotten"]
    assert state.table.get(row.id) is None
    assert opened(state).id == 2


def test_a_row_whose_branch_was_made_before_the_kill_becomes_active(state: PortalState) -> None:
    row = begun(state, "agent/made")
    commit = state.repository.commit([row.source_ref], [row.base_commit], {PATH: b"x"}, "Made", PORTAL.person)
    assert state.pull_requests.reconcile() == ["pull request 1: its branch was made, so it is active now"]
    active = state.pull_requests.get(row.id)
    assert (active.status, active.source_commit) == ("active", commit)
    assert state.repository.resolve("refs/pull/1/source") == commit
    assert state.pull_requests.reconcile() == []


def test_a_merge_whose_row_was_not_written_before_the_kill_is_completed(state: PortalState) -> None:
    row = opened(state)
    main = state.repository.resolve(MAIN) or ""
    merged = state.repository.commit([MAIN], [main, row.source_commit], {PATH: b"{}\n"}, "Merged", PORTAL.person)
    assert state.pull_requests.reconcile() == ["pull request 1: it had been merged, so it is completed now"]
    done = state.pull_requests.get(row.id)
    assert (done.status, done.merge_commit) == ("completed", merged)


def test_an_open_one_without_branch_is_reported_and_stays(state: PortalState) -> None:
    row = opened(state)
    state.repository.update_refs([RefUpdate(row.source_ref, row.source_commit, NO_COMMIT)])
    assert state.pull_requests.reconcile() == [
        "pull request 1: its branch refs/heads/agent/x is gone; it stays as it is"
    ]
    assert state.pull_requests.get(row.id).status == "active"
