"""How many random examples a law is tried on: a fifth in everyday runs, all of them with LAWS=thorough."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings


def law(examples: int) -> Callable[[Any], Any]:
    """Settings of one property test. No deadline: how long one example takes says nothing about the law."""
    thorough = os.environ.get("LAWS") == "thorough"
    decorate: Callable[[Any], Any] = settings(
        max_examples=examples if thorough else max(examples // 5, 20),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    return decorate
