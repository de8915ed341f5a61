"""A promptfoo provider that answers from the rows of an earlier run: the floor under every provider of ours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

ROWS: dict[str, Any] = json.loads(Path(os.environ["BENCH_ROWS"]).read_text(encoding="utf-8"))
"""Case id -> the provider's result of that case."""


def call_api(_prompt: str, _options: dict[str, Any], context: dict[str, Any]) -> Any:
    return ROWS[context["test"]["metadata"]["id"]]
