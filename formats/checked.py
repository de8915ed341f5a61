"""Remember what was found right, so that neither the next start nor promptfoo's loader checks it again.

Checking the cases takes a good part of a second, nearly all of it the import of the validator. What is remembered is a
digest of the case files and of everything that could change the verdict on them.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

_CODE = Path(__file__).resolve().parent.parent

_RULES = (
    "formats/*.py",
    "suites/case.schema.json",
    "assertions/**/*.py",
    "assertions/schemas/*.json",
)
"""What judges a case file, seen from the folder of this code."""

_TOOLS = ("agent_config/agents/*/agent.yaml", "agent_config/servers/*.tools.json")
"""What tells the tools that a case may name, seen from the checkout."""


def digest(files: Sequence[Path], extra_tools: Collection[str], checkout: Path) -> str:
    """The digest of these case files, together with the rules as they are now; empty when one cannot be read."""
    try:
        contents = [f"{file.resolve()} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]
    except OSError:
        return ""
    return digest_of([repr(sorted(extra_tools)), *contents], [*found(_CODE, _RULES), *found(checkout, _TOOLS)])


def digest_of(texts: Iterable[str], files: Iterable[Path]) -> str:
    """The digest of these texts and of the state (size and time) of these files; empty when one is gone."""
    content = hashlib.sha256()
    try:
        for text in texts:
            content.update(f"{len(text)} {text}\n".encode())
        for file in files:
            state = file.stat()
            content.update(f"{file} {state.st_size} {state.st_mtime_ns}\n".encode())
    except OSError:
        return ""
    return content.hexdigest()


def found(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files in `folder` that one of the patterns matches."""
    return sorted(file for pattern in patterns for file in folder.glob(pattern) if file.is_file())


def is_known(value: str, checkout: Path) -> bool:
    """Was what has this digest found right before?"""
    return bool(value) and (_folder(checkout) / value).exists()


def remember(value: str, checkout: Path) -> None:
    """What has this digest is right. Where nothing can be written, it is checked again next time."""
    if value:
        with contextlib.suppress(OSError):
            _folder(checkout).mkdir(parents=True, exist_ok=True)
            for old in sorted(_folder(checkout).iterdir(), key=lambda file: file.stat().st_mtime)[:-_KEPT]:
                old.unlink(missing_ok=True)
            (_folder(checkout) / value).touch()


_KEPT = 40
"""So many digests are kept: two per suite and a few that go back and forth."""


def _folder(checkout: Path) -> Path:
    return checkout / ".evals" / "checked"
