"""A provider that tells what Python it runs in: `evals doctor` has promptfoo start it, to see what promptfoo sees."""

from __future__ import annotations

import sys
from typing import Any

PACKAGES = ("openai", "mcp", "jsonschema", "referencing", "pyyaml", "requests")


def call_api(_prompt: str, _options: dict[str, Any], _context: dict[str, Any]) -> dict[str, Any]:
    """Versions of Python and of the packages that the pack needs; an empty version for one that is missing."""
    from importlib.metadata import PackageNotFoundError, version

    def version_of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return ""

    about = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "executable": sys.executable,
        "packages": {package: version_of(package) for package in PACKAGES},
    }
    return {"output": "here", "metadata": about}
