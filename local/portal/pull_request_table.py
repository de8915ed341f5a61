"""The rows of pull requests, in SQLite with a write-ahead log: a killed portal loses at most what it had not answered.

A row is written with the status `creating` before its branch is made, so that no branch can exist without a row.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Status = Literal["creating", "active", "abandoned", "completed"]
STATUSES: tuple[Status, ...] = get_args(Status)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pull_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('creating', 'active', 'abandoned', 'completed')),
    source_ref TEXT NOT NULL,
    target_ref TEXT NOT NULL,
    source_commit TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    merge_commit TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    closed_by TEXT NOT NULL,
    closed_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS pull_requests_by_source ON pull_requests (source_ref, status);
CREATE UNIQUE INDEX IF NOT EXISTS pull_requests_open
    ON pull_requests (source_ref, target_ref) WHERE status IN ('creating', 'active');
"""

_COLUMNS = (
    "id, title, description, status, source_ref, target_ref, source_commit, base_commit, merge_commit, created_by,"
    " created_at, closed_by, closed_at"
)
_CHANGEABLE = frozenset(
    {"title", "description", "status", "target_ref", "source_commit", "base_commit", "merge_commit"}
    | {"closed_by", "closed_at"}
)


@dataclass(frozen=True)
class Row:
    """One pull request. Times are ISO 8601 in UTC; commits are oids; what is not known yet is an empty text."""

    id: int
    title: str
    description: str
    status: Status
    source_ref: str
    target_ref: str
    source_commit: str
    base_commit: str
    """Where the source branch left the target."""
    merge_commit: str
    created_by: str
    """Unique name of an identity."""
    created_at: str
    closed_by: str
    closed_at: str


@dataclass(frozen=True)
class Filter:
    """Which rows to list. None does not filter; rows that are still being created are never listed."""

    status: Status | None = None
    source_ref: str | None = None
    target_ref: str | None = None
    created_by: str | None = None
    created_since: str | None = None
    created_until: str | None = None
    closed_since: str | None = None
    closed_until: str | None = None
    """Moments as in the rows (UTC, microseconds, `Z`), included."""
    skip: int = 0
    top: int = 100


class AlreadyOpenError(ValueError):
    """There is an open pull request with the same source and target."""


class PullRequestTable:
    """The table in the SQLite file `path`. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_SCHEMA)

    def insert(self, row: Row) -> Row:
        """Add a row (its id is ignored) and return it with its new id. Ids are never used twice.

        Raises:
            AlreadyOpenError: an open pull request has the same source and target.
        """
        values = (
            row.title,
            row.description,
            row.status,
            row.source_ref,
            row.target_ref,
            row.source_commit,
            row.base_commit,
            row.merge_commit,
            row.created_by,
            row.created_at,
            row.closed_by,
            row.closed_at,
        )
        places = ", ".join("?" * len(values))
        names = _COLUMNS.removeprefix("id, ")
        try:
            with self._lock:
                cursor = self._connection.execute(f"INSERT INTO pull_requests ({names}) VALUES ({places})", values)
                new_id = cursor.lastrowid
        except sqlite3.IntegrityError as error:
            raise AlreadyOpenError(f"{row.source_ref} already has an open pull request to {row.target_ref}") from error
        assert new_id is not None
        return _row((new_id, *values))

    def get(self, pull_request_id: int) -> Row | None:
        """The row with this id; None when there is none."""
        found = self._select("WHERE id = ?", (pull_request_id,))
        return found[0] if found else None

    def matching(self, wanted: Filter) -> list[Row]:
        """Rows that fit, newest first."""
        clauses, values = ["status <> 'creating'"], list[str | int]()
        for condition, value in (
            ("status = ?", wanted.status),
            ("source_ref = ?", wanted.source_ref),
            ("target_ref = ?", wanted.target_ref),
            ("created_by = ?", wanted.created_by),
            ("created_at >= ?", wanted.created_since),
            ("created_at <= ?", wanted.created_until),
            ("closed_at >= ?", wanted.closed_since),
            ("closed_at <> '' AND closed_at <= ?", wanted.closed_until),
        ):
            if value is not None:
                clauses.append(condition)
                values.append(value)
        where = f"WHERE {' AND '.join(clauses)} ORDER BY id DESC LIMIT ? OFFSET ?"
        return self._select(where, (*values, wanted.top, wanted.skip))

    def unfinished(self) -> list[Row]:
        """Rows whose creation had begun when the portal ended."""
        return self._select("WHERE status = 'creating' ORDER BY id", ())

    def open_rows(self) -> list[Row]:
        """All active rows, oldest first."""
        return self._select("WHERE status = 'active' ORDER BY id", ())

    def update(self, pull_request_id: int, expected: Status, changes: Mapping[str, str]) -> bool:
        """Change columns of a row that still has the status `expected`; False when it has not.

        Raises:
            AlreadyOpenError: the row would become a second open pull request of its branches.
        """
        unknown = changes.keys() - _CHANGEABLE
        if unknown:
            raise KeyError(f"not columns that change: {', '.join(sorted(unknown))}")
        assignments = ", ".join(f"{column} = ?" for column in changes)
        try:
            with self._lock:
                cursor = self._connection.execute(
                    f"UPDATE pull_requests SET {assignments} WHERE id = ? AND status = ?",
                    (*changes.values(), pull_request_id, expected),
                )
        except sqlite3.IntegrityError as error:
            raise AlreadyOpenError("there is already an open pull request of these branches") from error
        return cursor.rowcount == 1

    def remove(self, pull_request_id: int) -> None:
        """Forget a row that never became a pull request."""
        with self._lock:
            self._connection.execute(
                "DELETE FROM pull_requests WHERE id = ? AND status = 'creating'", (pull_request_id,)
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _select(self, where: str, values: tuple[str | int, ...]) -> list[Row]:
        with self._lock:
            found = self._connection.execute(f"SELECT {_COLUMNS} FROM pull_requests {where}", values).fetchall()
        return [_row(columns) for columns in found]


def _row(columns: tuple[object, ...]) -> Row:
    number, *texts = columns
    title, description, status, source_ref, target_ref, source, base, merge, by, at, closed_by, closed_at = map(
        str, texts
    )
    assert isinstance(number, int)
    return Row(
        id=number,
        title=title,
        description=description,
        status=_status(status),
        source_ref=source_ref,
        target_ref=target_ref,
        source_commit=source,
        base_commit=base,
        merge_commit=merge,
        created_by=by,
        created_at=at,
        closed_by=closed_by,
        closed_at=closed_at,
    )


def _status(text: str) -> Status:
    for status in STATUSES:
        if status == text:
            return status
    raise ValueError(f"{text!r} is not a status of a pull request; {', '.join(STATUSES)} are")
