"""The ledger of side effects: what a run set out to create, what came of it, and what was cleaned up.

One file per run, `<home>/ledger/<run id>.jsonl`, one JSON object per line, only ever appended to:

- `intent`: written and synced *before* a creating tool call is sent,
- `result`: written after its answer came (or is known not to come),
- `swept`: written by the cleanup, one per pull request or intent that it looked at.

Whoever is killed between two lines leaves an intent without a result, which the sweep looks up on the host by its
marker. No token and no address with credentials is ever written here. Every hook process imports this module, so it
needs the light part of the standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from episodes.record import PullRequest

LEDGER_FOLDER = "ledger"
MARKER_PREFIX = "evals/"
"""Every marker begins with this, so that a person recognises our branches."""
MAX_TEXT = 500
"""Characters of a problem that are kept."""
LOCAL_HOST = "local"
"""Host label of the local portal, whose port differs from run to run."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:.")


class LedgerError(RuntimeError):
    """The ledger could not be written. Whoever gets this for an intent must not send the call."""


def ledger_file(home: Path, run_id: str) -> Path:
    """Where the run's lines are. Whatever the id holds, the file is in the ledger folder."""
    return home / LEDGER_FOLDER / f"{_file_stem(run_id)}.jsonl"


def left_file(home: Path, run_id: str) -> Path:
    """Where the sweep writes what it had to leave; absent when nothing is left."""
    return home / LEDGER_FOLDER / f"{_file_stem(run_id)}.left.json"


def new_marker() -> str:
    """A branch prefix that proves that we asked for the branch, such as `evals/3f9c0a7be1d2`.

    A creating tool gets it as branch prefix and as a line of the description, where it takes such arguments.
    """
    return MARKER_PREFIX + os.urandom(6).hex()


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds, as every line carries it."""
    seconds, fraction = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{fraction // 1_000_000:03d}+00:00"


class Ledger:
    """Appends to one run's ledger. Safe to use from many processes and threads at the same time."""

    def __init__(self, path: Path, run_id: str, host: str) -> None:
        self._path = path
        self._run_id = run_id
        self._host = host
        self._open: dict[tuple[str, str], str] = {}

    @classmethod
    def open(cls, home: Path, run_id: str, host: str | None = None) -> Ledger:
        """The ledger of `run_id` (promptfoo's evaluation id) under the data folder `home`.

        `host` is the label of the pull-request host: `local`, or the address of its API. Unset, it is taken from the
        environment (`EVALS_PULL_REQUEST_API`). Nothing is written before the first line.
        """
        if not run_id:
            raise LedgerError("a ledger needs the id of its run, and it is empty")
        return cls(ledger_file(home, run_id), run_id, _configured_host() if host is None else host)

    @property
    def path(self) -> Path:
        return self._path

    def intent(self, step_id: str, call_id: str, server: str, tool: str, marker: str) -> None:
        """Say that a creating call is about to be sent. Returns once the line is on disk.

        `marker` comes from `new_marker`; it is empty when the tool takes neither a branch prefix nor a description,
        and then a creation whose answer is lost can be reported but never cleaned up.

        Raises:
            LedgerError: the line is not on disk; do not send the call.
        """
        intent_id = os.urandom(4).hex()
        self._append(
            {
                "kind": "intent",
                "intent": intent_id,
                "step": step_id,
                "call": call_id,
                "server": server,
                "tool": tool,
                "marker": marker,
                "host": self._host,
                "pid": os.getpid(),
                "born": process_start(os.getpid()),
            }
        )
        self._open[(step_id, call_id)] = intent_id

    def result(
        self,
        step_id: str,
        call_id: str,
        pull_request: PullRequest | None,
        problem: str = "",
        *,
        answered: bool = True,
        sent: bool = True,
    ) -> None:
        """Say what came of the call: the pull request that the tool's own result proves, or None and why.

        `answered` is False when no answer came (broken connection, time-out, cancelled): whether something was
        created is then unknown, and the sweep asks the host. `sent` is False when the call never left: its answer came
        from a recording, or the connection was refused. Then there is nothing to look for.

        Raises:
            LedgerError: the line is not on disk. The intent is, so the sweep still finds what was created.
        """
        row: dict[str, Any] = {
            "kind": "result",
            "intent": self._open.pop((step_id, call_id), ""),
            "step": step_id,
            "call": call_id,
            "host": self._host,
            "answered": answered,
            "sent": sent,
            "problem": _brief(problem),
        }
        if pull_request is not None:
            # A tool's own words: the address may hold a password.
            from endpoints.redaction import redact_value

            row["pullRequest"] = redact_value(
                {
                    "id": pull_request.id,
                    "url": pull_request.url,
                    "repository": pull_request.repository,
                    "sourceBranch": pull_request.source_branch,
                }
            )
        self._append(row)

    def swept(
        self, intent_id: str, step_id: str, repository: str, pull_request_id: str, outcome: str, detail: str = ""
    ) -> None:
        """Say what the cleanup did about one creation. Raises LedgerError when the line is not on disk."""
        self._append(
            {
                "kind": "swept",
                "intent": intent_id,
                "step": step_id,
                "repository": repository,
                "id": pull_request_id,
                "outcome": outcome,
                "detail": _brief(detail),
            }
        )

    def _append(self, row: dict[str, Any]) -> None:
        line = json.dumps({"run": self._run_id, "at": now(), **row}, ensure_ascii=True) + "\n"
        try:
            new = not self._path.exists()
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                data = _mend(descriptor) + line.encode("ascii")
                if os.write(descriptor, data) != len(data):
                    raise LedgerError(f"{self._path}: only a part of the line could be written; is the disk full?")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if new:
                _sync_folder(self._path.parent)
        except OSError as error:
            raise LedgerError(f"{self._path}: cannot write the ledger: {error.strerror or error}") from error


def _brief(text: str) -> str:
    """What a tool or a host said, without credentials, cut to `MAX_TEXT`."""
    if not text:
        return ""
    from endpoints.redaction import redact

    return redact(text)[:MAX_TEXT]


def process_start(pid: int) -> str:
    """When the process began, in the kernel's ticks; empty when it has ended, or where that cannot be read.

    Tells a process from a later one with the same number.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name in brackets and may hold spaces; the third is the state (Z: ended, but not
    # yet collected by its parent), the 22nd is the start.
    fields = stat.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else ""


def _mend(descriptor: int) -> bytes:
    """A line break, when whoever wrote last was killed in the middle of its line."""
    size = os.fstat(descriptor).st_size
    return b"" if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file_stem(run_id: str) -> str:
    stem = "".join(char if char in _PLAIN else "".join(f"%{byte:02X}" for byte in char.encode()) for char in run_id)
    return stem.replace(".", "%2E", 1) if stem.startswith(".") else stem


def _configured_host() -> str:
    from endpoints.settings import value

    return (value("EVALS_PULL_REQUEST_API") or LOCAL_HOST).rstrip("/")
