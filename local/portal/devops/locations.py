"""The resource locations: what a client asks for first (`OPTIONS <organisation>/_apis`) to build its addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Location:
    """One resource. The ids are fixed by the service; clients carry them in their code."""

    id: str
    area: str
    resource: str
    template: str
    resource_version: int = 1

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "area": self.area,
            "resourceName": self.resource,
            "routeTemplate": self.template,
            "resourceVersion": self.resource_version,
            "minVersion": "1.0",
            "maxVersion": "7.1",
            "releasedVersion": "7.1",
        }


_REPOSITORY = "{project}/_apis/{area}/repositories/{repositoryId}"
_PULL_REQUEST = f"{_REPOSITORY}/pullRequests/{{pullRequestId}}"

LOCATIONS = (
    Location("e81700f7-3be2-46de-8624-2eb35882fcaa", "Location", "ResourceAreas", "_apis/{resource}/{areaId}"),
    Location("00d9565f-ed9c-4a06-9a50-00e7896ccab4", "Location", "ConnectionData", "_apis/{resource}"),
    Location(
        "225f7195-f9c7-4d14-ab28-a83f7ff77e1f",
        "git",
        "repositories",
        "{project}/_apis/{area}/{resource}/{repositoryId}",
    ),
    Location("2d874a60-a811-4f62-9c9f-963a6ea0a55b", "git", "refs", f"{_REPOSITORY}/{{resource}}"),
    Location("fb93c0db-47ed-4a31-8c20-47552878fb44", "git", "items", f"{_REPOSITORY}/{{resource}}/{{*path}}"),
    Location("c2570c3b-5b3f-41b8-98bf-5407bfde8d58", "git", "commits", f"{_REPOSITORY}/{{resource}}/{{commitId}}"),
    Location("615588d5-c0c7-4b88-88f8-e625306446e8", "git", "commitDiffs", f"{_REPOSITORY}/diffs/commits"),
    Location("ea98d07b-3c87-4971-8ede-a613694ffb55", "git", "pushes", f"{_REPOSITORY}/{{resource}}/{{pushId}}", 2),
    Location(
        "9946fd70-0d40-406e-b686-b4744cbbcc37", "git", "pullRequests", f"{_REPOSITORY}/{{resource}}/{{pullRequestId}}"
    ),
    Location(
        "01a46dea-7d46-4d40-bc84-319e7c260d99",
        "git",
        "pullRequests",
        "{project}/_apis/{area}/{resource}/{pullRequestId}",
    ),
    Location("a5d28130-9cd2-40fa-9f08-902e7daa9efb", "git", "pullRequests", "{project}/_apis/{area}/{resource}"),
    Location(
        "d43911ee-6958-46b0-a42b-8445b8a0d004",
        "git",
        "pullRequestIterations",
        f"{_PULL_REQUEST}/iterations/{{iterationId}}",
        2,
    ),
    Location(
        "4216bdcf-b6b1-4d59-8b82-c34cc183fc8b",
        "git",
        "pullRequestIterationChanges",
        f"{_PULL_REQUEST}/iterations/{{iterationId}}/changes",
    ),
    Location("52823034-34a8-4576-922c-8d8b77e9e4c4", "git", "pullRequestCommits", f"{_PULL_REQUEST}/commits"),
)
