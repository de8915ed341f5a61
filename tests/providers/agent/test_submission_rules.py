"""Rules of one customer for what the agent hands in: the agent is told them, and no call that breaks one is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.agent.rig import Result, Rig, make_rig
from tests.support.scripted_model import Say, ScriptedModel, scripted_model
from tests.support.session_server import SessionServer, session_server

OPEN = "create_pull_request"
RULES = {"pattern": "spoke-[a-z]+", "path": "spokes", "file": "/configuration/name"}
SCHEMA = {
    "properties": {"costCenter": {"enum": ["CC-1", "CC-2"]}, "reviewDate": {"type": "string", "format": "date"}},
    "required": ["costCenter"],
}
GOOD = {"name": "spoke-shop", "costCenter": "CC-1", "reviewDate": "2026-03-01"}


@pytest.fixture
def server() -> Iterator[SessionServer]:
    with session_server() as running:
        running.answers = {name: {"content": [{"type": "text", "text": "done"}]} for name in (OPEN, "look_up")}
        yield running


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: SessionServer) -> Any:
    def run(tool: str, arguments: Any, *, agent: Any = None, **config: Any) -> tuple[Result, ScriptedModel]:
        with scripted_model(Say(calls=[(tool, arguments)]), Say("done")) as model:
            rig: Rig = make_rig(
                tmp_path,
                monkeypatch,
                model,
                servers=[{"name": "portal", "url": server.url}],
                tools=(OPEN, "look_up"),
                **(agent or {}),
            )
            for folder in (rig.folder, rig.folder / "agent"):
                (folder / "customer.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
            (rig.folder / "agent" / "far.json").write_text('{"$ref": "http://127.0.0.1:9/far.json"}', encoding="utf-8")
            result = rig.run(marker=False, **config)
            return result, model

    return run


BOTH: dict[str, Any] = {"fileNameRules": RULES, "additionalSchema": "customer.json"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "Shop"}, "/configuration/name: the name 'Shop' does not match 'spoke-[a-z]+'"),
        ({"name": "hubs/spoke-shop"}, "/configuration/name: the folder 'hubs' is not 'spokes'"),
        ({"name": 5}, "/configuration/name: expected the path of a file"),
        ({"costCenter": "CC-9"}, "/configuration/costCenter: 'CC-9' is not one of ['CC-1', 'CC-2']"),
        ({"reviewDate": "2026-02-31"}, "/configuration/reviewDate: '2026-02-31' is not a 'date'"),
    ],
)
def test_a_creating_call_that_breaks_a_rule_is_not_sent_and_the_model_is_told_why(
    place: Any, server: SessionServer, changes: dict[str, Any], problem: str
) -> None:
    result, model = place(OPEN, {"configuration": {**GOOD, **changes}}, agent=BOTH)
    assert result.error == ""
    assert result.statuses == [(OPEN, "schema_error")]
    assert model.asked[1].body["messages"][-1]["content"] == f"Not called: the arguments do not fit: {problem}"
    assert server.called == []


def test_a_creating_call_that_keeps_the_rules_is_sent(place: Any, server: SessionServer) -> None:
    result, _ = place(OPEN, {"configuration": {**GOOD, "name": "spokes/spoke-shop"}}, agent=BOTH)
    assert result.statuses == [(OPEN, "ok")]
    assert server.called == [OPEN]


def test_a_call_that_creates_nothing_needs_to_keep_no_rule(place: Any) -> None:
    result, _ = place("look_up", {"name": "Shop"}, agent=BOTH)
    assert result.statuses == [("look_up", "ok")]


def test_a_creating_call_without_the_document_that_the_rules_are_about_is_not_sent(place: Any) -> None:
    result, _ = place(OPEN, {"other": GOOD}, agent=BOTH)
    (call,) = result.episode.tool_calls
    assert call.problem.endswith("/configuration/name: expected the path of a file; /configuration: expected an object")


def test_the_agent_is_told_its_rules_and_they_are_part_of_the_fingerprint(place: Any) -> None:
    with_rules, model = place("look_up", {}, agent=BOTH)
    prompt = model.asked[0].body["messages"][0]["content"]
    assert "its name matches the regular expression `spoke-[a-z]+`, and its folder is `spokes`" in prompt
    assert '"costCenter"' in prompt
    without, model = place("look_up", {})
    assert "Rules for what you submit" not in model.asked[0].body["messages"][0]["content"]
    assert set(with_rules.episode.fingerprint) - set(without.episode.fingerprint) == {"rules"}


def test_a_suite_may_lay_other_rules_over_the_agents_or_take_them_away(place: Any) -> None:
    small = {"configuration": {"name": "Shop"}}
    assert place(OPEN, small, agent=BOTH, fileNameRules=None, additionalSchema=None)[0].statuses == [(OPEN, "ok")]
    laid = place(OPEN, small, fileNameRules=RULES)[0]
    assert laid.statuses == [(OPEN, "schema_error")]
    elsewhere = {"file": "customer.json", "document": "/spoke"}
    assert place(OPEN, {"spoke": GOOD}, additionalSchema=elsewhere)[0].statuses == [(OPEN, "ok")]


def test_a_schema_that_refers_to_another_place_lets_nothing_through(place: Any) -> None:
    result, _ = place(OPEN, {"configuration": GOOD}, agent={"additionalSchema": "far.json"})
    (call,) = result.episode.tool_calls
    assert call.status == "schema_error"
    assert "far.json: the schema refers to something outside itself" in call.problem
