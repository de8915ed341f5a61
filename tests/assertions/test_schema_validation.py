"""The assertion `schema_validation`: what was submitted, by schema, file name and the portal's own word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assertions.config_check import check_config
from assertions.run_check import grade
from assertions.schema_validation import check
from assertions.verdict import CheckResult, ConfigError
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "pattern": "^spoke-"}, "due": {"format": "date"}},
}
SUBMITTED = {"tool": "create", "path": "/configuration"}


def submits(configuration: Any, **more: Any) -> Any:
    return tool("create", {"configuration": configuration}, {"path": "spokes/spoke-a.json"}, **more)


def judge(evidence: Any, config: dict[str, Any]) -> CheckResult:
    return grade("schema_validation", check, evidence, config)


def test_a_valid_submission_passes() -> None:
    result = judge(conversation(submits({"name": "spoke-a"})), {"schema": SCHEMA, "submitted": SUBMITTED})
    assert (result.verdict, result.reason) == (PASS, "valid by the schema")
    assert result.all_named_scores() == {"schema_validation.schema": 1.0, "schema_validation.schema.errors": 0.0}


def test_every_error_is_listed_with_pointer_and_rule_after_the_call() -> None:
    evidence = conversation(submits({"name": "a", "due": "2026-02-31"}, turn=3))
    result = judge(evidence, {"schema": SCHEMA, "submitted": SUBMITTED})
    assert result.verdict is FAIL
    assert result.reason == (
        "schema_validation.schema: 2 errors: "
        "create in turn 3: /due: '2026-02-31' is not a 'date' [#/properties/due/format]\n"
        "create in turn 3: /name: 'a' does not match '^spoke-' [#/properties/name/pattern]"
    )
    assert result.all_named_scores()["schema_validation.schema.errors"] == 2.0


def test_a_long_list_of_errors_is_cut_but_counted() -> None:
    evidence = conversation(submits(dict.fromkeys(map(str, range(30)), 1)))
    result = judge(evidence, {"schema": {"additionalProperties": {"type": "string"}}, "submitted": SUBMITTED})
    assert "30 errors: " in result.reason
    assert result.reason.endswith("… and 20 more")


def test_nothing_submitted_fails_and_says_so() -> None:
    result = judge(conversation(tool("other")), {"schema": SCHEMA, "submitted": SUBMITTED})
    assert (result.verdict, result.reason) == (FAIL, "nothing was submitted: no call of create succeeded")


def test_unknown_tool_calls_are_not_evaluated() -> None:
    result = judge(conversation(known=False), {"schema": SCHEMA, "submitted": SUBMITTED})
    assert result.verdict is NOT_EVALUATED
    assert result.reason == (
        "NOT EVALUATED: tool telemetry is missing: the record does not say which tools were called"
    )


def test_a_submission_that_was_never_answered_is_not_evaluated() -> None:
    evidence = conversation(submits({"name": "spoke-a"}, status="transport_error"))
    result = judge(evidence, {"schema": SCHEMA, "submitted": SUBMITTED})
    assert result.reason == ("NOT EVALUATED: create in turn 1 was sent and never answered, so it may or may not count")


@pytest.mark.parametrize("occurrence", ["all", "last"])
def test_an_unanswered_submission_beside_a_good_one_keeps_the_check_from_passing(occurrence: str) -> None:
    config = {"schema": SCHEMA, "submitted": {**SUBMITTED, "occurrence": occurrence}}
    good, bad = {"name": "spoke-a"}, {"name": "x"}
    result = judge(conversation(submits(good), submits(bad, status="transport_error", turn=2)), config)
    assert result.reason == (
        "NOT EVALUATED: whether create in turn 2 ran is unknown, no answer came back; if it did: "
        "schema_validation.schema: 1 error: create in turn 2: /name: 'x' does not match '^spoke-' "
        "[#/properties/name/pattern]"
    )
    assert judge(conversation(submits(good), submits(good, status="transport_error", turn=2)), config).passed


CUT = {"truncated": True, "length": 99, "sha256": "x", "file": "f"}


@pytest.mark.parametrize("configuration", [CUT, {"name": "spoke-a", "network": CUT}, {"name": ["spoke-a", CUT]}])
def test_a_submission_that_was_cut_in_the_record_is_neither_valid_nor_invalid(configuration: Any) -> None:
    result = judge(conversation(submits(configuration)), {"schema": SCHEMA, "submitted": SUBMITTED})
    assert result.verdict is NOT_EVALUATED
    assert result.reason == "NOT EVALUATED: create in turn 1: a part of it was cut when it was recorded"


def test_malformed_arguments_are_never_judged_as_an_empty_document() -> None:
    evidence = conversation(tool("create", status="parse_error"))
    config = {"schema": {"type": "object"}, "submitted": {**SUBMITTED, "when": "attempted"}}
    result = judge(evidence, config)
    assert (result.verdict, result.reason) == (
        FAIL,
        "create in turn 1: its arguments could not be read as a JSON object",
    )


@pytest.mark.parametrize(("occurrence", "verdict"), [("all", FAIL), ("first", FAIL), ("last", PASS)])
def test_the_occurrence_chooses_among_several_submissions(occurrence: str, verdict: Any) -> None:
    evidence = conversation(submits({"name": "x"}), submits({"name": "spoke-a"}, turn=2))
    result = judge(evidence, {"schema": SCHEMA, "submitted": {**SUBMITTED, "occurrence": occurrence}})
    assert result.verdict is verdict


@pytest.mark.parametrize(
    ("status", "when", "verdict"),
    [
        ("tool_error", "succeeded", FAIL),
        ("tool_error", "executed", PASS),
        ("schema_error", "executed", FAIL),
        ("schema_error", "attempted", PASS),
    ],
)
def test_attempted_executed_and_succeeded_are_told_apart(status: str, when: str, verdict: Any) -> None:
    evidence = conversation(submits({"name": "spoke-a"}, status=status))
    assert judge(evidence, {"schema": SCHEMA, "submitted": {**SUBMITTED, "when": when}}).verdict is verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "spoke-a"}', "valid by the schema"),
        (
            '{"name": ',
            "create in turn 1: the text at /configuration is not JSON: Expecting value: line 1 column 10 (char 9)",
        ),
        (
            '{"name": "a", "name": "spoke-a"}',
            "create in turn 1: the text at /configuration is not JSON: the key 'name' stands twice in one object",
        ),
        ('{"name": NaN}', "create in turn 1: the text at /configuration is not JSON: NaN is not JSON"),
    ],
)
def test_a_document_handed_over_as_text_is_read_strictly(text: str, reason: str) -> None:
    assert judge(conversation(submits(text)), {"schema": SCHEMA, "submitted": SUBMITTED}).reason == reason


def test_a_document_that_is_not_where_it_should_be_fails() -> None:
    config = {"schema": {"type": "object"}, "submitted": SUBMITTED}
    result = judge(conversation(tool("create", {"other": 1})), config)
    assert (result.verdict, result.reason) == (FAIL, "create in turn 1: there is nothing at /configuration")


def test_json_in_the_answer_can_be_judged_and_the_schema_is_optional() -> None:
    config: dict[str, Any] = {"submitted": {"answer": True}}
    assert (
        judge(conversation(output='Here:\n```json\n{"a": 1}\n```\nbye'), config).reason == "what was submitted is JSON"
    )
    assert judge(conversation(output="no json"), config).verdict is FAIL
    assert judge(conversation(output='{"name": 1}'), config | {"schema": SCHEMA}).verdict is FAIL


def test_the_schema_can_be_what_a_tool_answered() -> None:
    config = {"schema": {"tool": "get_schema", "path": "/schema"}, "submitted": SUBMITTED}
    answered = tool("get_schema", {}, {"schema": SCHEMA})
    as_text = tool("get_schema", {}, json.dumps({"schema": SCHEMA}))
    assert judge(conversation(answered, submits({"name": "x"})), config).verdict is FAIL
    assert judge(conversation(as_text, submits({"name": "x"})), config).verdict is FAIL
    assert judge(conversation(answered, submits({"name": "spoke-a"})), config).verdict is PASS


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (tool("other"), "no call of get_schema succeeded"),
        (tool("get_schema", {}, {}), "the result of get_schema in turn 1: there is nothing at /schema"),
        (
            tool("get_schema", {}, {"schema": {"error": "not today"}}),
            "the result of get_schema in turn 1: it has no rule of JSON Schema, so every document would pass",
        ),
        (
            tool("get_schema", {}, {"schema": {"truncated": True, "length": 9, "sha256": "x", "file": "f"}}),
            "the result of get_schema in turn 1: a part of it was cut when it was recorded",
        ),
        (tool("get_schema", {}, "oops", status="tool_error"), "no call of get_schema succeeded"),
    ],
)
def test_a_schema_that_no_tool_answered_is_not_evaluated(call: Any, problem: str) -> None:
    config = {"schema": {"tool": "get_schema", "path": "/schema"}, "submitted": SUBMITTED}
    result = judge(conversation(call, submits({"name": "spoke-a"})), config)
    assert result.reason == f"NOT EVALUATED: schema_validation.schema: the schema is unknown: {problem}"


def test_a_schema_that_no_tool_answered_may_come_from_a_file_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spoke.json").write_text(json.dumps(SCHEMA))
    monkeypatch.chdir(tmp_path)
    schema = {"tool": "get_schema", "path": "/schema", "otherwise": "spoke.json"}
    result = judge(conversation(submits({"name": "x"})), {"schema": schema, "submitted": SUBMITTED})
    assert result.verdict is FAIL


def test_an_additional_schema_and_its_references_have_to_hold_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spoke.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "customer.json").write_text('{"properties": {"name": {"$ref": "names.json"}}}')
    (tmp_path / "names.json").write_text('{"maxLength": 9}')
    monkeypatch.chdir(tmp_path)
    config = {
        "schema": "spoke.json",
        "additionalSchema": "file://customer.json",
        "references": ["names.json"],
        "submitted": SUBMITTED,
    }
    assert judge(conversation(submits({"name": "spoke-a"})), config).reason == (
        "valid by the schema; valid by the additional schema"
    )
    result = judge(conversation(submits({"name": "spoke-abcdef"})), config)
    assert result.reason == (
        "schema_validation.additional_schema: 1 error: create in turn 1: /name: 'spoke-abcdef' is too long "
        "[#/properties/name/maxLength]"
    )
    assert [part.verdict for part in result.components] == [PASS, FAIL]


def test_a_file_that_is_not_there_is_an_error_of_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = judge(conversation(submits({})), {"schema": "none.json", "submitted": SUBMITTED})
    assert result.reason == (
        f"NOT EVALUATED: case C01, config of schema_validation, /schema: there is no file {tmp_path}/none.json"
    )


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"pattern": r"spoke-[a-z]+\.json", "path": "spokes"}, "the file name follows the rules"),
        (
            {"pattern": r"spoke-\d+\.json"},
            r"schema_validation.file_name: the file name 'spoke-a.json' does not match 'spoke-\\d+\\.json'",
        ),
        ({"pattern": r"spoke"}, "schema_validation.file_name: the file name 'spoke-a.json' does not match 'spoke'"),
        (
            {"path": "customers/*"},
            "schema_validation.file_name: spokes/spoke-a.json lies in 'spokes'; expected 'customers/*'",
        ),
    ],
)
def test_file_name_rules_look_at_the_file_that_the_call_wrote(rules: dict[str, str], reason: str) -> None:
    result = judge(conversation(submits({})), {"fileNameRules": rules, "submitted": SUBMITTED})
    assert result.reason == reason


def test_a_call_that_does_not_tell_its_file_is_not_evaluated() -> None:
    evidence = conversation(tool("create", {"configuration": {}}, {}))
    result = judge(evidence, {"fileNameRules": {"pattern": "a"}, "submitted": SUBMITTED})
    assert result.reason == (
        "NOT EVALUATED: schema_validation.file_name: create in turn 1 does not tell the file's path at /path"
    )


def validates(configuration: Any, valid: Any, errors: Any = (), **more: Any) -> Any:
    return tool("validate", {"configuration": configuration}, {"valid": valid, "errors": list(errors)}, **more)


ERROR = {"pointer": "/virtualNetwork", "rule": "overlap", "message": "overlaps spoke-b"}


@pytest.mark.parametrize(
    ("calls", "expect", "verdict", "reason"),
    [
        ([validates({"a": 1}, True), submits({"a": 1.0})], "valid", PASS, "the portal said valid"),
        (
            [validates({"a": 1}, False, [ERROR, ERROR]), submits({"a": 1})],
            "valid",
            FAIL,
            "schema_validation.portal: validate in turn 1: the portal said invalid, expected valid: "
            "/virtualNetwork: overlaps spoke-b (1 more)",
        ),
        (
            [validates({"a": 1}, True), submits({"a": 2})],
            "valid",
            FAIL,
            "schema_validation.portal: validate was never asked about what create in turn 1 submitted",
        ),
        (
            [validates({"a": 1}, False), validates({"a": 1}, True, turn=2), submits({"a": 1}, turn=2)],
            "valid",
            PASS,
            "the portal said valid",
        ),
        (
            [submits({"a": 1})],
            "valid",
            FAIL,
            "schema_validation.portal: the portal was not asked: no call of validate succeeded",
        ),
        ([validates({"a": 1}, False), submits({"a": 1})], "invalid", PASS, "the portal said invalid"),
        ([validates('{"a": 1}', True), submits('{"a":1}')], "valid", PASS, "the portal said valid"),
        (
            [tool("validate", {"configuration": {"a": 1}}, '{"valid": true}'), submits({"a": 1})],
            "valid",
            PASS,
            "the portal said valid",
        ),
        (
            [validates({"a": 1}, "yes"), submits({"a": 1})],
            "valid",
            NOT_EVALUATED,
            "NOT EVALUATED: the result of validate in turn 1 says neither true nor false at /valid",
        ),
    ],
)
def test_the_portal_must_have_judged_what_was_submitted(
    calls: list[Any], expect: str, verdict: Any, reason: str
) -> None:
    config = {"submitted": SUBMITTED, "portal_validation": {"tool": "validate", "expect": expect}}
    result = judge(conversation(*calls), config)
    assert (result.verdict, result.reason) == (verdict, reason)


def test_without_a_submission_the_portals_last_word_counts() -> None:
    config = {"portal_validation": {"tool": "validate", "expect": "invalid"}}
    evidence = conversation(validates({"a": 1}, True), validates({"a": 2}, False, turn=2))
    assert judge(evidence, config).verdict is PASS


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {},
            "/: names nothing to check: give `submitted` (with `schema`, `additionalSchema` or `fileNameRules`) or "
            "`portal_validation`",
        ),
        (
            {"portal_validation": {"tool": "v"}, "schema": "a.json"},
            "/: says how a document must be, but not which: `submitted` is missing",
        ),
        (
            {"submitted": {"tool": "c"}, "shema": {}},
            "/shema: unknown key; allowed: additionalSchema, file, fileNameRules, portal_validation, references, "
            "schema, submitted",
        ),
        (
            {"submitted": {"tool": "c", "when": "always"}},
            "/submitted/when: 'always' is not allowed; allowed: 'attempted', 'executed', 'succeeded'",
        ),
        ({"submitted": {"tool": ""}}, "/submitted/tool: is empty, so there would be nothing to check"),
        (
            {"submitted": {"tool": "c"}, "fileNameRules": {"pattern": "("}},
            "/fileNameRules/pattern: '(' is no regular expression: missing ), unterminated subpattern at position 0",
        ),
        (
            {"submitted": {"tool": "c"}, "schema": {"properites": {"a": {"type": "string"}}}},
            "/schema: has no rule, so every document would pass; allowed: a schema with at least one rule of its "
            "draft, such as type, required or properties",
        ),
        ({"submitted": {"tool": "c"}, "schema": True}, "/schema: has no rule, so every document would pass"),
        (
            {"submitted": {"tool": "c"}, "schema": {"properties": {"a": {"format": "datum"}}}},
            "/schema: unknown format 'datum' in the schema; allowed: ",
        ),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config("schema_validation", config, {})
    assert str(caught.value).startswith(message)
