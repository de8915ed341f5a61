"""The bare repository with one file per spoke: reading, committing, moving branches, and putting it right after a kill.

Every change is one git process whose last act is git's own reference transaction, so a branch either has its commit or
is not there. Trees are compared in Python from objects that the long-lived reader hands out.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from local.portal.git_process import Git, GitError, GitObject

MAIN = "refs/heads/main"
NO_COMMIT = "0" * 40
"""What git and the REST interface write where there is no commit."""

SEED_TIME = 1_767_225_600
"""2026-01-01T00:00:00Z: the seeded commit is the same on every machine."""

_REF = re.compile(r"refs/(heads|pull|tags)/[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*")
_OID = re.compile(r"[0-9a-f]{40}")
_PATH_SEGMENT = re.compile(r"[^\0\n/]{1,200}")

ChangeKind = Literal["add", "edit", "delete"]


@dataclass(frozen=True)
class Person:
    """Author and committer of a commit. No angle brackets, no line breaks."""

    name: str
    email: str


@dataclass(frozen=True)
class Change:
    """One file that differs between two commits. `old` and `new` are blob oids, None where there is no file."""

    path: str
    kind: ChangeKind
    old: str | None
    new: str | None


@dataclass(frozen=True)
class CommitInfo:
    """What a commit says about itself. `when` is in seconds since 1970 (UTC)."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    when: int
    message: str


@dataclass(frozen=True)
class TreeEntry:
    oid: str
    is_tree: bool


@dataclass(frozen=True)
class RefUpdate:
    """Move `ref` from `old` to `new`; NO_COMMIT on the left creates, on the right deletes."""

    ref: str
    old: str
    new: str


def is_ref(name: str) -> bool:
    """Whether this is a full reference name that the portal accepts (plainer than what git itself would take)."""
    return (
        len(name) <= 250 and bool(_REF.fullmatch(name)) and ".." not in name and not name.endswith((".lock", "."))
    ) and ".lock/" not in name


def is_oid(text: str) -> bool:
    """Whether this is the full name of an object, or zeros."""
    return bool(_OID.fullmatch(text))


def is_file_path(path: str) -> bool:
    """Whether this is a relative path of a file that a commit may hold."""
    segments = path.split("/")
    return len(path) <= 400 and all(
        _PATH_SEGMENT.fullmatch(segment) and segment not in (".", "..") and segment.lower() != ".git"
        for segment in segments
    )


class Repository:
    """The bare repository at `git_dir`. Safe to use from several threads; writes take turns."""

    def __init__(self, git_dir: Path, lock_fd: int) -> None:
        self._git_dir = git_dir
        self._git = Git(git_dir, lock_fd)
        self._write_lock = threading.RLock()
        self._changes = lru_cache(maxsize=1024)(self._compare)

    @property
    def git_dir(self) -> Path:
        return self._git_dir

    def prepare(self, seed: Mapping[str, bytes], author: Person) -> list[str]:
        """Remove what a killed git left, make the repository if need be, and seed `main` if it is not there.

        Returns one sentence for each leftover that was removed. The caller holds the data folder's lock.
        """
        removed = list(self._remove_leftovers())
        made = all((self._git_dir / part).exists() for part in ("HEAD", "objects", "refs", "config"))
        if not made or self.resolve(MAIN) is None:
            self._git.run(["init", "-q", "--bare", "--template=", "--initial-branch=main", str(self._git_dir)])
            self.commit([MAIN], [], seed, "Seed the spokes", author, SEED_TIME)
        return removed

    def _remove_leftovers(self) -> Iterator[str]:
        if not self._git_dir.is_dir():
            return
        patterns = ("*.lock", "refs/**/*.lock", "objects/**/tmp_*", "objects/**/.tmp-*", "fast_import_crash_*")
        for pattern in patterns:
            for leftover in self._git_dir.glob(pattern):
                if leftover.is_dir():
                    shutil.rmtree(leftover)
                else:
                    leftover.unlink(missing_ok=True)
                yield f"removed {leftover.relative_to(self._git_dir)}, which a killed git had left"

    def read(self, name: str) -> GitObject | None:
        """The object that `name` stands for; None when there is none."""
        return self._git.read(name)

    def resolve(self, ref: str) -> str | None:
        """The commit that a reference points at; None when there is no such reference."""
        if not is_ref(ref):
            return None
        found = self._git.read(ref)
        return found.oid if found is not None and found.kind == "commit" else None

    def commit_info(self, commit: str) -> CommitInfo | None:
        """What the commit with this oid says; None when there is no such commit."""
        found = self._git.read(commit)
        if found is None or found.kind != "commit":
            return None
        head, _, message = found.body.partition(b"\n\n")
        fields: dict[str, list[str]] = {}
        for line in head.decode("utf-8", "replace").splitlines():
            key, _, value = line.partition(" ")
            fields.setdefault(key, []).append(value)
        name, _, rest = fields["author"][0].partition(" <")
        email, _, when = rest.partition("> ")
        return CommitInfo(
            oid=found.oid,
            tree=fields["tree"][0],
            parents=tuple(fields.get("parent", [])),
            author=Person(name, email),
            when=int(when.split()[0]),
            message=message.decode("utf-8", "replace").rstrip("\n"),
        )

    def file(self, commit: str, path: str) -> bytes | None:
        """The content of one file in a commit; None when the commit has no such file."""
        found = self._git.read(f"{commit}:{path}") if is_file_path(path) else None
        return found.body if found is not None and found.kind == "blob" else None

    def tree(self, name: str) -> dict[str, TreeEntry]:
        """The entries of a tree (an oid, `<commit>:<folder>` or a commit); empty when there is no such tree."""
        found = self._git.read(name)
        if found is not None and found.kind == "commit":
            found = self._git.read(f"{found.oid}^{{tree}}")
        if found is None or found.kind != "tree":
            return {}
        entries: dict[str, TreeEntry] = {}
        body, at = found.body, 0
        while at < len(body):
            end = body.index(b"\0", at)
            mode, _, entry_name = body[at:end].partition(b" ")
            oid = body[end + 1 : end + 21].hex()
            entries[entry_name.decode("utf-8", "replace")] = TreeEntry(oid, mode == b"40000")
            at = end + 21
        return entries

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """The files that differ between two commits or trees (oids, which never change), sorted by path."""
        return self._changes(old, new)

    def _compare(self, old: str, new: str) -> tuple[Change, ...]:
        return tuple(sorted(self._tree_changes(old, new, ""), key=lambda change: change.path))

    def _tree_changes(self, old: str | None, new: str | None, folder: str) -> Iterator[Change]:
        before = self.tree(old) if old else {}
        after = self.tree(new) if new else {}
        for name in before.keys() | after.keys():
            left, right = before.get(name), after.get(name)
            if left == right:
                continue
            path = folder + name
            left_tree = left.oid if left is not None and left.is_tree else None
            right_tree = right.oid if right is not None and right.is_tree else None
            if left_tree or right_tree:
                yield from self._tree_changes(left_tree, right_tree, path + "/")
            left_blob = left.oid if left is not None and not left.is_tree else None
            right_blob = right.oid if right is not None and not right.is_tree else None
            if left_blob or right_blob:
                kind: ChangeKind = "edit" if left_blob and right_blob else "add" if right_blob else "delete"
                yield Change(path, kind, left_blob, right_blob)

    def commit(
        self,
        refs: Sequence[str],
        parents: Sequence[str],
        files: Mapping[str, bytes | None],
        message: str,
        author: Person,
        when: int | None = None,
    ) -> str:
        """Make one commit on top of `parents` in which `files` are replaced (None: deleted), and point `refs` at it.

        The first of `refs` must be new or an ancestor of the commit; the others must be new. Objects first, then all
        references in one transaction. Returns the commit's oid.

        Raises:
            GitError: git refused; nothing points at the commit then.
        """
        for ref in refs:
            if not is_ref(ref):
                raise GitError(f"{ref!r} is not a reference name that the portal accepts")
        stamp = f"{author.name} <{author.email}> {int(time.time()) if when is None else when} +0000"
        text = message.encode("utf-8")
        stream = bytearray(b"feature done\n")
        stream += b"commit %s\nmark :1\ncommitter %s\ndata %d\n%s\n" % (
            refs[0].encode(),
            stamp.encode("utf-8"),
            len(text),
            text,
        )
        for index, parent in enumerate(parents):
            stream += b"%s %s\n" % (b"merge" if index else b"from", parent.encode())
        for path, content in files.items():
            if not is_file_path(path):
                raise GitError(f"{path!r} is not a path that a commit may hold")
            quoted = _quoted(path)
            if content is None:
                stream += b"D %s\n" % quoted
            else:
                stream += b"M 100644 inline %s\ndata %d\n%s\n" % (quoted, len(content), content)
        for ref in refs[1:]:
            stream += b"reset %s\nfrom :1\n" % ref.encode()
        stream += b"get-mark :1\ndone\n"
        with self._write_lock:
            printed = self._git.run(["fast-import", "--quiet", "--date-format=raw"], bytes(stream))
        return printed.decode().strip()

    def update_refs(self, updates: Sequence[RefUpdate]) -> None:
        """Move references, all or none, each only if it still is where `old` says.

        Raises:
            GitError: one of them is elsewhere, or is no name that the portal accepts; nothing has moved then.
        """
        for update in updates:
            if not is_ref(update.ref):
                raise GitError(f"{update.ref!r} is not a reference name that the portal accepts")
        lines = [f"update {update.ref} {update.new} {update.old}\n" for update in updates]
        with self._write_lock:
            self._git.run(["update-ref", "--no-deref", "--stdin"], "".join(lines).encode())

    def refs(self, prefix: str) -> dict[str, str]:
        """References below `prefix` (such as `refs/heads/`) and their commits, sorted by name."""
        printed = self._git.run(["for-each-ref", "--format=%(objectname) %(refname)"]).decode()
        pairs = (line.split(" ", 1) for line in printed.splitlines())
        return {ref: oid for oid, ref in pairs if ref.startswith(prefix)}

    def merge_base(self, left: str, right: str) -> str | None:
        """The best common ancestor of two commits; None when they have none."""
        printed = self._git.run(["merge-base", left, right], accepted=(0, 1)).decode().strip()
        return printed or None

    def writing(self) -> threading.RLock:
        """The lock that writers hold. Take it to read something and then write depending on it."""
        return self._write_lock

    def close(self) -> None:
        """End the long-lived reader, so that the data folder's lock can be given back."""
        self._git.close()


def _quoted(path: str) -> bytes:
    """A path as fast-import reads it: in double quotes, because a bare one must not begin with a quote."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'.encode()
