"""For a process that is started for one function call: it ends at once, so collecting garbage is lost time.

Python looks for garbage while modules are imported and once more, through everything that is alive, when the process
ends; together that takes as long as all checks of a case. Elsewhere (tests, bulk grading, workers) nothing changes.
"""

from __future__ import annotations

import gc
import sys

_SHORT = ("wrapper.py", "cleanup.py")
"""The script that promptfoo starts for an assertion, a hook or a test generator, and the hook that ours starts."""


def begin() -> None:
    """Stop collecting, when this process is a short one."""
    if _is_short():
        gc.disable()


def end() -> None:
    """Take everything that is alive out of the collection at the process's end."""
    if _is_short():
        gc.freeze()


def _is_short() -> bool:
    return sys.argv[0].replace("\\", "/").rpartition("/")[2] in _SHORT
