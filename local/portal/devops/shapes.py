"""How the service writes its things as JSON: repository, identity, pull request, commit, change."""

from __future__ import annotations

import datetime as dt
from typing import Any

from local.portal import addresses
from local.portal.addresses import Addresses
from local.portal.identity import Identity, identity
from local.portal.pull_request_table import Row
from local.portal.pull_requests import MergeStatus
from local.portal.repository import MAIN, Change, CommitInfo

Json = dict[str, Any]


def collection(values: list[Json]) -> Json:
    return {"count": len(values), "value": values}


def project(at: Addresses) -> Json:
    return {
        "id": addresses.PROJECT_ID,
        "name": addresses.PROJECT,
        "url": f"{at.rest}/_apis/projects/{addresses.PROJECT_ID}",
        "state": "wellFormed",
        "visibility": "private",
    }


def repository(at: Addresses) -> Json:
    return {
        "id": addresses.REPOSITORY_ID,
        "name": addresses.REPOSITORY,
        "url": at.git,
        "project": project(at),
        "defaultBranch": MAIN,
        "remoteUrl": at.repository_page,
        "webUrl": at.repository_page,
        "isDisabled": False,
        "isFork": False,
    }


def person(at: Addresses, who: Identity) -> Json:
    return {
        "id": who.id,
        "displayName": who.display_name,
        "uniqueName": who.unique_name,
        "url": f"{at.rest}/_apis/Identities/{who.id}",
        "descriptor": f"svc.{who.id}",
    }


def commit_reference(at: Addresses, oid: str) -> Json:
    return {"commitId": oid, "url": f"{at.git}/commits/{oid}"}


def commit(at: Addresses, info: CommitInfo) -> Json:
    when = dt.datetime.fromtimestamp(info.when, dt.UTC).isoformat().replace("+00:00", "Z")
    author = {"name": info.author.name, "email": info.author.email, "date": when}
    return {
        **commit_reference(at, info.oid),
        "treeId": info.tree,
        "parents": list(info.parents),
        "author": author,
        "committer": author,
        "comment": info.message,
        "remoteUrl": f"{at.repository_page}/commit/{info.oid}",
    }


def change(at: Addresses, changed: Change, version: str) -> Json:
    """One entry of a list of changes. `version` is the commit at which the item can be read."""
    item: Json = {
        "gitObjectType": "blob",
        "path": f"/{changed.path}",
        "url": f"{at.git}/items?path=/{changed.path}&versionType=Commit&version={version}",
    }
    if changed.new:
        item["objectId"] = changed.new
    if changed.old:
        item["originalObjectId"] = changed.old
    return {"item": item, "changeType": changed.kind}


LISTED_DESCRIPTION = 400
"""Characters of a description that a listing shows."""


def in_a_listing(pull: Json) -> Json:
    """A pull request as a listing shows it: Azure DevOps cuts the description there."""
    return pull | {"description": pull["description"][:LISTED_DESCRIPTION]}


def pull_request(at: Addresses, row: Row, merge_status: MergeStatus, target_commit: str, links: bool = False) -> Json:
    """A pull request. `target_commit` is where the target branch is now."""
    shape: Json = {
        "repository": repository(at),
        "pullRequestId": row.id,
        "codeReviewId": row.id,
        "status": row.status,
        "createdBy": person(at, identity(row.created_by)),
        "creationDate": row.created_at,
        "title": row.title,
        "description": row.description,
        "sourceRefName": row.source_ref,
        "targetRefName": row.target_ref,
        "mergeStatus": merge_status,
        "isDraft": False,
        "lastMergeSourceCommit": commit_reference(at, row.source_commit),
        "lastMergeTargetCommit": commit_reference(at, target_commit),
        "reviewers": [],
        "labels": [],
        "url": at.pull_request_rest(row.id),
        "remoteUrl": at.pull_request_page(row.id),
        "supportsIterations": True,
        "artifactId": f"vstfs:///Git/PullRequestId/{addresses.PROJECT_ID}%2F{addresses.REPOSITORY_ID}%2F{row.id}",
    }
    if row.merge_commit:
        shape["lastMergeCommit"] = commit_reference(at, row.merge_commit)
    if row.closed_at:
        shape["closedDate"] = row.closed_at
        shape["closedBy"] = person(at, identity(row.closed_by))
    if links:
        shape["_links"] = {
            "self": {"href": at.pull_request_rest(row.id)},
            "repository": {"href": at.git},
            "web": {"href": at.pull_request_page(row.id)},
            "iterations": {"href": f"{at.pull_request_rest(row.id)}/iterations"},
        }
    return shape
