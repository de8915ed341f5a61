"""A faulty case is found before anything runs, with file, line, what is wrong and what is allowed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from formats import checked
from formats.case_files import CHECKOUT, as_test, read_cases
from formats.case_rules import MOST_SMOKE_CASES
from formats.case_schema import SCHEMA
from formats.load_suite import tests as generate
from formats.problems import CaseFileError
from formats.tool_names import named_tools

GOOD = """\
- description: T01 copy a spoke
  metadata: {id: T01, group: copies, priority: smoke, risk: low}
  vars:
    request: Please copy spoke-a.
    facts: {cost center: CC-1}
  assert:
    - type: python
      value: file://checks/contract.py
      config:
        tool_sequence: {steps: [get_spoke, {tool: create_*}]}
        tool_not_executed: [complete_pull_request]
        argument_match: {tool: create_spoke_pull_request, expected: {tool: a value and no name}}
"""


@pytest.fixture(autouse=True)
def an_assertion_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "contract.py").touch()


@pytest.fixture
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of its own, so that nothing is remembered in the real one."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(CHECKOUT / "agent_config", folder / "agent_config")
    return folder


def problems_in(tmp_path: Path, *texts: str) -> list[str]:
    """The complaints about files first.yaml, second.yaml …, as `name:line: message`."""
    files = []
    for name, text in zip(("first", "second", "third"), texts, strict=False):
        file = tmp_path / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        files.append(file)
    with pytest.raises(CaseFileError) as caught:
        read_cases(files)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_a_good_file_has_no_problems(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert [case.id for case in read_cases([file], checkout=checkout)] == ["T01"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "  metadata: {id: T01",
            "  metdata: {id: T01",
            [
                "first.yaml:1: metadata is missing; needed are description, metadata, vars, assert",
                "first.yaml:2: unknown key metdata; did you mean metadata?; "
                "allowed are description, metadata, vars, assert, threshold, options",
            ],
        ),
        (
            "priority: smoke",
            "priority: smokey",
            ["first.yaml:2: metadata.priority: 'smokey' is not allowed; did you mean smoke?; allowed are smoke, full"],
        ),
        ("risk: low", "risk: 3", ["first.yaml:2: metadata.risk: 3 is not allowed; allowed are low, medium, high"]),
        ("id: T01,", "", ["first.yaml:2: metadata: id is missing; needed are id, group, priority"]),
        (
            "risk: low",
            "suite: mine",
            ["first.yaml:2: metadata.suite: is set by the case loader; remove it"],
        ),
        (
            "request: Please copy spoke-a.",
            "request: ''",
            ["first.yaml:4: vars.request: is blank"],
        ),
        (
            "facts: {cost center: CC-1}",
            "facts: {cost center: [CC-1]}",
            ["first.yaml:5: vars.facts.cost center: is a list; allowed is a text or a number or true or false"],
        ),
        (
            "facts: {cost center: CC-1}",
            "topics: [a, b]",
            [
                "first.yaml:5: vars.topics: is a list, for which promptfoo runs the case once per item; allowed is a "
                "text, a number, true or false, or a mapping, and expectations belong into an assertion's config",
            ],
        ),
        (
            "type: python",
            "type: trajectory:tool-used",
            ["first.yaml:7: assert[1].type: 'trajectory:tool-used' is not allowed"],
        ),
        (
            "description: T01 copy",
            "description: T1 copy",
            ["first.yaml:1: must begin with the id T01, so that --filter-pattern finds it"],
        ),
        (
            "steps: [get_spoke,",
            "steps: [get_spok,",
            ["first.yaml:10: no server offers a tool get_spok; did you mean get_spoke?; known are "],
        ),
        (
            "file://checks/contract.py",
            "file://checks/contrakt.py",
            ["first.yaml:8: assert[1].value: there is no file contrakt.py in "],
        ),
        (
            "file://checks/contract.py",
            "file://checks/contrakt.py:judge",
            ["first.yaml:8: assert[1].value: there is no file contrakt.py in "],
        ),
        ("{tool: create_*}", "{tool: delete_*}", ["first.yaml:10: no server offers a tool delete_*; known are "]),
        (
            "tool_not_executed: [complete_pull_request]",
            "tool_not_executed: {tools: [merge]}",
            ["first.yaml:11: no server offers a tool merge; known are "],
        ),
        (
            "Please copy spoke-a.",
            "Please copy {{ source }}.",
            ["first.yaml:4: nothing fills the placeholder {{ source }}; the vars of this case are request, facts"],
        ),
        (
            "Please copy spoke-a.",
            "Please copy ${SOURCE}.",
            ["first.yaml:4: nothing fills the placeholder ${SOURCE}; the vars of this case are request, facts"],
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    found = problems_in(tmp_path, changed(old, new))
    assert len(found) == len(expected)
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize("ending", ["", "  assert: []\n"])
def test_a_case_without_an_assertion_is_refused(tmp_path: Path, ending: str) -> None:
    head = GOOD[: GOOD.index("  assert:")]
    (found,) = problems_in(tmp_path, head + ending)
    assert "has no assertion, so it could never fail: add at least one under assert" in found


def test_a_placeholder_that_a_var_fills_is_fine(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(changed("expected: {tool: a value and no name}", "expected: {name: '{{ request | lower }}'}"))
    assert len(read_cases([file], checkout=checkout)) == 1


def test_ids_are_unique_over_all_files(tmp_path: Path) -> None:
    (found,) = problems_in(tmp_path, GOOD, GOOD)
    assert found == (f"second.yaml:2: the id T01 is taken by {tmp_path}/first.yaml:2; ids are unique over all suites")


def test_a_metadata_value_that_is_part_of_another_one_is_refused(tmp_path: Path) -> None:
    longer = GOOD.replace("T01", "T02").replace("group: copies", "group: copies-blocked")
    (found,) = problems_in(tmp_path, GOOD, longer)
    assert found == (
        f"second.yaml:2: group copies-blocked contains the value copies of {tmp_path}/first.yaml:2, "
        "so --filter-metadata group=copies would select both; no value may be part of another one"
    )


def test_an_id_that_begins_like_another_one_is_refused(tmp_path: Path) -> None:
    (found,) = problems_in(tmp_path, GOOD, GOOD.replace("T01", "T012"))
    assert "id T012 contains the value T01" in found


def test_too_many_smoke_cases_are_refused(tmp_path: Path) -> None:
    many = "".join(GOOD.replace("T01", f"T{number}") for number in range(10, 10 + MOST_SMOKE_CASES + 1))
    (found,) = problems_in(tmp_path, many)
    last_line = MOST_SMOKE_CASES * len(GOOD.splitlines()) + 2
    assert found == (
        f"first.yaml:{last_line}: there are {MOST_SMOKE_CASES + 1} smoke cases, "
        f"and at most {MOST_SMOKE_CASES} are allowed; make some of them full"
    )


def test_all_problems_of_all_files_come_at_once_in_order(tmp_path: Path) -> None:
    found = problems_in(tmp_path, changed("risk: low", "risk: huge"), "- 3\n", "{a: 1")
    assert [line.split(": ")[0] for line in found] == ["first.yaml:2", "second.yaml:1", "third.yaml:2"]


def test_a_test_for_promptfoo_is_tied_to_its_suite_and_finds_its_files(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "suite" / "cases.yaml"
    file.parent.mkdir()
    file.write_text(changed("file://checks", "file://../checks"), encoding="utf-8")
    (case,) = read_cases([file], checkout=checkout)
    test = as_test(case, "the-agent", "the-suite")
    assert test["providers"] == ["the-agent"]
    assert test["metadata"]["suite"] == "the-suite"
    assert test["options"] == {"disableVarExpansion": True}
    assert test["assert"][0]["value"] == f"file://{tmp_path}/checks/contract.py"
    assert "providers" not in as_test(case, None, None)
    assert "suite" not in case.test["metadata"]


@pytest.mark.parametrize(
    ("place", "line"), [("request: Please", 4), ("description: T01", 1)], ids=["what a developer says", "description"]
)
def test_a_credential_in_a_case_is_refused_because_promptfoo_would_store_it(
    place: str, line: int, tmp_path: Path, checkout: Path
) -> None:
    made_up = "AccountKey=" + "Zm9vYmFyYmF6" * 7 + "=="
    file = tmp_path / "cases.yaml"
    assert place in GOOD
    file.write_text(GOOD.replace(place, f"{place} {made_up}"), encoding="utf-8")
    with pytest.raises(CaseFileError) as caught:
        read_cases([file], checkout=checkout)
    (problem,) = caught.value.problems
    assert str(problem).endswith(
        f":{line}: holds what looks like a credential, and promptfoo would store it; take it out"
    )
    assert "Zm9v" not in str(caught.value)


def test_the_entry_for_promptfoo_reads_a_file_of_the_checkout(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(GOOD, encoding="utf-8")
    (test,) = generate({"file": str(file), "provider": "agent", "suite": "mine"})
    assert (test["providers"], test["metadata"]["suite"]) == (["agent"], "mine")


def test_the_entry_reads_several_files_in_their_order_and_ties_each_to_its_provider(tmp_path: Path) -> None:
    files = []
    for name, case in (("second", "T01"), ("first", "T02")):
        (tmp_path / name).mkdir()
        files.append(tmp_path / name / "cases.yaml")
        files[-1].write_text(GOOD.replace("T01", case).replace("file://checks", "file://../checks"), encoding="utf-8")
    made = generate({"suites": [{"file": str(file), "provider": file.parent.name} for file in files]})
    assert [(test["metadata"]["suite"], test["providers"]) for test in made] == [
        ("second", ["second"]),
        ("first", ["first"]),
    ]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"suites": []}, "config of load_suite.py: file is missing; allowed are file, provider, suite, tools"),
        ({}, "config of load_suite.py: file is missing; allowed are file, provider, suite, tools"),
        (
            {"file": "x", "provder": "y"},
            "config of load_suite.py: unknown key provder; allowed are file, provider, suite, tools",
        ),
    ],
)
def test_a_wrong_config_of_the_entry_is_refused(config: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        generate(config)


def test_tools_that_the_suite_names_are_known(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(changed("steps: [get_spoke,", "steps: [open_ticket,"), encoding="utf-8")
    assert len(read_cases([file], ["open_ticket"], checkout)) == 1


def test_the_checked_in_list_of_the_portal_holds_what_its_agents_may_call() -> None:
    from formats.tool_names import offered_tools
    from formats.yaml_document import read_yaml

    agent = read_yaml(CHECKOUT / "agent_config" / "agents" / "spoke" / "agent.yaml").value
    offered = offered_tools(CHECKOUT)
    assert set(agent["tools"]) < offered
    assert "complete_pull_request" in offered


OURS = f"""\
- description: T01 copy a spoke
  metadata: {{id: T01, group: copies, priority: smoke}}
  vars:
    request: Please copy spoke-a.
  assert:
    - type: python
      value: file://{CHECKOUT}/assertions/pull_request.py
      config:
        hosts: [azure_devops]
        title: "*{{{{request}}}}*"
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("azure_devops", "gitea", 9, "config of pull_request: /hosts/0: 'gitea' is not allowed; allowed: "),
        ("title:", "titel:", 10, "config of pull_request: /titel: unknown key; allowed: "),
        ("{{request}}", "{{goal}}", 10, "config of pull_request: /title: {{goal}} is not among the case's vars"),
    ],
)
def test_the_config_of_our_own_assertions_is_checked_by_their_own_schema(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in OURS
    (found,) = problems_in(tmp_path, OURS.replace(old, new))
    assert found.startswith(f"first.yaml:{line}: {message}")


def test_a_checked_config_carries_the_mark_that_its_assertion_looks_for(tmp_path: Path, checkout: Path) -> None:
    from assertions.config_check import STAMP_KEY, stamp

    file = tmp_path / "cases.yaml"
    file.write_text(OURS, encoding="utf-8")
    (case,) = read_cases([file], checkout=checkout)
    config = as_test(case, None, None)["assert"][0]["config"]
    written = {key: value for key, value in config.items() if key != STAMP_KEY}
    assert written == {"hosts": ["azure_devops"], "title": "*{{request}}*"}
    assert config[STAMP_KEY] == stamp("pull_request", written)


def test_files_that_were_found_right_are_not_checked_again_until_they_change(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(GOOD, encoding="utf-8")
    read_cases([file], checkout=checkout)
    first = checked.digest([file], (), checkout)
    assert checked.is_known(first, checkout)
    assert not checked.is_known(checked.digest([file], ["one more tool"], checkout), checkout)

    file.write_text(changed("risk: low", "risk: huge"), encoding="utf-8")
    assert not checked.is_known(checked.digest([file], (), checkout), checkout)
    with pytest.raises(CaseFileError):
        read_cases([file], checkout=checkout)
    with pytest.raises(CaseFileError):
        read_cases([file], checkout=checkout)


def test_files_are_checked_again_when_a_tool_is_no_longer_offered(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(GOOD, encoding="utf-8")
    read_cases([file], checkout=checkout)
    (checkout / "agent_config" / "servers" / "portal.tools.json").unlink()
    with pytest.raises(CaseFileError, match="no server offers a tool complete_pull_request"):
        read_cases([file], checkout=checkout)


def test_editors_find_the_schema_of_every_assertion() -> None:
    from assertions.config_check import assertion_names

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    rules = schema["definitions"]["assertion"]["allOf"]
    found = {
        rule["then"]["properties"]["config"]["$ref"]: rule["if"]["properties"]["value"]["pattern"] for rule in rules
    }
    assert found == {
        f"../assertions/schemas/{name}.schema.json": rf"/assertions/{name}\.py" for name in assertion_names()
    }


@pytest.mark.parametrize(
    "config",
    [
        {"tool_sequence": {"steps": ["x"]}},
        {"tool_sequence": [{"steps": [{"tool": "x", "args": {"tool": "data"}}]}]},
        {"tool_sequence": {"per_turn": [[], ["x"]]}},
        {"tool_sequence": {"steps": [{"any_of": ["x"]}]}},
        {"tool_not_executed": ["x"]},
        {"tool_not_executed": {"tools": [{"tool": "x", "args": {"environment": "production"}}]}},
        {"argument_match": {"calls": [{"tool": "x"}]}},
        {"input_diff": {"source": {"tool": "x"}, "changes": [{"add": "/tool", "value": {"tool": "data"}}]}},
        {"schema_validation": {"schema": {"tool": "x"}}},
        {"scenario": {"expectations": [{"after_tool": "x", "message": "tool"}]}},
        {"required_tools": ["x"]},
        {"forbidden_tools": ["x"]},
    ],
)
def test_names_of_tools_are_found_wherever_an_assertion_takes_them(config: dict[str, object]) -> None:
    assert [name for _, name in named_tools(config)] == ["x"]
