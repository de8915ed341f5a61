"""Pull requests: a row in the table and a branch in the repository, kept in step through kills and restarts.

Opening one writes the row (`creating`), then the commit with the branch and `refs/pull/<id>/source` in one git
transaction, then the row again (`active`). `reconcile` finishes or forgets what a kill left in between. The second
reference keeps the commit readable after the branch is gone.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from functools import lru_cache
from typing import Literal

from local.portal.git_process import GitError
from local.portal.identity import Identity
from local.portal.pull_request_table import AlreadyOpenError, Filter, PullRequestTable, Row
from local.portal.repository import MAIN, NO_COMMIT, Change, RefUpdate, Repository, is_ref

MAX_TITLE = 400
MAX_DESCRIPTION = 4000
"""Characters, as Azure DevOps limits them."""

Problem = Literal["not_found", "exists", "no_branch", "not_editable", "conflict", "invalid"]
MergeStatus = Literal["notSet", "succeeded", "conflicts"]


class PullRequestError(ValueError):
    """What was asked can not be done. The text is a sentence for the caller; `problem` is for programs."""

    def __init__(self, problem: Problem, message: str) -> None:
        super().__init__(message)
        self.problem: Problem = problem


class PullRequests:
    """All pull requests of the one repository. Safe to use from several threads."""

    def __init__(self, repository: Repository, table: PullRequestTable) -> None:
        self._repository = repository
        self._table = table
        self._conflicts = lru_cache(maxsize=1024)(self._find_conflicts)

    def open_with_file(
        self, author: Identity, title: str, description: str, branch: str, path: str, content: bytes
    ) -> Row:
        """Open a pull request to `main` whose one commit writes one file. `branch` is a short name.

        Raises:
            PullRequestError: `invalid` (title, description, branch name, or the file already has this content),
                `exists` (the branch is taken).
        """
        _check_texts(title, description)
        source_ref = f"refs/heads/{branch}"
        if not is_ref(source_ref):
            raise PullRequestError("invalid", f"{branch!r} is not a usable branch name")
        base = self._repository.resolve(MAIN)
        if base is None:
            raise PullRequestError("no_branch", "the repository has no branch main")
        if self._repository.file(base, path) == content:
            raise PullRequestError("invalid", f"{path} already has exactly this content, so there is nothing to change")
        if self._repository.resolve(source_ref) is not None:
            raise PullRequestError("exists", f"the branch {branch} already exists")
        row = self._begin(author, title, description, source_ref, MAIN, base)
        try:
            message = f"{title}\n\n{description}".strip() + "\n"
            commit = self._repository.commit(
                [source_ref, _kept_ref(row.id)], [base], {path: content}, message, author.person
            )
        except GitError:
            self._table.remove(row.id)
            raise
        return self._activate(row, commit)

    def open_from_branch(self, author: Identity, title: str, description: str, source_ref: str, target_ref: str) -> Row:
        """Open a pull request between two branches that exist (full names, `refs/heads/…`).

        Raises:
            PullRequestError: `invalid`, `no_branch` or `exists`.
        """
        _check_texts(title, description)
        source, target = self._branch(source_ref), self._branch(target_ref)
        if source_ref == target_ref:
            raise PullRequestError("invalid", "source and target are the same branch")
        base = self._repository.merge_base(source, target)
        if base is None:
            raise PullRequestError("no_branch", f"{source_ref} and {target_ref} have no common history")
        row = self._begin(author, title, description, source_ref, target_ref, base)
        try:
            self._repository.update_refs([RefUpdate(_kept_ref(row.id), NO_COMMIT, source)])
        except GitError:
            self._table.remove(row.id)
            raise
        return self._activate(row, source)

    def get(self, pull_request_id: int) -> Row:
        """The pull request as it is now.

        Raises:
            PullRequestError: `not_found`.
        """
        row = self._table.get(pull_request_id)
        if row is None or row.status == "creating":
            raise PullRequestError("not_found", f"there is no pull request {pull_request_id}")
        return self._fresh(row)

    def matching(self, wanted: Filter) -> list[Row]:
        """The pull requests that fit, newest first."""
        return [self._fresh(row) for row in self._table.matching(wanted)]

    def changes(self, row: Row) -> tuple[Change, ...]:
        """The files that the pull request changes, sorted by path."""
        return self._repository.changes(row.base_commit, row.source_commit)

    def merge_status(self, row: Row) -> MergeStatus:
        """Whether it could be completed now; for one that was, `succeeded`; for an abandoned one, `notSet`."""
        if row.status == "completed":
            return "succeeded"
        target = self._repository.resolve(row.target_ref)
        if row.status != "active" or target is None:
            return "notSet"
        return "conflicts" if self._conflicts(row.base_commit, row.source_commit, target) else "succeeded"

    def edit(self, pull_request_id: int, title: str | None, description: str | None, target_ref: str | None) -> Row:
        """Change what may be changed of an open pull request; None leaves as it is.

        Raises:
            PullRequestError: `not_found`, `not_editable`, `invalid`, `no_branch` or `exists`.
        """
        row = self.get(pull_request_id)
        _check_texts(row.title if title is None else title, row.description if description is None else description)
        changes: dict[str, str] = {}
        if title is not None:
            changes["title"] = title
        if description is not None:
            changes["description"] = description
        if target_ref is not None and target_ref != row.target_ref:
            base = self._repository.merge_base(row.source_commit, self._branch(target_ref))
            if base is None:
                raise PullRequestError("no_branch", f"{target_ref} has no common history with the source")
            changes |= {"target_ref": target_ref, "base_commit": base}
        return self._update(row, changes) if changes else row

    def abandon(self, pull_request_id: int, by: Identity) -> Row:
        """Close without merging. An abandoned one stays as it is.

        Raises:
            PullRequestError: `not_found`, or `not_editable` when it is completed.
        """
        row = self.get(pull_request_id)
        if row.status == "abandoned":
            return row
        return self._update(
            row,
            {
                "status": "abandoned",
                "source_commit": row.source_commit,
                "closed_by": by.unique_name,
                "closed_at": _now(),
            },
        )

    def reactivate(self, pull_request_id: int) -> Row:
        """Open an abandoned one again.

        Raises:
            PullRequestError: `not_found`, `not_editable` when completed, `no_branch`, or `exists`.
        """
        row = self.get(pull_request_id)
        if row.status == "active":
            return row
        self._branch(row.source_ref)
        self._branch(row.target_ref)
        return self._update(row, {"status": "active", "closed_by": "", "closed_at": ""}, expected="abandoned")

    def complete(self, pull_request_id: int, by: Identity) -> Row:
        """Merge into the target with a merge commit. The source branch stays.

        Raises:
            PullRequestError: `not_found`, `not_editable`, `no_branch`, or `conflict` with the paths.
        """
        with self._repository.writing():
            row = self.get(pull_request_id)
            if row.status != "active":
                raise PullRequestError(
                    "not_editable", f"pull request {row.id} is {row.status} and can not be completed"
                )
            self._branch(row.source_ref)
            target = self._branch(row.target_ref)
            conflicts = self._conflicts(row.base_commit, row.source_commit, target)
            if conflicts:
                raise PullRequestError("conflict", f"{', '.join(conflicts)} changed on the target in the meantime")
            files = {change.path: self._content(change) for change in self.changes(row)}
            message = f"Merged PR {row.id}: {row.title}\n"
            commit = self._repository.commit([row.target_ref], [target, row.source_commit], files, message, by.person)
            return self._update(row, _completed(row.source_commit, commit, by.unique_name))

    def reconcile(self) -> list[str]:
        """Put rows and branches in step after a kill. Returns one sentence for each thing that was found."""
        found = []
        for row in self._table.unfinished():
            tip = self._repository.resolve(row.source_ref)
            if tip is not None:
                kept = self._repository.resolve(_kept_ref(row.id))
                if kept is None:
                    self._repository.update_refs([RefUpdate(_kept_ref(row.id), NO_COMMIT, tip)])
                self._activate(row, tip)
                found.append(f"pull request {row.id}: its branch was made, so it is active now")
                continue
            kept = self._repository.resolve(_kept_ref(row.id))
            if kept is not None:
                self._repository.update_refs([RefUpdate(_kept_ref(row.id), kept, NO_COMMIT)])
            self._table.remove(row.id)
            found.append(f"pull request {row.id}: its branch had not been made, so it is forgotten")
        for row in self._table.open_rows():
            target = self._repository.resolve(row.target_ref)
            if self._repository.resolve(row.source_ref) is None:
                found.append(f"pull request {row.id}: its branch {row.source_ref} is gone; it stays as it is")
            if target is not None and target != row.base_commit and self._is_merged(row, target):
                self._update(row, _completed(row.source_commit, target, row.created_by))
                found.append(f"pull request {row.id}: it had been merged, so it is completed now")
        return found

    def _is_merged(self, row: Row, target: str) -> bool:
        contained = self._repository.merge_base(row.source_commit, target) == row.source_commit
        return contained and bool(self.changes(row))

    def _begin(
        self, author: Identity, title: str, description: str, source_ref: str, target_ref: str, base: str
    ) -> Row:
        row = Row(
            id=0,
            title=title,
            description=description,
            status="creating",
            source_ref=source_ref,
            target_ref=target_ref,
            source_commit="",
            base_commit=base,
            merge_commit="",
            created_by=author.unique_name,
            created_at=_now(),
            closed_by="",
            closed_at="",
        )
        try:
            return self._table.insert(row)
        except AlreadyOpenError as error:
            raise PullRequestError("exists", str(error)) from error

    def _activate(self, row: Row, commit: str) -> Row:
        return self._update(row, {"status": "active", "source_commit": commit}, expected="creating")

    def _update(
        self,
        row: Row,
        changes: dict[str, str],
        expected: Literal["creating", "active", "abandoned"] = "active",
    ) -> Row:
        try:
            done = self._table.update(row.id, expected, changes)
        except AlreadyOpenError as error:
            raise PullRequestError("exists", str(error)) from error
        current = self._table.get(row.id)
        if not done or current is None:
            status = "gone" if current is None else current.status
            raise PullRequestError("not_editable", f"pull request {row.id} is {status} and can not be changed")
        return current

    def _fresh(self, row: Row) -> Row:
        """An open pull request follows its branch; a closed one keeps the commit that it was closed with."""
        tip = self._repository.resolve(row.source_ref) if row.status == "active" else None
        return row if tip is None or tip == row.source_commit else dataclasses.replace(row, source_commit=tip)

    def _branch(self, ref: str) -> str:
        commit = self._repository.resolve(ref) if ref.startswith("refs/heads/") else None
        if commit is None:
            raise PullRequestError("no_branch", f"there is no branch {ref}")
        return commit

    def _find_conflicts(self, base: str, source: str, target: str) -> tuple[str, ...]:
        """Paths in the way of a three-way merge of whole files: changed on both sides, and differently."""
        if target == base:
            return ()
        conflicts = []
        for change in self._repository.changes(base, source):
            found = self._repository.read(f"{target}:{change.path}")
            current = found.oid if found is not None else None
            if current not in (change.old, change.new):
                conflicts.append(change.path)
        return tuple(conflicts)

    def _content(self, change: Change) -> bytes | None:
        blob = self._repository.read(change.new) if change.new is not None else None
        return None if blob is None else blob.body


def _completed(source: str, commit: str, by: str) -> dict[str, str]:
    return {
        "status": "completed",
        "source_commit": source,
        "merge_commit": commit,
        "closed_by": by,
        "closed_at": _now(),
    }


def _kept_ref(pull_request_id: int) -> str:
    return f"refs/pull/{pull_request_id}/source"


def _check_texts(title: str, description: str) -> None:
    if not title.strip():
        raise PullRequestError("invalid", "a pull request needs a title")
    for what, text, limit in (("title", title, MAX_TITLE), ("description", description, MAX_DESCRIPTION)):
        if len(text) > limit:
            raise PullRequestError("invalid", f"the {what} has {len(text)} characters; {limit} are allowed")
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            raise PullRequestError("invalid", f"the {what} holds characters that are not text")
    if any(char in title for char in "\r\n"):
        raise PullRequestError("invalid", "the title must be one line")


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
