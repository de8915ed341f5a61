"""Variables of the environment that are misspelt."""

from __future__ import annotations

import os

from endpoints.settings import SETTINGS
from evals.findings import Finding


def unknown_variables() -> list[Finding]:
    """Variables with our prefix that nothing reads: a slip of the pen has no other effect."""
    from formats.problems import nearest

    known = [setting.name for setting in SETTINGS]
    unknown = [name for name in sorted(os.environ) if name.startswith("EVALS_") and name not in known]
    return [Finding(f"nothing reads {name}", f"unset or correct it{nearest(name, known)}") for name in unknown]
