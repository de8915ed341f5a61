"""From promptfoo's call to a verdict: what goes wrong on the way is neither a failure nor a pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from assertions.config_check import STAMP_KEY, ensure_checked
from assertions.evidence import Evidence
from assertions.verdict import CheckResult, ConfigError, NotEvaluated, not_evaluated
from episodes import short_process
from episodes.record import EvidenceError

Check = Callable[[Evidence, Mapping[str, Any]], CheckResult]
"""A check gets the evidence and its own config, rendered and checked against its schema."""


def run_check(name: str, check: Check, output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """What every `get_assert` returns: the check's verdict as promptfoo's grading result. Never raises."""
    short_process.begin()
    config = context.get("config")
    result = grade(name, check, Evidence.from_context(output, context), {} if config is None else config).to_promptfoo()
    if "endpoints.redaction" in sys.modules:
        # A judge or a host was asked. What they say is in no record, and so nobody has masked it yet.
        from endpoints.redaction import redact_value

        result = redact_value(result)
    short_process.end()
    return result


def grade(name: str, check: Check, evidence: Evidence, config: Any) -> CheckResult:
    """Render `config`, check it against `assertions/schemas/<name>.schema.json`, and judge. Never raises."""

    def prepared(evidence: Evidence, written: Any) -> CheckResult:
        if not isinstance(written, Mapping):
            raise ConfigError("", f"the config is a {type(written).__name__}", "an object")
        bare = {key: value for key, value in written.items() if key != STAMP_KEY}
        rendered: Mapping[str, Any] = bare
        if "{{" in str(bare):
            from assertions.templates import render

            rendered = render(bare, evidence.vars)
        ensure_checked(name, bare, rendered, written.get(STAMP_KEY))
        return check(evidence, rendered)

    return judged(name, prepared, evidence, config)


def judged(name: str, check: Check, evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    """`check`'s verdict on a config that is rendered and checked already (a part of a larger one, say). Never raises.

    A wrong config, missing evidence and a crash become a result that is NOT EVALUATED and says what happened, where.
    """
    try:
        return check(evidence, config)
    except ConfigError as error:
        case = f"case {evidence.case_id}, " if evidence.case_id else ""
        return not_evaluated(name, f"{case}config of {name}, {error}")
    except NotEvaluated as error:
        return not_evaluated(name, error.reason, error.details)
    except EvidenceError as error:
        return not_evaluated(name, f"the record can not be read: {error}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        return not_evaluated(name, f"the check crashed: {_describe(error)}")


def _describe(error: BaseException) -> str:
    """Type, message and place of a crash; the place is the innermost line of our own code."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "site-packages" not in code.co_filename and "/lib/python" not in code.co_filename:
            place = f" ({code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} in {code.co_name})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"
