"""Pull requests over REST: create, read, list, update, and what one changes."""

from __future__ import annotations

import datetime as dt
from typing import Any

from local.portal import addresses
from local.portal.devops import shapes
from local.portal.devops.errors import ServiceError, from_pull_request, invalid
from local.portal.devops.request import RestRequest, text_of
from local.portal.identity import PORTAL, SERVICE
from local.portal.pull_request_table import Filter, Row, Status
from local.portal.pull_requests import PullRequestError
from local.portal.repository import NO_COMMIT
from local.portal.state import PortalState

Json = shapes.Json

_UPDATABLE = (
    "status",
    "title",
    "description",
    "completionOptions",
    "mergeOptions",
    "autoCompleteSetBy",
    "targetRefName",
    "lastMergeSourceCommit",
)
_LISTED: dict[str, Status | None] = {
    "active": "active",
    "abandoned": "abandoned",
    "completed": "completed",
    "all": None,
}
_DEFAULT_TOP, _MAX_TOP = 101, 1000


class PullRequestHandlers:
    """One method per operation; each returns the JSON of a success and raises ServiceError otherwise."""

    def __init__(self, state: PortalState) -> None:
        self._state = state

    def create(self, request: RestRequest) -> Json:
        body = request.body_object()
        source = text_of(body.get("sourceRefName"), "sourceRefName")
        target = text_of(body.get("targetRefName"), "targetRefName")
        title = text_of(body.get("title"), "title")
        description = text_of(body.get("description") or "", "description")
        try:
            row = self._state.pull_requests.open_from_branch(request.identity, title, description, source, target)
        except PullRequestError as error:
            raise from_pull_request(error) from error
        return self._shape(row, links=True)

    def read(self, request: RestRequest) -> Json:
        return self._shape(self._row(request), links=True)

    def matching(self, request: RestRequest) -> Json:
        rows = self._state.pull_requests.matching(self._filter(request)) if self._can_match(request) else []
        return shapes.collection([shapes.in_a_listing(self._shape(row)) for row in rows])

    def update(self, request: RestRequest) -> Json:
        row = self._row(request)
        body = request.body_object()
        unknown = [key for key in body if key not in _UPDATABLE]
        if unknown:
            raise invalid(unknown[0][:100], f"it can not be updated; only {', '.join(_UPDATABLE)} can")
        status = body.get("status")
        if status not in (None, "active", "abandoned", "completed"):
            raise invalid("status", "it must be active, abandoned or completed")
        pull_requests = self._state.pull_requests
        try:
            if status == "active":
                row = pull_requests.reactivate(row.id)
            row = self._edited(row, body)
            if status == "abandoned":
                row = pull_requests.abandon(row.id, request.identity)
            if status == "completed":
                row = self._completed(row, body, request)
        except PullRequestError as error:
            raise from_pull_request(error) from error
        return self._shape(row, links=True)

    def _edited(self, row: Row, body: Json) -> Row:
        edits = {
            name: None if body.get(name) is None else text_of(body[name], name)
            for name in ("title", "description", "targetRefName")
        }
        if not any(value is not None for value in edits.values()):
            return row
        return self._state.pull_requests.edit(row.id, edits["title"], edits["description"], edits["targetRefName"])

    def _completed(self, row: Row, body: Json, request: RestRequest) -> Row:
        expected = body.get("lastMergeSourceCommit")
        commit = expected.get("commitId") if isinstance(expected, dict) else None
        if commit is None:
            raise invalid("lastMergeSourceCommit", "it must hold the commitId that is to be merged")
        if commit != row.source_commit:
            raise ServiceError(
                409,
                "GitPullRequestStaleException",
                "TF401192: The source branch has been modified since the last merge attempt.",
            )
        return self._state.pull_requests.complete(row.id, request.identity)

    def iterations(self, request: RestRequest) -> Json:
        return shapes.collection([self._iteration(self._row(request))])

    def iteration(self, request: RestRequest) -> Json:
        row = self._row(request)
        self._check_iteration(request)
        return self._iteration(row)

    def iteration_changes(self, request: RestRequest) -> Json:
        row = self._row(request)
        self._check_iteration(request)
        compare_to = request.number("$compareTo", 0, 1)
        changes = () if compare_to else self._state.pull_requests.changes(row)
        skip = request.number("$skip", 0, 1_000_000)
        top = request.number("$top", 100, 2000)
        shown = changes[skip : skip + top]
        more = len(changes) > skip + len(shown)
        entries = [
            {"changeTrackingId": index, "changeId": index}
            | shapes.change(self._state.addresses, changed, row.source_commit)
            for index, changed in enumerate(shown, start=skip + 1)
        ]
        return {"changeEntries": entries, "nextSkip": skip + len(shown) if more else 0, "nextTop": top if more else 0}

    def commits(self, request: RestRequest) -> Json:
        row = self._row(request)
        found: list[Json] = []
        commit = row.source_commit
        while commit != row.base_commit and len(found) < request.number("$top", 100, 1000):
            info = self._state.repository.commit_info(commit)
            if info is None:
                break
            found.append(shapes.commit(self._state.addresses, info))
            if not info.parents:
                break
            commit = info.parents[0]
        return shapes.collection(found)

    def _row(self, request: RestRequest) -> Row:
        try:
            return self._state.pull_requests.get(int(request.parts["id"]))
        except PullRequestError as error:
            raise from_pull_request(error) from error

    def _shape(self, row: Row, links: bool = False) -> Json:
        target = self._state.repository.resolve(row.target_ref) or NO_COMMIT
        return shapes.pull_request(
            self._state.addresses, row, self._state.pull_requests.merge_status(row), target, links
        )

    def _iteration(self, row: Row) -> Json:
        """The portal keeps one iteration, from where the source left the target to where the source is now."""
        at = self._state.addresses
        target = self._state.repository.resolve(row.target_ref) or row.base_commit
        return {
            "id": 1,
            "description": row.title,
            "author": shapes.person(at, PORTAL if row.created_by == PORTAL.unique_name else SERVICE),
            "createdDate": row.created_at,
            "updatedDate": row.created_at,
            "sourceRefCommit": shapes.commit_reference(at, row.source_commit),
            "targetRefCommit": shapes.commit_reference(at, target),
            "commonRefCommit": shapes.commit_reference(at, row.base_commit),
            "hasMoreCommits": False,
            "reason": "create",
        }

    def _check_iteration(self, request: RestRequest) -> None:
        if request.parts["iteration"] != "1":
            raise invalid("iterationId", "this pull request has one iteration, number 1")

    def _filter(self, request: RestRequest) -> Filter:
        status = (request.text("searchCriteria.status") or "active").lower()
        if status not in _LISTED:
            raise invalid("searchCriteria.status", f"it must be one of {', '.join(_LISTED)}")
        creator = request.text("searchCriteria.creatorId")
        by_id = {who.id: who.unique_name for who in (PORTAL, SERVICE)}
        since, until = (_moment(request, f"searchCriteria.{name}Time") for name in ("min", "max"))
        closed = (request.text("searchCriteria.queryTimeRangeType") or "created").lower() == "closed"
        return Filter(
            status=_LISTED[status],
            source_ref=request.text("searchCriteria.sourceRefName"),
            target_ref=request.text("searchCriteria.targetRefName"),
            created_by=None if creator is None else by_id.get(creator.lower(), creator),
            created_since=None if closed else since,
            created_until=None if closed else until,
            closed_since=since if closed else None,
            closed_until=until if closed else None,
            skip=request.number("$skip", 0, 1_000_000),
            top=request.number("$top", _DEFAULT_TOP, _MAX_TOP),
        )

    def _can_match(self, request: RestRequest) -> bool:
        """Nobody reviews here and there is one repository, so other criteria of these kinds fit nothing."""
        repositories = (request.text(f"searchCriteria.{name}") for name in ("repositoryId", "sourceRepositoryId"))
        return request.text("searchCriteria.reviewerId") is None and all(
            wanted is None or wanted.lower() == addresses.REPOSITORY_ID for wanted in repositories
        )


def _moment(request: RestRequest, key: str) -> str | None:
    text = request.text(key)
    if text is None:
        return None
    try:
        moment: Any = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise invalid(key, "it must be a date and time in ISO 8601") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    written: str = moment.astimezone(dt.UTC).isoformat(timespec="microseconds")
    return written.replace("+00:00", "Z")
