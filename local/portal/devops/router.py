"""Which operation a REST request means. Paths are compared without regard to case, as the service does."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import JSONResponse, Response

from local.portal import addresses
from local.portal.devops.errors import ServiceError, no_project, no_repository, no_route
from local.portal.devops.git_handlers import GitHandlers
from local.portal.devops.locations import LOCATIONS
from local.portal.devops.pull_request_handlers import PullRequestHandlers
from local.portal.devops.request import RestRequest, check_version, parse_body
from local.portal.devops.shapes import collection
from local.portal.git_process import GitError
from local.portal.identity import Identity
from local.portal.state import PortalState

_LOG = logging.getLogger(__name__)

Handler = Callable[[RestRequest], Any]

_ANY_PROJECT = rf"/{addresses.ORGANISATION}(?:/(?P<project>[^/]+))?/_apis"
_REPOSITORY = rf"{_ANY_PROJECT}/git/repositories/(?P<repository>[^/]+)"
_PULL_REQUEST = rf"{_REPOSITORY}/pullrequests/(?P<id>[0-9]{{1,18}})"


@dataclass(frozen=True)
class _Operation:
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    status: int = 200


class Router:
    """Answers the requests below `/landing-zones`, one at a time per thread."""

    def __init__(self, state: PortalState) -> None:
        git, pulls = GitHandlers(state), PullRequestHandlers(state)
        self._instance = addresses.COLLECTION_ID
        table: list[tuple[str, str, Handler, int]] = [
            ("OPTIONS", rf"{_ANY_PROJECT}/?", _locations, 200),
            ("GET", rf"{_ANY_PROJECT}/resourceareas(?:/[^/]+)?", _resource_areas, 200),
            ("GET", rf"{_ANY_PROJECT}/connectiondata", self._connection, 200),
            ("GET", rf"{_ANY_PROJECT}/git/repositories", git.repositories, 200),
            ("GET", _REPOSITORY, git.repository, 200),
            ("GET", rf"{_REPOSITORY}/refs", git.refs, 200),
            ("POST", rf"{_REPOSITORY}/refs", git.update_refs, 200),
            ("GET", rf"{_REPOSITORY}/items(?:/(?P<path>.+))?", git.item, 200),
            ("GET", rf"{_REPOSITORY}/commits", git.commits, 200),
            ("GET", rf"{_REPOSITORY}/commits/(?P<id>[0-9a-f]{{40}})", git.commit, 200),
            ("GET", rf"{_REPOSITORY}/diffs/commits", git.differences, 200),
            ("POST", rf"{_REPOSITORY}/pushes", git.push, 201),
            ("GET", rf"{_ANY_PROJECT}/git/pullrequests", pulls.matching, 200),
            ("GET", rf"{_ANY_PROJECT}/git/pullrequests/(?P<id>[0-9]{{1,18}})", pulls.read, 200),
            ("GET", rf"{_REPOSITORY}/pullrequests", pulls.matching, 200),
            ("POST", rf"{_REPOSITORY}/pullrequests", pulls.create, 201),
            ("GET", _PULL_REQUEST, pulls.read, 200),
            ("PATCH", _PULL_REQUEST, pulls.update, 200),
            ("GET", rf"{_PULL_REQUEST}/commits", pulls.commits, 200),
            ("GET", rf"{_PULL_REQUEST}/iterations", pulls.iterations, 200),
            ("GET", rf"{_PULL_REQUEST}/iterations/(?P<iteration>[0-9]+)", pulls.iteration, 200),
            ("GET", rf"{_PULL_REQUEST}/iterations/(?P<iteration>[0-9]+)/changes", pulls.iteration_changes, 200),
        ]
        self._operations = [
            _Operation(method, re.compile(pattern, re.IGNORECASE), handler, status)
            for method, pattern, handler, status in table
        ]

    def is_quick(self, method: str, path: str) -> bool:
        """Whether the answer needs no process, no write and no long list, so that it may be given without a thread."""
        return method in ("GET", "HEAD", "OPTIONS") and not path.lower().endswith(
            ("/refs", "/diffs/commits", "/pullrequests")
        )

    def answer(self, method: str, path: str, query: str, accept: str, content: bytes, identity: Identity) -> Response:
        """Answer one request. `path` is decoded, `query` is not. Never raises."""
        try:
            return self._answer(method, path, query, accept, content, identity)
        except ServiceError as error:
            return JSONResponse(error.body(), error.status)
        except GitError as error:
            _LOG.error("%s %s: %s", method, path, error)
            failure = ServiceError(500, "GitServiceException", "The repository could not be read or written.")
            return JSONResponse(failure.body(), 500)

    def _answer(self, method: str, path: str, query: str, accept: str, content: bytes, identity: Identity) -> Response:
        operation, parts = self._find(method, path)
        _check_names(parts)
        parameters = {key.lower(): value for key, value in parse_qsl(query)}
        check_version(method, parameters, accept)
        request = RestRequest(method, path, parts, parameters, accept, parse_body(content), identity)
        result = operation.handler(request)
        if isinstance(result, bytes):
            return Response(
                result, media_type="application/octet-stream", headers={"X-Content-Type-Options": "nosniff"}
            )
        return JSONResponse(result, operation.status)

    def _find(self, method: str, path: str) -> tuple[_Operation, Mapping[str, str]]:
        wanted = "GET" if method == "HEAD" else method
        allowed = []
        for operation in self._operations:
            match = operation.pattern.fullmatch(path)
            if match is None:
                continue
            if operation.method == wanted:
                return operation, {name: text for name, text in match.groupdict().items() if text is not None}
            allowed.append(operation.method)
        if allowed:
            raise ServiceError(
                405,
                "HttpMethodNotAllowedException",
                f"{method} is not possible here; {', '.join(allowed)} is.",
                "Microsoft.VisualStudio.Services.WebApi",
            )
        raise no_route(path)

    def _connection(self, request: RestRequest) -> dict[str, Any]:
        """Who is signed in; the cheapest request that proves a token."""
        who = request.identity
        user = {
            "id": who.id,
            "descriptor": f"svc.{who.id}",
            "subjectDescriptor": f"svc.{who.id}",
            "providerDisplayName": who.display_name,
            "isActive": True,
            "properties": {"Account": {"$type": "System.String", "$value": who.unique_name}},
        }
        return {
            "authenticatedUser": user,
            "authorizedUser": user,
            "instanceId": self._instance,
            "deploymentId": self._instance,
            "deploymentType": "onPremises",
        }


def _locations(_request: RestRequest) -> dict[str, Any]:
    return collection([location.as_json() for location in LOCATIONS])


def _resource_areas(_request: RestRequest) -> dict[str, Any]:
    """No areas: what a server on one's own premises answers, and then clients find everything at one address."""
    return collection([])


def _check_names(parts: Mapping[str, str]) -> None:
    project, repository = parts.get("project"), parts.get("repository")
    if project is not None and project.lower() not in (addresses.PROJECT, addresses.PROJECT_ID):
        raise no_project(project)
    if repository is not None and repository.lower() not in (addresses.REPOSITORY, addresses.REPOSITORY_ID):
        raise no_repository(repository)
