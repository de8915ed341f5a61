"""Assertion `schema_validation`: what the agent handed in is valid by its schemas, its file name and the portal.

The config is described in `schemas/schema_validation.schema.json`, the semantics in `validation/judgement.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.run_check import run_check
from assertions.validation.judgement import NAME, judge, read_config
from assertions.verdict import CheckResult

__all__ = ["check", "get_assert", "read_config"]


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, config)


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
