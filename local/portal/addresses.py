"""The portal's own addresses, and the names of its one organisation, project and repository."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

ORGANISATION = "landing-zones"
PROJECT = "platform"
REPOSITORY = "spokes"
FULL_NAME = f"{PROJECT}/{REPOSITORY}"
"""How an allow-list of repositories names it."""

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://platform.example/landing-zones")
PROJECT_ID = str(uuid.uuid5(_NAMESPACE, PROJECT))
REPOSITORY_ID = str(uuid.uuid5(_NAMESPACE, FULL_NAME))
COLLECTION_ID = str(uuid.uuid5(_NAMESPACE, ORGANISATION))


@dataclass(frozen=True)
class Addresses:
    """Everything that begins with the portal's base address, such as `http://127.0.0.1:8123` (no trailing slash)."""

    base: str

    @property
    def mcp(self) -> str:
        return f"{self.base}/mcp"

    @property
    def rest(self) -> str:
        """Base address for a client of the REST interface (the organisation)."""
        return f"{self.base}/{ORGANISATION}"

    @property
    def git(self) -> str:
        """REST address of the repository."""
        return f"{self.rest}/{PROJECT_ID}/_apis/git/repositories/{REPOSITORY_ID}"

    @property
    def repository_page(self) -> str:
        return f"{self.rest}/{PROJECT}/_git/{REPOSITORY}"

    def pull_request_page(self, pull_request_id: int) -> str:
        """What a person opens."""
        return f"{self.repository_page}/pullrequest/{pull_request_id}"

    def pull_request_rest(self, pull_request_id: int) -> str:
        return f"{self.git}/pullRequests/{pull_request_id}"
