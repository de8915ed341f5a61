"""The rows in promptfoo's terms, and its verdicts on them: its `trajectory:*` assertions in a real, traced run."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers.rows import Row
from tests.support.promptfoo import CHECKOUT, Run, run_promptfoo

PROVIDER = Path(__file__).with_name("tracing_provider.py")
_PACKAGE = CHECKOUT / "setup" / "promptfoo" / "node_modules" / "promptfoo" / "package.json"


def version() -> str:
    return str(json.loads(_PACKAGE.read_text(encoding="utf-8"))["version"])


def verdicts(rows: Sequence[Row]) -> dict[str, str | None]:
    """What promptfoo says about each row, by id; None where it has no such mode."""
    asked = {row.id: test for row in rows if (test := as_test(row)) is not None}
    with tempfile.TemporaryDirectory() as folder:
        run = run_promptfoo(Path(folder), traced(list(asked.values())))
        return {row.id: verdict(run, row.id) if row.id in asked else None for row in rows}


def verdict(run: Run, row_id: str) -> str:
    """The verdict on one row of a finished run."""
    graded = run.row(row_id)["gradingResult"]
    if graded is None or not graded.get("componentResults"):
        return "error"
    return "pass" if all(component["pass"] for component in graded["componentResults"]) else "fail"


def traced(tests: list[dict[str, Any]]) -> dict[str, Any]:
    """A configuration whose provider reports the calls in `vars.calls` as spans, to promptfoo's own receiver."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        "prompts": ["{{calls}}"],
        "providers": [{"id": f"file://{PROVIDER}", "config": {"receiver": f"http://127.0.0.1:{port}/v1/traces"}}],
        "tracing": {"enabled": True, "otlp": {"http": {"enabled": True, "host": "127.0.0.1", "port": port}}},
        "tests": tests,
    }


def as_test(row: Row) -> dict[str, Any] | None:
    """The row as one of promptfoo's tests, described by its id; None where promptfoo has no such mode."""
    question = row.question("promptfoo")
    assertions = None if question is None else _assertions(question)
    if question is None or assertions is None:
        return None
    calls = [{key: call[key] for key in ("name", "arguments", "failed")} for call in question["actual"] or ()]
    return {"description": row.id, "vars": {"calls": json.dumps(calls)}, "assert": assertions}


def _assertions(question: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    expected, mode = question["expected"], question["mode"]
    if question["settings"] is not None:
        return [dict(question["settings"])]
    if question["arguments"] != "ignore":
        # It looks at the arguments of one call at a time.
        args_mode = {"exact": "exact", "subset": "partial"}[question["arguments"]]
        wanted = [{"name": call["name"], "args": call["arguments"], "mode": args_mode} for call in expected]
        kind = "trajectory:tool-args-match"
        return [{"type": kind, "value": one} for one in wanted] if mode == "superset" else None
    names = [call["name"] for call in expected]
    if mode in ("exact", "in_order"):
        return [{"type": "trajectory:tool-sequence", "value": {"mode": mode, "steps": names}}]
    return [{"type": "trajectory:tool-used", "value": names}] if mode == "superset" else None
