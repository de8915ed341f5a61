"""Assertion `input_diff`: the configuration that was submitted differs from its source exactly as expected.

`value: file://…/assertions/input_diff.py` with a `config` such as

    source: {tool: get_spoke, args: {name: spoke-web-dev}}
    changes:
      - {replace: /name, value: spoke-web-test}
      - {add: "/virtualNetwork/subnets/[name=snet-links]"}

The table of verdicts stands in `assertions/input_changes/judgement.py`, all options in `docs/assertions.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assertions.evidence import Evidence
from assertions.input_changes.judgement import NAME, judge, read_config
from assertions.remember import remembered
from assertions.run_check import run_check
from assertions.verdict import CheckResult

_settings = remembered(read_config)


def check(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    return judge(evidence, _settings(config))


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    return run_check(NAME, check, output, context)
