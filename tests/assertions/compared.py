"""The rows of `docs/matchers-compared.md` as data: a case and our verdict; for promptfoo, the case in its terms too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from assertions.evidence import Evidence
from episodes.record import ToolCall
from tests.assertions.makers import call, evidence_of


class Compared(NamedTuple):
    """A row: which assertion with which config on which evidence, and the verdict."""

    name: str
    config: dict[str, Any]
    evidence: Evidence
    verdict: str


class Trap(NamedTuple):
    """A row about promptfoo: the spans, its assertion, and whether that passes."""

    row: str
    spans: list[dict[str, Any]]
    theirs: dict[str, Any]
    theirs_passes: bool


def span(name: str, arguments: Any = None, failed: bool = False) -> dict[str, Any]:
    return {"name": name, "arguments": {} if arguments is None else arguments, "failed": failed}


def calls(*made: ToolCall | str) -> Evidence:
    return evidence_of(made)


def per_turn(*turns: Sequence[str]) -> Evidence:
    return evidence_of([call(name, _turn=turn) for turn, names in enumerate(turns, 1) for name in names])


UNCAPTURED = replace(call("pay"), arguments=None, arguments_raw="")

TRAPS = [
    Trap("P1", [], {"type": "not-trajectory:tool-used", "value": "delete_repo"}, True),
    Trap("P2", [span("shell", {"command": "rm -r x"})], {"type": "not-trajectory:tool-used", "value": "shell"}, True),
    Trap("P3", [span("get")], {"type": "trajectory:tool-used", "value": {"name": "delete_repo", "max": 0}}, False),
    Trap(
        "P4",
        [span("a"), span("x"), span("b")],
        {"type": "trajectory:tool-sequence", "value": {"mode": "exactly", "steps": ["a", "b"]}},
        True,
    ),
    Trap("P5", [span("pay", failed=True)], {"type": "trajectory:tool-used", "value": "pay"}, True),
    Trap(
        "P6",
        [{"name": "pay", "arguments": None}],
        {"type": "not-trajectory:tool-args-match", "value": {"name": "pay", "args": {"to": "eve"}}},
        True,
    ),
    Trap("P7", [span("Get_User")], {"type": "trajectory:tool-used", "value": "get_user"}, True),
    Trap("P8", [span("get_user")], {"type": "trajectory:tool-used", "value": ["get_user", "get_*"]}, True),
    Trap(
        "P9",
        [span("pay", {"to": "eve"}), span("pay", {"to": "ann"})],
        {"type": "trajectory:tool-args-match", "value": {"name": "pay", "args": {"to": "ann"}}},
        True,
    ),
    Trap(
        "P10",
        [span("get_repo"), span("get_user")],
        {"type": "trajectory:tool-sequence", "value": ["get_user", "get_repo"]},
        False,
    ),
    Trap(
        "P11",
        [span("search", {})],
        {
            "type": "trajectory:tool-args-match",
            "value": {"name": "search", "args": {"limit": 20}, "mode": "exact", "defaults": {"limit": 20}},
        },
        False,
    ),
]

EUR: dict[str, Any] = {"amount": 10, "currency": "EUR"}

COMPARED: dict[str, Compared] = {
    "P1": Compared("tool_not_executed", {"tools": ["delete_repo"]}, evidence_of(None), "not_evaluated"),
    "P2": Compared("tool_not_executed", {"tools": ["shell"]}, calls(call("shell", command="rm -r x")), "fail"),
    "P3": Compared("tool_not_executed", {"tools": ["delete_repo"]}, calls("get"), "pass"),
    "P4": Compared("tool_sequence", {"mode": "exactly", "steps": ["a", "b"]}, calls("a", "x", "b"), "not_evaluated"),
    "P5": Compared("tool_sequence", {"steps": ["pay"], "when": "succeeded"}, calls(call("pay", "tool_error")), "fail"),
    "P6": Compared(
        "tool_not_executed", {"tools": [{"tool": "pay", "args": {"to": "eve"}}]}, calls(UNCAPTURED), "not_evaluated"
    ),
    "P7": Compared("tool_sequence", {"steps": ["get_user"]}, calls("Get_User"), "fail"),
    "P8": Compared("tool_sequence", {"mode": "superset", "steps": ["get_user", "get_*"]}, calls("get_user"), "fail"),
    "P9": Compared(
        "argument_match",
        {"tool": "pay", "args": {"to": "ann"}, "occurrence": "all"},
        calls(call("pay", to="eve"), call("pay", to="ann")),
        "fail",
    ),
    "P10": Compared(
        "tool_sequence",
        {"steps": ["get_user", "get_repo"]},
        calls(call("get_repo", _batch=1), call("get_user", _batch=1)),
        "pass",
    ),
    "P11": Compared(
        "argument_match",
        {"tool": "search", "args": {"limit": 20}, "mode": "exact", "defaults": {"limit": 20}},
        calls("search"),
        "pass",
    ),
    "A1": Compared(
        "argument_match", {"tool": "t", "args": {"draft": True}, "mode": "exact"}, calls(call("t", draft=1)), "fail"
    ),
    "A2": Compared(
        "argument_match",
        {"calls": [{"tool": "t", "args": {"x": 1, "y": 1}}, {"tool": "t", "args": {"x": 1}}]},
        calls(call("t", x=1), call("t", x=1, y=1)),
        "pass",
    ),
    "A3": Compared("argument_match", {"tool": "t", "args": {}, "mode": "ignored"}, calls("t"), "not_evaluated"),
    "A4": Compared(
        "argument_match",
        {"tool": "t", "args": {"options": {"deep": 1}}},
        calls(call("t", options={"deep": 1, "more": 2})),
        "pass",
    ),
    "A5": Compared(
        "argument_match",
        {"tool": "t", "args": {"a": 1}, "unordered": ["/typo"]},
        calls(call("t", a=1)),
        "not_evaluated",
    ),
    "A6": Compared(
        "tool_sequence",
        {"mode": "subset", "steps": [{"tool": "t", "args": {"x": 1}}]},
        calls(call("t", x=1, y=2)),
        "pass",
    ),
    "K1": Compared("tool_sequence", {"steps": []}, calls("anything"), "not_evaluated"),
    "K2": Compared(
        "tool_sequence", {"per_turn": [["lookup"], ["update"]]}, per_turn(["lookup"], ["update"], ["delete"]), "fail"
    ),
    "K3": Compared("tool_sequence", {"mode": "any_order", "steps": ["a"]}, calls("a", "b"), "fail"),
    "T1": Compared("argument_match", {"tool": "book", "args": {"id": 7, "confirm": True}}, calls("book"), "fail"),
    "T2": Compared("argument_match", {"calls": [{"tool": "book"}, {"tool": "book"}]}, calls("book"), "fail"),
    "T3": Compared("argument_match", {"tool": "book", "args": {"id": 7}}, calls(call("book", id=7, note="x")), "pass"),
    "D1": Compared("tool_sequence", {"mode": "any_order", "steps": ["a", "a"]}, calls("a", "a"), "pass"),
    "D2": Compared("tool_sequence", {"mode": "any_order", "steps": ["get"]}, calls("get", "delete_repo"), "fail"),
    "D3": Compared("tool_sequence", {"steps": ["a", "b"]}, calls("b", "a"), "fail"),
    "D4": Compared("argument_match", {"tool": "t", "args": {"id": 7}}, calls(call("t", id=8)), "fail"),
    "D5": Compared("tool_sequence", {"mode": "superset", "steps": ["a", "b"]}, calls("a"), "fail"),
    "Y1": Compared(
        "argument_match", {"tool": "t", "args": {"o": {"a": 1}}}, calls(call("t", o={"a": 1, "b": 2})), "pass"
    ),
    "Y2": Compared("tool_sequence", {"steps": ["a"]}, calls("b", "a"), "pass"),
    "Z1": Compared(
        "argument_match",
        {"calls": [{"tool": "pay", "args": {"memo": "x", **EUR}}, {"tool": "pay", "args": {"memo": "y", **EUR}}]},
        calls(call("pay", memo="x", **EUR), call("pay", memo="y", **EUR)),
        "pass",
    ),
    "Z2": Compared("argument_match", {"tool": "t", "args": {"id": 1}}, calls(call("t", id="1")), "fail"),
}
