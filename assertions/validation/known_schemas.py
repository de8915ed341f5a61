"""Which schemas were found to be right before? Checking one takes as long as loading the validator does.

What is kept, in the data folder, is a digest for each schema that was right; one that was wrong is checked again each
time. The digest covers the schema, the schemas that it may refer to, and the state of the code that judged.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from endpoints.settings import home
from episodes.canonical import digest_text

MOST = 200
"""So many digests are kept, the youngest."""


def is_known(mark: str) -> bool:
    """Whether the schema with this digest was found right, by the code as it is now."""
    return _file(mark).exists()


def remember(mark: str) -> None:
    """The schema is right. Where nothing can be written, it is checked again next time."""
    file = _file(mark)
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        for old in sorted(file.parent.iterdir(), key=lambda entry: entry.stat().st_mtime)[:-MOST]:
            old.unlink(missing_ok=True)


def _file(mark: str) -> Path:
    judges = [Path(str(file)).stat().st_mtime_ns for file in (sys.modules["jsonschema"].__file__, __file__)]
    return home() / "checked-schemas" / digest_text(f"{mark} {judges}")
