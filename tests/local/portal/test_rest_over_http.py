"""What plain HTTP shows that a client hides: status codes, versions, methods, malformed bodies."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from local.portal.devops.locations import LOCATIONS
from tests.support.portal_process import PortalProcess

REPOSITORY = "/platform/_apis/git/repositories/spokes"
VERSION = {"api-version": "7.1"}


def send(portal: PortalProcess, method: str, path: str, **options: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {portal.service_token}", **options.pop("headers", {})}
    return requests.request(method, portal.api_url + path, headers=headers, timeout=30, **options)


def key(answer: requests.Response) -> str:
    body = answer.json()
    assert set(body) >= {"$id", "innerException", "message", "typeName", "typeKey"}
    return str(body["typeKey"])


def test_the_resource_locations_are_listed_whatever_the_case_of_the_path(portal: PortalProcess) -> None:
    for path in ("/_apis", "/_apis/", "/_APIS", "/platform/_apis"):
        answer = send(portal, "OPTIONS", path)
        assert answer.status_code == 200
        assert {row["id"] for row in answer.json()["value"]} == {location.id for location in LOCATIONS}
    assert send(portal, "GET", "/_apis/resourceareas").json() == {"count": 0, "value": []}
    for path in (REPOSITORY, REPOSITORY.upper()):
        assert send(portal, "GET", path).json()["name"] == "spokes"


def test_writing_needs_a_version_and_reading_does_not(portal: PortalProcess) -> None:
    assert send(portal, "GET", f"{REPOSITORY}/pullRequests").status_code == 200
    for method, path in (("POST", "/pullRequests"), ("PATCH", "/pullRequests/1"), ("POST", "/refs")):
        answer = send(portal, method, REPOSITORY + path, json={})
        assert (answer.status_code, key(answer)) == (400, "VssVersionNotSpecifiedException")
    for version in ("7.2", "0.9", "latest", "7.1;x"):
        answer = send(portal, "GET", REPOSITORY, params={"api-version": version})
        assert (answer.status_code, key(answer)) == (400, "VssVersionOutOfRangeException")
    for version in ("7.1", "7.1-preview.1", "5.0"):
        assert send(portal, "GET", REPOSITORY, params={"api-version": version}).status_code == 200
    accept = {"Accept": "application/json;api-version=7.1-preview.1"}
    answer = send(portal, "POST", f"{REPOSITORY}/pullRequests", headers=accept, json={})
    assert key(answer) == "InvalidArgumentValueException"


def test_creating_answers_201_and_the_rest_200(portal: PortalProcess) -> None:
    number = portal.open_pull("rest/created")
    portal_pull = f"{REPOSITORY}/pullRequests/{number}"
    assert send(portal, "GET", portal_pull).status_code == 200
    answer = send(portal, "PATCH", portal_pull, params=VERSION, json={"status": "abandoned"})
    assert (answer.status_code, answer.json()["status"]) == (200, "abandoned")
    again = {"sourceRefName": "refs/heads/rest/created", "targetRefName": "refs/heads/main", "title": "Again"}
    answer = send(portal, "POST", f"{REPOSITORY}/pullRequests", params=VERSION, json=again)
    assert answer.status_code == 201
    body = answer.json()
    assert body["url"] == f"{portal.api_url}/{body['repository']['project']['id']}/_apis/git/repositories/" + (
        f"{body['repository']['id']}/pullRequests/{body['pullRequestId']}"
    )
    page = f"{portal.web_url}/landing-zones/platform/_git/spokes/pullrequest/{body['pullRequestId']}"
    assert body["_links"]["web"]["href"] == page
    assert requests.get(page, timeout=30).status_code == 200
    answer = send(portal, "POST", f"{REPOSITORY}/pullRequests", params=VERSION, json=again)
    assert (answer.status_code, key(answer)) == (409, "GitPullRequestExistsException")
    assert answer.json()["message"].startswith("TF401179")


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "type_key"),
    [
        ("GET", "/nothing", {}, 404, "VssServiceException"),
        ("GET", "/platform/_apis/git/repositories/none", {}, 404, "GitRepositoryNotFoundException"),
        ("GET", "/none/_apis/git/repositories", {}, 404, "ProjectDoesNotExistWithNameException"),
        ("GET", f"{REPOSITORY}/pullRequests/99999999", {}, 404, "GitPullRequestNotFoundException"),
        ("DELETE", f"{REPOSITORY}/pullRequests/1", {}, 405, "HttpMethodNotAllowedException"),
        ("PUT", f"{REPOSITORY}/refs", {}, 405, "HttpMethodNotAllowedException"),
        ("POST", f"{REPOSITORY}/pullRequests", {"data": b"{"}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/pullRequests", {"data": b"[" * 100_000}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/pullRequests", {"data": b"\xff\xfe"}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/pullRequests", {"json": []}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/pullRequests", {"json": {"title": 5}}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/refs", {"json": {}}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/refs", {"json": ["x"]}, 400, "InvalidArgumentValueException"),
        ("POST", f"{REPOSITORY}/refs", {"json": [{"name": "refs/heads/x"}]}, 400, "InvalidArgumentValueException"),
        (
            "POST",
            f"{REPOSITORY}/refs",
            {"json": [{"name": "refs/heads/x", "oldObjectId": "0" * 40, "newObjectId": "main"}]},
            400,
            "InvalidArgumentValueException",
        ),
        ("POST", f"{REPOSITORY}/pushes", {"json": {}}, 400, "InvalidArgumentValueException"),
        (
            "POST",
            f"{REPOSITORY}/pushes",
            {"json": {"refUpdates": [{}], "commits": []}},
            400,
            "InvalidArgumentValueException",
        ),
        ("GET", f"{REPOSITORY}/pullRequests?$top=-1", {}, 400, "InvalidArgumentValueException"),
        ("GET", f"{REPOSITORY}/pullRequests?$skip=x", {}, 400, "InvalidArgumentValueException"),
        ("GET", f"{REPOSITORY}/pullRequests?searchCriteria.status=open", {}, 400, "InvalidArgumentValueException"),
        ("GET", f"{REPOSITORY}/pullRequests?searchCriteria.minTime=soon", {}, 400, "InvalidArgumentValueException"),
        ("GET", f"{REPOSITORY}/items?path=/../../portal.db", {}, 404, "GitItemNotFoundException"),
        (
            "GET",
            f"{REPOSITORY}/items?path=/a&versionDescriptor.version=x%0ay",
            {},
            404,
            "GitUnresolvableToCommitException",
        ),
        ("GET", f"{REPOSITORY}/commits/{'1' * 40}", {}, 404, "GitUnresolvableToCommitException"),
        ("GET", f"{REPOSITORY}/diffs/commits?targetVersion=none", {}, 404, "GitUnresolvableToCommitException"),
        (
            "GET",
            f"{REPOSITORY}/items?path=/a&versionDescriptor.version=HEAD&versionDescriptor.versionType=commit",
            {},
            404,
            "GitUnresolvableToCommitException",
        ),
    ],
)
def test_an_error_has_its_status_and_its_key(
    portal: PortalProcess, method: str, path: str, options: dict[str, Any], status: int, type_key: str
) -> None:
    options = dict(options) if method == "GET" else {"params": VERSION, **options}
    answer = send(portal, method, path, **options)
    assert (answer.status_code, key(answer)) == (status, type_key)


def test_only_the_wanted_iteration_exists(portal: PortalProcess) -> None:
    number = portal.open_pull("rest/iterations")
    base = f"{REPOSITORY}/pullRequests/{number}/iterations"
    assert send(portal, "GET", f"{base}/1/changes").json()["nextSkip"] == 0
    for path in (f"{base}/2", f"{base}/0/changes"):
        assert send(portal, "GET", path).status_code == 400


def test_pull_requests_are_listed_by_when_they_were_made(portal: PortalProcess) -> None:
    number = int(portal.open_pull("rest/when"))
    made = send(portal, "GET", f"{REPOSITORY}/pullRequests/{number}").json()["creationDate"]

    def listed(**criteria: str) -> bool:
        query = {"searchCriteria.status": "all"} | {f"searchCriteria.{name}": text for name, text in criteria.items()}
        found = send(portal, "GET", f"{REPOSITORY}/pullRequests", params=query).json()["value"]
        return number in [one["pullRequestId"] for one in found]

    assert listed(minTime=made)
    assert listed(maxTime=made)
    assert listed(minTime=made.replace("Z", "+00:00"))
    assert not listed(minTime="2999-01-01T00:00:00Z")
    assert not listed(maxTime="2020-01-01")
    assert not listed(minTime=made, queryTimeRangeType="closed")


def test_a_file_comes_as_it_is_or_as_json(portal: PortalProcess) -> None:
    path = f"{REPOSITORY}/items?path=/spokes/spoke-crm-test.json"
    plain = send(portal, "GET", path)
    assert plain.headers["Content-Type"] == "application/octet-stream"
    assert plain.json()["name"] == "spoke-crm-test"
    described = send(portal, "GET", f"{path}&includeContent=true", headers={"Accept": "application/json"}).json()
    assert described["content"] == plain.text
    assert described["path"] == "/spokes/spoke-crm-test.json"
    assert "content" not in send(portal, "GET", f"{path}&$format=json").json()
    assert send(portal, "HEAD", path).content == b""
