"""The repository over REST: what it is, its branches, files, commits and differences, and pushing one commit."""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Iterator
from typing import Any

from local.portal import addresses
from local.portal.devops import shapes
from local.portal.devops.errors import ServiceError, invalid, no_item, no_version
from local.portal.devops.request import RestRequest, oid_of, text_of
from local.portal.git_process import GitError
from local.portal.repository import MAIN, NO_COMMIT, RefUpdate, is_file_path, is_oid, is_ref
from local.portal.state import PortalState

Json = shapes.Json

_MAX_COMMITS = 1000


class GitHandlers:
    """One method per operation; each returns the JSON of a success and raises ServiceError otherwise."""

    def __init__(self, state: PortalState) -> None:
        self._state = state
        self._push_ids = itertools.count(1)

    def repositories(self, _request: RestRequest) -> Json:
        return shapes.collection([shapes.repository(self._state.addresses)])

    def repository(self, _request: RestRequest) -> Json:
        return shapes.repository(self._state.addresses)

    def refs(self, request: RestRequest) -> Json:
        prefix = f"refs/{request.text('filter') or ''}"
        contains = request.text("filterContains") or ""
        found = [self._ref(name, oid) for name, oid in self._state.repository.refs(prefix).items() if contains in name]
        return shapes.collection(found[: request.number("$top", len(found), 10_000)])

    def update_refs(self, request: RestRequest) -> Json:
        updates = request.body_list()
        if not all(isinstance(update, dict) for update in updates):
            raise invalid("the body", "it must be an array of objects with name, oldObjectId and newObjectId")
        return shapes.collection([self._update_ref(update) for update in updates])

    def _update_ref(self, update: Json) -> Json:
        name = text_of(update.get("name"), "name")
        old, new = (oid_of(update.get(key), key) for key in ("oldObjectId", "newObjectId"))
        status = self._try_update(name, old, new)
        return {
            "repositoryId": addresses.REPOSITORY_ID,
            "name": name,
            "oldObjectId": old,
            "newObjectId": new,
            "isLocked": False,
            "updateStatus": status,
            "success": status == "succeeded",
        }

    def _try_update(self, name: str, old: str, new: str) -> str:
        if not is_ref(name) or not name.startswith("refs/heads/"):
            return "invalidRefName"
        if name == MAIN:
            # Only completing a pull request changes main.
            return "rejectedByPolicy"
        repository = self._state.repository
        with repository.writing():
            if (repository.resolve(name) or NO_COMMIT) != old:
                return "staleOldObjectId"
            if new != NO_COMMIT and repository.commit_info(new) is None:
                return "unresolvableToCommit"
            if old == new:
                return "succeeded"
            try:
                repository.update_refs([RefUpdate(name, old, new)])
            except GitError:
                return "refNameConflict" if old == NO_COMMIT else "staleOldObjectId"
        return "succeeded"

    def _ref(self, name: str, oid: str) -> Json:
        return {
            "name": name,
            "objectId": oid,
            "url": f"{self._state.addresses.git}/refs?filter={name.removeprefix('refs/')}",
        }

    def item(self, request: RestRequest) -> Json | bytes:
        """A file as JSON or as it is (by the `Accept` header), or the list of what lies under `scopePath`."""
        commit = self._version(request, "versionDescriptor.version", "versionDescriptor.versionType")
        path = (request.parts.get("path") or request.text("path") or "").strip("/")
        if not path:
            return self._items(request, commit)
        blob = self._state.repository.read(f"{commit}:{path}") if is_file_path(path) else None
        if blob is None:
            raise no_item(path, request.text("versionDescriptor.version") or "main")
        shape = self._item(path, blob.oid, blob.kind == "tree", commit)
        if blob.kind != "blob":
            return shape
        wants_json = "application/json" in request.accept or (request.text("$format") or "").lower() == "json"
        if not wants_json or request.flag("download"):
            return blob.body
        if request.flag("includeContent"):
            shape["content"] = blob.body.decode("utf-8", "replace")
        return shape

    def _items(self, request: RestRequest, commit: str) -> Json:
        scope = (request.text("scopePath") or "/").strip("/")
        level = (request.text("recursionLevel") or "none").lower()
        if scope and not is_file_path(scope):
            raise no_item(scope, commit)
        found = self._state.repository.read(f"{commit}:{scope}" if scope else f"{commit}^{{tree}}")
        if found is None:
            raise no_item(scope, request.text("versionDescriptor.version") or "main")
        items = [self._item(scope, found.oid, found.kind == "tree", commit)]
        if found.kind == "tree" and level != "none":
            items += self._below(found.oid, f"{scope}/" if scope else "", commit, level == "full")
        return shapes.collection(items)

    def _below(self, tree: str, folder: str, commit: str, deep: bool) -> Iterator[Json]:
        for name, entry in sorted(self._state.repository.tree(tree).items()):
            yield self._item(folder + name, entry.oid, entry.is_tree, commit)
            if entry.is_tree and deep:
                yield from self._below(entry.oid, f"{folder}{name}/", commit, deep)

    def _item(self, path: str, oid: str, is_folder: bool, commit: str) -> Json:
        shape: Json = {
            "objectId": oid,
            "gitObjectType": "tree" if is_folder else "blob",
            "commitId": commit,
            "path": f"/{path}",
            "url": f"{self._state.addresses.git}/items?path=/{path}&versionType=Commit&version={commit}",
        }
        return shape | {"isFolder": True} if is_folder else shape

    def commits(self, request: RestRequest) -> Json:
        prefix = "searchCriteria.itemVersion"
        commit: str | None = self._version(request, f"{prefix}.version", f"{prefix}.versionType")
        skip = request.number("$skip", request.number("searchCriteria.$skip", 0, _MAX_COMMITS), _MAX_COMMITS)
        top = request.number("$top", request.number("searchCriteria.$top", 100, _MAX_COMMITS), _MAX_COMMITS)
        found: list[Json] = []
        while commit is not None and len(found) < skip + top:
            info = self._state.repository.commit_info(commit)
            if info is None:
                break
            found.append(shapes.commit(self._state.addresses, info))
            commit = info.parents[0] if info.parents else None
        return shapes.collection(found[skip:])

    def commit(self, request: RestRequest) -> Json:
        info = self._state.repository.commit_info(request.parts["id"])
        if info is None:
            raise no_version(request.parts["id"])
        return shapes.commit(self._state.addresses, info)

    def differences(self, request: RestRequest) -> Json:
        """What differs between two versions; with `diffCommonCommit`, between their common ancestor and the target."""
        base = self._version(request, "baseVersion", "baseVersionType")
        target = self._version(request, "targetVersion", "targetVersionType")
        common = self._state.repository.merge_base(base, target) or NO_COMMIT
        left = common if request.flag("diffCommonCommit") and common != NO_COMMIT else base
        changes = self._state.repository.changes(left, target)
        counts: dict[str, int] = {}
        for changed in changes:
            key = changed.kind.capitalize()
            counts[key] = counts.get(key, 0) + 1
        skip, top = request.number("$skip", 0, 1_000_000), request.number("$top", 100, 2000)
        shown = changes[skip : skip + top]
        return {
            "allChangesIncluded": skip + len(shown) >= len(changes),
            "changeCounts": counts,
            "changes": [shapes.change(self._state.addresses, changed, target) for changed in shown],
            "commonCommit": common,
            "baseCommit": base,
            "targetCommit": target,
        }

    def push(self, request: RestRequest) -> Json:
        """One commit on one branch. A branch that is not there yet starts at the commit `oldObjectId`."""
        body = request.body_object()
        update, commit = _only(body, "refUpdates"), _only(body, "commits")
        name, old = text_of(update.get("name"), "name"), oid_of(update.get("oldObjectId"), "oldObjectId")
        files = dict(_file_change(change) for change in _objects(commit, "changes"))
        if not files:
            raise invalid("changes", "a push changes at least one file")
        if not is_ref(name) or not name.startswith("refs/heads/") or name == MAIN:
            raise invalid("refUpdates", "pushes go to branches other than main")
        repository = self._state.repository
        with repository.writing():
            tip = repository.resolve(name)
            if tip not in (None, old) or repository.commit_info(old) is None:
                raise ServiceError(
                    409,
                    "GitReferenceStaleException",
                    f"TF401028: The reference '{name}' has already been updated by another client, so you cannot "
                    "update it. Please try again.",
                )
            comment = text_of(commit.get("comment") or "Push", "comment")
            new = repository.commit([name], [old], files, comment, request.identity.person)
        info = repository.commit_info(new)
        at = self._state.addresses
        push_id = next(self._push_ids)
        return {
            "pushId": push_id,
            "pushedBy": shapes.person(at, request.identity),
            "commits": [] if info is None else [shapes.commit(at, info)],
            "refUpdates": [
                {
                    "repositoryId": addresses.REPOSITORY_ID,
                    "name": name,
                    "oldObjectId": tip or NO_COMMIT,
                    "newObjectId": new,
                }
            ],
            "repository": shapes.repository(at),
            "url": f"{at.git}/pushes/{push_id}",
        }

    def _version(self, request: RestRequest, key: str, kind_key: str) -> str:
        """The commit that a version descriptor names: a branch (the default), a commit, or `main` if there is none."""
        name = request.text(key) or "main"
        kind = (request.text(kind_key) or "branch").lower()
        repository = self._state.repository
        if kind == "commit":
            info = repository.commit_info(name) if is_oid(name) else None
            commit = info.oid if info is not None else None
        else:
            commit = repository.resolve(f"refs/heads/{name.removeprefix('refs/heads/')}")
        if commit is None:
            raise no_version(f"{kind}: {name}")
        return commit


def _objects(parent: Json, key: str) -> list[Json]:
    values: Any = parent.get(key)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise invalid(key, "it must be an array of objects")
    return values


def _only(parent: Json, key: str) -> Json:
    values = _objects(parent, key)
    if len(values) != 1:
        raise invalid(key, "the portal takes exactly one")
    return values[0]


def _file_change(change: Json) -> tuple[str, bytes | None]:
    item: Any = change.get("item")
    path = text_of(item.get("path") if isinstance(item, dict) else None, "item.path").lstrip("/")
    if not is_file_path(path):
        raise invalid("item.path", "it is not the path of a file")
    kind = change.get("changeType")
    if kind == "delete":
        return path, None
    content: Any = change.get("newContent")
    if kind not in ("add", "edit") or not isinstance(content, dict):
        raise invalid("changeType", "it must be add or edit, with newContent, or delete")
    text = text_of(content.get("content"), "newContent.content")
    if str(content.get("contentType", "rawtext")).lower() != "base64encoded":
        return path, text.encode("utf-8", "replace")
    try:
        return path, base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid("newContent.content", "it is not base64") from error
