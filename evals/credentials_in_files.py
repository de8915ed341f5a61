"""Credentials in files that git tracks, or is about to: by name, by their form, and by the values in use here.

Made-up ones (tests need them) are listed in `setup/git-hooks/made-up-credentials.txt`, each line of a file by its hash,
so that the list shows in a review. A value that is in use here is never taken for made up.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from endpoints.redaction import find, find_known
from endpoints.settings import SETTINGS
from evals.command_line import CommandError

MADE_UP = "setup/git-hooks/made-up-credentials.txt"
_HEADER = """\
# Lines that look like credentials and are made up: hash of the line, file.
# Written by `npm run evals -- check-secrets --made-up FILE …`.
"""
_FILES = {
    ".env": "a file with real variables",
    ".env.*": "a file with real variables",
    "*.pem": "a private key or certificate",
    "*.key": "a private key",
    "*.p12": "a private key",
    "*.pfx": "a private key",
    "id_rsa": "a private key",
    "id_ed25519": "a private key",
    ".netrc": "a file with passwords",
}
_EXAMPLE = ".env.example"
_BINARY_LOOK = 8192
_SECRETS = "|".join(setting.name for setting in SETTINGS if setting.secret)
_FILLED_IN = re.compile(rf"^[ \t]*(?:export[ \t]+)?(?:{_SECRETS})[ \t]*=[ \t]*[\"']?[^\s\"'#$<{{]{{8,}}", re.M)


@dataclass(frozen=True)
class Found:
    """`line` is 0 for a whole file, `digest` names the line's text without showing it."""

    path: str
    line: int
    what: str
    digest: str = ""
    in_use: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


def tracked(root: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file that git tracks, as it lies in the folder."""
    for path in _git(root, "ls-files", "-z").decode().split("\0"):
        file = root / path
        if path and file.is_file() and not file.is_symlink():
            yield path, file.read_bytes()


def staged(root: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file that the next commit adds or changes, as it will be committed."""
    listed = _git(root, "diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=ACM")
    for path in listed.decode().split("\0"):
        if path:
            yield path, _git(root, "show", f":{path}")


def credentials(path: str, content: bytes) -> Iterator[Found]:
    """What looks like a credential in one file. Nothing shows the value itself."""
    name = path.rpartition("/")[2]
    for pattern, what in _FILES.items():
        if fnmatchcase(name, pattern) and name != _EXAMPLE:
            yield Found(path, 0, f"{what} has no place in a repository", digest=_digest(name))
            break
    if b"\0" in content[:_BINARY_LOOK]:
        return
    text = content.decode("utf-8", "replace")
    lines = text.split("\n")
    in_use = {text.count("\n", 0, start) for start in find_known(text)}
    filled_in = {text.count("\n", 0, match.start()) for match in _FILLED_IN.finditer(text)}
    for number in sorted({text.count("\n", 0, start) for start in find(text)} | filled_in):
        what = "has the form of a credential"
        if number in in_use:
            what = "holds the value of a variable that is a secret here"
        elif number in filled_in:
            what = "gives a value to a variable that is a secret"
        yield Found(path, number + 1, what, _digest(lines[number].strip()), number in in_use)


def made_up(root: Path) -> dict[str, set[str]]:
    """The listed hashes by file."""
    file = root / MADE_UP
    listed: dict[str, set[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        digest, _, path = line.partition(" ")
        if path and not line.startswith("#"):
            listed.setdefault(path, set()).add(digest)
    return listed


def write_made_up(root: Path, listed: dict[str, set[str]]) -> None:
    """Write the list, sorted."""
    lines = [f"{digest} {path}\n" for path in sorted(listed) for digest in sorted(listed[path])]
    (root / MADE_UP).write_text(_HEADER + "".join(lines), encoding="utf-8")


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()[:16]


def _git(root: Path, *words: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise CommandError("git is not installed, so what it tracks can not be looked at.") from None
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())
        raise CommandError(f"{root}: git can not list its files: {said}") from None
