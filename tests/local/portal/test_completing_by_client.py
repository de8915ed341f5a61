"""Completing through the official client. It changes `main`, so this portal is the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.portal.official_client import models, service_error
from tests.support.portal_process import PROJECT, REPOSITORY, portal_process


def test_a_pull_request_is_completed_once_and_is_final(tmp_path: Path) -> None:
    with portal_process(tmp_path / "data") as portal:
        git = portal.git()
        number = int(portal.open_pull("team/notes", path="notes/a.md"))
        rival = int(portal.open_pull("team/rival", path="notes/a.md"))

        def update(which: int, **values: object) -> object:
            return git.update_pull_request(models().GitPullRequest(**values), REPOSITORY, which, project=PROJECT)

        with pytest.raises(service_error(), match="lastMergeSourceCommit"):
            update(number, status="completed")
        with pytest.raises(service_error(), match="TF401192"):
            update(number, status="completed", last_merge_source_commit={"commitId": "1" * 40})
        assert portal.status(str(number)) == "active"

        portal.complete(str(number))
        done = git.get_pull_request(REPOSITORY, number, project=PROJECT)
        assert (done.status, done.merge_status) == ("completed", "succeeded")
        main = git.get_refs(REPOSITORY, project=PROJECT, filter="heads/main")[0].object_id
        assert done.last_merge_commit.commit_id == main
        for values in ({"status": "abandoned"}, {"status": "active"}, {"title": "Later"}):
            with pytest.raises(service_error(), match="TF401181"):
                update(number, **values)
        assert portal.status(str(number)) == "completed"

        assert git.get_pull_request(REPOSITORY, rival, project=PROJECT).merge_status == "conflicts"
        with pytest.raises(service_error(), match=r"notes/a\.md changed on the target"):
            portal.complete(str(rival))
        assert portal.status(str(rival)) == "active"
