"""`input_diff`: what was submitted against what the portal had answered."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assertions import input_diff
from assertions.run_check import grade
from assertions.verdict import CheckResult, Verdict
from episodes.record import ToolCall
from tests.assertions.makers import call, evidence_of

SPOKE: dict[str, Any] = {
    "name": "spoke-web-dev",
    "costCenter": "CC-1001",
    "virtualNetwork": {
        "addressSpace": ["10.1.0.0/24"],
        "subnets": [
            {"name": "snet-app", "addressPrefix": "10.1.0.0/26", "purpose": "application"},
            {"name": "snet-data", "addressPrefix": "10.1.0.64/26", "purpose": "data"},
        ],
    },
    "networkSecurityGroups": [{"name": "nsg-app", "rules": [{"name": "https", "port": "443"}]}],
    "monitoring": {"logRetentionDays": 90},
    "tags": {"owner": "web", "legacy": "yes"},
}


def read_spoke(answer: Any = None, status: str = "ok", name: str = "spoke-web-dev", **more: Any) -> ToolCall:
    result = {"name": name, "path": f"spokes/{name}.json", "configuration": SPOKE} if answer is None else answer
    return replace(call("get_spoke", status, name=name, **more), result=result)


def submit(configuration: Any, status: str = "ok") -> ToolCall:
    return call("create_spoke_pull_request", status, configuration=configuration, title="t")


def edited(**changes: Any) -> dict[str, Any]:
    """The spoke with top-level values replaced (`None` removes one)."""
    merged = {**copy.deepcopy(SPOKE), **changes}
    return {key: value for key, value in merged.items() if value is not None}


def judge(config: dict[str, Any], *calls: ToolCall | str, **more: Any) -> CheckResult:
    return grade("input_diff", input_diff.check, evidence_of(calls, **more), config)


def compare(changes: list[dict[str, Any]], submitted: Any, **options: Any) -> CheckResult:
    return judge({"changes": changes, **options}, read_spoke(), submit(submitted))


HEAD = "create_spoke_pull_request (call 2, turn 1) does not differ from get_spoke (call 1, turn 1) as expected: "


def test_exactly_the_expected_changes_pass() -> None:
    network = copy.deepcopy(SPOKE["virtualNetwork"])
    network["addressSpace"] = ["10.2.0.0/24"]
    network["subnets"].insert(1, {"name": "snet-links", "addressPrefix": "10.1.0.128/27", "purpose": "privateLink"})
    network["subnets"][0]["addressPrefix"] = "10.2.0.0/26"
    submitted = edited(name="spoke-web-test", virtualNetwork=network, tags={"owner": "web", "stage": "test"})
    result = compare(
        [
            {"replace": "/name", "value": {"$regex": "^spoke-web-"}, "was": "spoke-web-dev"},
            {"replace": "/virtualNetwork/addressSpace", "value": ["10.2.0.0/24"]},
            {"replace": "/virtualNetwork/subnets/[name=snet-app]/addressPrefix", "value": "10.2.0.0/26"},
            {
                "add": "/virtualNetwork/subnets/[name=snet-links]",
                "value": {"purpose": "privateLink"},
                "match": {"mode": "subset"},
            },
            {"remove": "/tags/legacy"},
            {"add": "/tags/stage", "value": "test"},
        ],
        submitted,
    )
    assert result.reason == (
        "create_spoke_pull_request (call 2, turn 1) differs from get_spoke (call 1, turn 1) in exactly the "
        "6 expected changes: ~ /name, ~ /virtualNetwork/addressSpace, "
        "~ /virtualNetwork/subnets/[name=snet-app]/addressPrefix, + /virtualNetwork/subnets/[name=snet-links], "
        "- /tags/legacy, + /tags/stage"
    )
    assert (result.verdict, result.score) == (Verdict.PASS, 1.0)
    assert result.named_scores == {"input_diff.missing": 0.0, "input_diff.unexpected": 0.0}


def test_the_reason_shows_missing_and_unexpected_changes_as_a_short_diff() -> None:
    result = compare(
        [
            {"replace": "/name", "value": "spoke-web-test"},
            {"replace": "/costCenter", "value": "CC-2002"},
            {"add": "/virtualNetwork/subnets/[name=snet-links]"},
            {"replace": "/monitoring/logRetentionDays", "value": 30, "was": 60},
        ],
        edited(name="spoke-web-test", monitoring={"logRetentionDays": 30}, tags={"owner": "api", "legacy": "yes"}),
    )
    assert result.reason == HEAD + (
        "3 expected changes missing, 2 unexpected\n"
        'missing: ~ /costCenter → "CC-2002" (unchanged: "CC-1001")\n'
        "missing: + /virtualNetwork/subnets/[name=snet-links] (there is nothing on either side)\n"
        "missing: ~ /monitoring/logRetentionDays: 60 → 30 (in the source, actual 90)\n"
        "unexpected: ~ /monitoring/logRetentionDays: 90 → 30\n"
        'unexpected: ~ /tags/owner: "web" → "api"'
    )
    assert (result.verdict, result.score) == (Verdict.FAIL, 1 / 6)
    assert result.named_scores == {"input_diff.missing": 3.0, "input_diff.unexpected": 2.0}


def test_a_long_diff_is_cut() -> None:
    result = compare([], edited(tags={f"t{number}": 1 for number in range(20)} | SPOKE["tags"]))
    lines = result.reason.splitlines()
    assert lines[0] == HEAD + "20 unexpected"
    assert (len(lines), lines[1], lines[-1]) == (10, "unexpected: + /tags/t0: 1", "… (12 more)")


@pytest.mark.parametrize(
    ("change", "submitted", "line"),
    [
        ({"replace": "/name", "value": "x"}, {"name": "y"}, 'missing: ~ /name → "x" (actual "y")'),
        ({"add": "/costCenter"}, {"costCenter": "CC-2"}, "missing: + /costCenter (it was in the source)"),
        ({"replace": "/backup"}, {"backup": {}}, "missing: ~ /backup (it was not in the source)"),
        ({"replace": "/costCenter"}, {"costCenter": None}, "missing: ~ /costCenter (it is gone)"),
        ({"remove": "/costCenter"}, {}, 'missing: - /costCenter (unchanged: "CC-1001")'),
        (
            {"remove": "/costCenter", "was": "CC-9"},
            {"costCenter": None},
            'missing: - /costCenter: "CC-9" (in the source, actual "CC-1001")',
        ),
        (
            {"add": "/backup", "value": {"enabled": True, "days": {"$type": "integer"}}},
            {"backup": {"enabled": True, "days": "30"}},
            'missing: + /backup: {"enabled": true, "days": <a value of type integer>} '
            '(at /days: expected a value of type integer, actual "30")',
        ),
    ],
)
def test_a_missing_change_says_what_is_there_instead(change: dict[str, Any], submitted: Any, line: str) -> None:
    result = compare([change], edited(**submitted))
    assert result.verdict is Verdict.FAIL
    assert line in result.reason.splitlines()


def test_equal_documents_pass_where_no_change_is_expected() -> None:
    assert compare([], copy.deepcopy(SPOKE)).reason == (
        "create_spoke_pull_request (call 2, turn 1) does not differ from get_spoke (call 1, turn 1)"
    )
    assert compare([{"replace": "/name"}], copy.deepcopy(SPOKE)).verdict is Verdict.FAIL


def test_a_change_may_be_expected_coarser_or_finer_than_the_diff() -> None:
    network = copy.deepcopy(SPOKE["virtualNetwork"])
    network["addressSpace"].append("10.9.0.0/24")
    del network["subnets"][0]
    assert compare([{"replace": "/virtualNetwork"}], edited(virtualNetwork=network)).passed
    assert compare([{"replace": "/virtualNetwork/subnets/*"}], edited(virtualNetwork=network)).verdict is Verdict.FAIL
    finer = [{"add": "/backup/enabled", "value": True}, {"add": "/backup/days", "value": 30}]
    assert compare(finer, edited(backup={"enabled": True, "days": 30})).passed
    partly = compare(finer[:1], edited(backup={"enabled": True, "days": 30, "deep": {"x": 1}}))
    assert partly.reason == HEAD + '2 unexpected\nunexpected: + /backup/days: 30\nunexpected: + /backup/deep: {"x": 1}'


def test_globs_stand_for_all_changes_that_fit_of_which_there_has_to_be_one() -> None:
    network = copy.deepcopy(SPOKE["virtualNetwork"])
    for subnet in network["subnets"]:
        subnet["addressPrefix"] = subnet["addressPrefix"].replace("10.1.", "10.2.")
    change = {"replace": "/virtualNetwork/subnets/*/addressPrefix", "value": {"$regex": r"^10\.2\."}}
    assert compare([change], edited(virtualNetwork=network)).passed
    network["subnets"][1]["addressPrefix"] = "10.3.0.0/26"
    assert compare([change], edited(virtualNetwork=network)).reason == HEAD + (
        "1 unexpected\n"
        'unexpected: ~ /virtualNetwork/subnets/[name=snet-data]/addressPrefix: "10.1.0.64/26" → "10.3.0.0/26"'
    )
    assert compare([change], copy.deepcopy(SPOKE)).verdict is Verdict.FAIL
    assert compare([{**change, "optional": True}], copy.deepcopy(SPOKE)).passed


def test_an_announced_new_name_is_one_change_and_not_two() -> None:
    groups = copy.deepcopy(SPOKE["networkSecurityGroups"])
    groups[0]["name"] = "nsg-web"
    renamed = edited(networkSecurityGroups=groups)
    change = {"replace": "/networkSecurityGroups/[name=nsg-app]/name", "value": "nsg-web"}
    assert compare([change], renamed).passed
    two = [{"remove": "/networkSecurityGroups/[name=nsg-app]"}, {"add": "/networkSecurityGroups/[name=nsg-web]"}]
    assert compare(two, renamed).passed
    groups[0]["rules"][0]["port"] = "80"
    assert compare([change], edited(networkSecurityGroups=groups)).reason == HEAD + (
        '1 unexpected\nunexpected: ~ /networkSecurityGroups/[name=nsg-app]/rules/[name=https]/port: "443" → "80"'
    )


def test_other_changes_are_allowed_only_where_it_is_said() -> None:
    submitted = edited(name="x", costCenter="CC-2", tags={"owner": "web", "legacy": "no", "new": 1})
    name = {"replace": "/name", "value": "x"}
    assert compare([name], submitted).verdict is Verdict.FAIL
    assert compare([name], submitted, allow_other=True).reason.endswith(": ~ /name; 3 other changes allowed")
    assert compare([name], submitted, allow_other=["/tags"]).reason == HEAD + (
        '1 unexpected\nunexpected: ~ /costCenter: "CC-1001" → "CC-2"'
    )
    assert compare([name], submitted, allow_other=["/tags/*", "costCenter"]).passed
    added = edited(backup={"enabled": True, "days": 1})
    assert compare([], added, allow_other=["/backup/days"]).reason == HEAD + (
        "1 unexpected\nunexpected: + /backup/enabled: true"
    )


def test_order_keys_and_ignored_places_can_be_set() -> None:
    network = {**SPOKE["virtualNetwork"], "subnets": SPOKE["virtualNetwork"]["subnets"][::-1]}
    swapped = edited(virtualNetwork=network)
    assert compare([], swapped).reason == HEAD + (
        "1 unexpected\nunexpected: ↕ /virtualNetwork/subnets: "
        '["[name=snet-app]", "[name=snet-data]"] → ["[name=snet-data]", "[name=snet-app]"]'
    )
    assert compare([], swapped, unordered=["/virtualNetwork/subnets"]).passed
    assert compare([], swapped, ignore=["/virtualNetwork"]).passed
    by_purpose = compare([], swapped, list_keys=["purpose"])
    assert "[purpose=application]" in by_purpose.reason


def test_the_last_answer_before_the_submission_that_fits_is_the_source() -> None:
    other = read_spoke({"configuration": {"name": "other"}}, name="spoke-other")
    late = read_spoke({"configuration": {"name": "late"}})
    refused = read_spoke({"configuration": {"name": "refused"}}, status="tool_error")
    calls = (read_spoke(), other, refused, submit(SPOKE), late)
    named = {"source": {"tool": "get_spoke", "args": {"name": "spoke-web-dev"}}, "changes": []}
    assert judge(named, *calls).passed
    assert judge({"changes": []}, *calls).reason.startswith(
        "create_spoke_pull_request (call 4, turn 1) does not differ from get_spoke (call 2, turn 1) as expected: "
    )
    assert judge(named, other, submit(SPOKE), late).reason == (
        'the source was never read: no successful get_spoke(name="spoke-web-dev") '
        "before create_spoke_pull_request (call 2, turn 1)"
    )


def test_other_tools_and_paths_can_be_named() -> None:
    config = {
        "source": {"tool": "read_file", "args": {"path": "a.json"}, "path": "/content/0/json"},
        "submitted": {"tool": "write_*", "path": "", "args": {"dry": False}},
        "changes": [{"add": "/dry"}],
    }
    read = replace(call("read_file", path="a.json"), result={"content": [{"json": {"x": 1}}]})
    assert judge(config, read, call("write_file", x=2, dry=True), call("write_file", x=1, dry=False)).passed


def test_an_answer_that_is_text_is_read_as_json() -> None:
    assert judge({"changes": []}, read_spoke(json.dumps({"configuration": SPOKE})), submit(SPOKE)).passed
    broken = judge({"changes": []}, read_spoke("not json"), submit(SPOKE))
    assert broken.reason == (
        "NOT EVALUATED: the answer of get_spoke (call 1, turn 1) is no JSON, so the source can not be read from it"
    )
    elsewhere = judge({"changes": []}, read_spoke({"config": SPOKE}), submit(SPOKE))
    assert elsewhere.reason == (
        "NOT EVALUATED: the answer of get_spoke (call 1, turn 1) has nothing at /configuration, "
        "so the source is not known"
    )


def test_the_source_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source.json").write_text(json.dumps(SPOKE), encoding="utf-8")
    (tmp_path / "source.yaml").write_text(f"spokes:\n  - {json.dumps(SPOKE)}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    submitted = submit(edited(name="x"))
    changes = [{"replace": "/name", "value": "x"}]
    for source in ({"file": "source.json"}, {"file": "file://source.yaml", "path": "/spokes/0"}):
        assert judge({"source": source, "changes": changes}, submitted).passed
    gone = judge({"source": {"file": "gone.json"}, "changes": changes}, submitted)
    assert gone.reason == (
        f"NOT EVALUATED: case C01, config of input_diff, /source/file: there is no file {tmp_path}/gone.json"
    )


def test_nothing_submitted_is_a_failure_that_says_what_was_tried() -> None:
    assert judge({"changes": []}, read_spoke()).reason == (
        "nothing was submitted: create_spoke_pull_request did not succeed"
    )
    refused = judge({"changes": []}, read_spoke(), submit(SPOKE, "tool_error"))
    assert (refused.verdict, refused.reason) == (
        Verdict.FAIL,
        "nothing was submitted: create_spoke_pull_request did not succeed; it was attempted, but did not succeed: "
        "create_spoke_pull_request (call 2, turn 1: tool_error)",
    )
    assert judge({"changes": [], "when": "attempted"}, read_spoke(), submit(SPOKE, "tool_error")).passed
    empty = judge({"changes": []}, read_spoke(), call("create_spoke_pull_request", title="t"))
    assert empty.reason == "create_spoke_pull_request (call 2, turn 1) submitted nothing at /configuration"


def test_every_submission_counts_unless_one_is_named() -> None:
    calls = (read_spoke(), submit(edited(name="bad")), submit(SPOKE))
    assert "(call 2, turn 1) does not differ" in judge({"changes": []}, *calls).reason
    for occurrence, passing in [("all", False), ("any", True), ("first", False), ("last", True), (1, False), (2, True)]:
        assert judge({"changes": [], "occurrence": occurrence}, *calls).passed is passing, occurrence
    assert judge({"changes": [], "occurrence": 3}, *calls).reason == "expected submission 3, there are only 2"
    unanswered = submit(SPOKE, "transport_error")
    assert judge({"changes": []}, read_spoke(), submit(SPOKE), unanswered).verdict is Verdict.NOT_EVALUATED
    assert judge({"changes": [], "occurrence": "first"}, read_spoke(), submit(SPOKE), unanswered).passed


CUT = {"truncated": True, "head": "{", "length": 99999, "sha256": "0" * 64}


def test_evidence_that_was_cut_is_never_a_pass() -> None:
    assert judge({"changes": []}, read_spoke(CUT), submit(SPOKE)).reason == (
        "NOT EVALUATED: the answer of get_spoke (call 1, turn 1) was cut when it was recorded, "
        "so the source is not known"
    )
    assert judge({"changes": []}, read_spoke({"configuration": CUT}), submit(SPOKE)).verdict is Verdict.NOT_EVALUATED
    assert judge({"changes": []}, read_spoke(), submit(CUT)).reason == (
        "NOT EVALUATED: what create_spoke_pull_request (call 2, turn 1) submitted was cut when it was recorded"
    )
    inside = compare([{"replace": "/tags/owner"}], edited(tags=CUT))
    assert inside.reason == (
        "NOT EVALUATED: whether create_spoke_pull_request (call 2, turn 1) differs from get_spoke (call 1, turn 1) "
        "as expected is unknown: /tags was cut when it was recorded"
    )
    assert compare([], edited(tags=CUT)).verdict is Verdict.NOT_EVALUATED
    assert compare([], edited(tags=CUT, name="x")).verdict is Verdict.FAIL
    assert compare([{"replace": "/name"}], edited(tags=CUT)).verdict is Verdict.FAIL
    assert compare([], edited(tags=CUT), ignore=["/tags"]).passed
    assert grade("input_diff", input_diff.check, evidence_of(None), {"changes": []}).verdict is Verdict.NOT_EVALUATED


def test_values_are_compared_as_json() -> None:
    assert compare([], edited(monitoring={"logRetentionDays": 90.0})).passed
    assert compare([], edited(monitoring={"logRetentionDays": True})).verdict is Verdict.FAIL
    assert compare([], edited(monitoring={"logRetentionDays": "90"})).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "/: the key 'changes' is missing"),
        ({"changes": [{"replaced": "/a"}]}, "/changes/0/replaced: unknown key (1 more); allowed: add, match, "),
        ({"changes": [{"add": "/a", "remove": "/a"}]}, "/changes/0: names no change, or several: one of 'add', "),
        (
            {"changes": [{"add": "/a", "was": 1}]},
            "/changes/0/was: does not go with add; allowed: add, value, optional, ",
        ),
        ({"changes": [{"add": "/a/[x]"}]}, "/changes/0/add: the bracket in '/a/[x]' has no '='; allowed: [key=value]"),
        ({"changes": [{"add": "/a", "value": {"$regex": "("}}]}, "/changes/0/value/$regex: '(' is no regular "),
        (
            {"changes": [], "allow_other": True},
            "/changes: expects nothing while all other changes are allowed; allowed: ",
        ),
        (
            {"changes": [], "source": {"file": "a", "tool": "b"}},
            "/source/tool: does not go with 'file'; allowed: file, path",
        ),
        ({"changes": [], "source": {"tool": "b", "pth": ""}}, "/source/pth: unknown key; allowed: args, file, match, "),
        ({"changes": [], "occurrence": "none"}, "/occurrence: 'none' is not allowed; allowed: 'all', 'any', 'first', "),
        ({"changes": [], "list_keys": []}, "/list_keys: is empty, so there would be nothing to check"),
        ({"changes": [], "ignore": ["/a", "/**"]}, "/ignore: '/**' leaves nothing to compare; allowed: the places "),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], reason: str) -> None:
    result = judge(config, read_spoke(), submit(SPOKE))
    assert result.verdict is Verdict.NOT_EVALUATED
    assert result.reason.startswith(f"NOT EVALUATED: case C01, config of input_diff, {reason}")


def test_a_configuration_that_is_handed_over_as_text_is_read() -> None:
    submitted = copy.deepcopy(SPOKE) | {"name": "spoke-web-test"}
    config = {"changes": [{"replace": "/name", "value": "spoke-web-test"}]}
    as_text = read_spoke({"name": "spoke-web-dev", "configuration": json.dumps(SPOKE)})
    for source in (read_spoke(), as_text):
        assert judge(config, source, submit(json.dumps(submitted))).passed
    assert judge(config, as_text, submit(json.dumps(SPOKE))).verdict is Verdict.FAIL
