"""What of the run can change a result, beside the agent: this pack's own code, the suite's files, and the case."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from providers.recorder import Recorder

CHECKOUT = Path(__file__).resolve().parent.parent
PACK_ROOMS = ("models", "providers")
"""Rooms whose code takes part in a conversation."""

SUITE_FILES = ("promptfooconfig.yaml", "cases.yaml")


def note_run(recorder: Recorder, base_path: Path, variables: Mapping[str, Any]) -> None:
    """Note the parts `pack`, `suite` (when the suite's files are there) and `case`."""
    sha256 = pack_digest()
    recorder.fingerprint("pack", f"code of {', '.join(PACK_ROOMS)}", sha256)
    suite = recorder.identity.suite
    folder = base_path if base_path.name == suite else CHECKOUT / "suites" / suite
    texts = [_text(folder / name) for name in SUITE_FILES]
    if any(texts):
        recorder.fingerprint("suite", suite, texts)
    recorder.fingerprint("case", recorder.identity.case_id, {key: str(value) for key, value in variables.items()})


@functools.cache
def pack_digest() -> str:
    """SHA-256 over the source files of the rooms that run a conversation."""
    total = hashlib.sha256()
    for room in PACK_ROOMS:
        for path in sorted((CHECKOUT / room).rglob("*.py")):
            total.update(path.relative_to(CHECKOUT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
