"""Secrets that are made anew for one run, and the search for them in everything that the run left."""

from __future__ import annotations

import base64
import os
import secrets
import string
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PIECE = 16
"""Characters of a secret that nothing may show: a half of it is as bad as the whole."""

NOT_OURS = (".git", ".venv", "node_modules", "site-packages")
"""Folders that a run does not write into, and that are large."""


@dataclass(frozen=True)
class Secret:
    """`text` is what is planted; `core` are the letters and digits in it that occur nowhere else."""

    text: str
    core: str

    @property
    def forms(self) -> set[bytes]:
        """How the core looks as it is, in an address, in JSON (all the same), and inside base64, whole or in part."""
        data = self.core.encode()
        found = {self.core, quote(self.core, safe="")}
        for before, shared in ((0, 0), (1, 2), (2, 3)):
            found.add(base64.b64encode(bytes(before) + data)[shared : (before + len(data)) * 8 // 6].decode())
        return {piece.encode() for form in found for piece in (form[:PIECE], form[-PIECE:])}


def known(form: str = "{}") -> Secret:
    """A secret that only a process that holds it can recognise."""
    core = secrets.token_hex(20)
    return Secret(form.format(core), core)


def issued(text: str) -> Secret:
    """A secret that somebody else has made."""
    return Secret(text, text)


def personal_access_token() -> Secret:
    core = "".join(secrets.choice(string.ascii_lowercase + "234567") for _ in range(52))
    return Secret(core, core)


def web_token() -> Secret:
    head, body = (
        base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"none"}', b'{"sub":"planted"}')
    )
    core = secrets.token_hex(20)
    return Secret(f"{head}.{body}.{core}", core)


def storage_key() -> Secret:
    core = base64.b64encode(secrets.token_bytes(64)).decode().rstrip("=")
    return Secret(f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={core}==;EndpointSuffix=core", core)


def private_key() -> list[Secret]:
    """One key of several lines; each line is one to look for."""
    lines = [base64.b64encode(secrets.token_bytes(48)).decode() for _ in range(3)]
    text = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    return [Secret(text, line) for line in lines]


def traces(planted: Mapping[str, Secret], texts: Iterable[tuple[str, bytes]]) -> list[str]:
    """`<secret> in <place>` for every secret of which a form stands in one of the texts."""
    forms = [(name, form) for name, secret in planted.items() for form in secret.forms]
    return sorted({f"{name} in {place}" for place, text in texts for name, form in forms if form in text})


def files(*folders: Path, but: Iterable[Path] = (), since: float = 0.0) -> Iterator[tuple[str, bytes]]:
    """Every file below the folders that was written since then, with its content."""
    left_out = {folder.resolve() for folder in but}
    for folder in folders:
        for place, inner, names in os.walk(folder):
            here = Path(place)
            inner[:] = [name for name in inner if name not in NOT_OURS and (here / name).resolve() not in left_out]
            for name in names:
                path = here / name
                with suppress(OSError):
                    if path.is_file() and path.stat().st_mtime >= since:
                        yield str(path), path.read_bytes()


@contextmanager
def watched_command_lines() -> Iterator[dict[str, bytes]]:
    """The command lines of all processes of this machine that are seen while the block runs."""
    seen: dict[str, bytes] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            for folder in Path("/proc").iterdir():
                if folder.name.isdigit():
                    with suppress(OSError):
                        line = (folder / "cmdline").read_bytes()
                        seen[f"the command line {line!r:.200}"] = line

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()
