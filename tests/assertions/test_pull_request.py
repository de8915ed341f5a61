"""The assertion `pull_request`: what the record proves, and what the answer shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assertions.config_check import check_config
from assertions.evidence import Evidence
from assertions.verdict import ConfigError
from episodes.record import AtHost
from tests.assertions.conversations import FAIL, NOT_EVALUATED, PASS, conversation, says, tool
from tests.assertions.pull_requests import OFFLINE, OTHER, RESULT, URL, creates, judge, pull


def test_a_proven_and_linked_pull_request_passes_and_says_what_was_seen() -> None:
    evidence = conversation(creates(turn=2), messages=[says("assistant", f"Here: {URL}", 2)], pull_requests=[pull()])
    result = judge(evidence)
    assert (result.verdict, result.reason) == (
        PASS,
        f"{URL}: created by create in turn 2, its URL stands in the answer, it is open",
    )
    assert result.all_named_scores() == {
        "pull_request.created": 1.0,
        "pull_request.linked": 1.0,
        "pull_request.open": 1.0,
    }


def test_another_spelling_of_the_address_is_the_same_pull_request() -> None:
    spelled = "https://contoso.visualstudio.com/Platform/_git/Spokes/pullrequest/41?_a=files"
    evidence = conversation(creates(), messages=[says("assistant", f"[PR]({spelled})")], pull_requests=[pull()])
    assert judge(evidence).verdict is PASS


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ([says("user", f"see {URL}"), says("assistant", URL)], "it was copied from the developer's message in turn 1"),
        ([says("tool", f"see {URL}", 2), says("assistant", URL, 2)], "it was copied from a tool result in turn 2"),
        ([says("assistant", URL)], "it stands nowhere else in the conversation"),
    ],
)
def test_an_address_that_the_agent_did_not_create_fails_and_tells_where_it_is_from(
    messages: list[dict[str, Any]], where: str
) -> None:
    result = judge(conversation(tool("get_spoke"), messages=messages))
    assert result.verdict is FAIL
    assert result.reason == (
        f"pull_request.created: no tool result of this episode created {URL}, which the answer shows: {where}"
    )


def test_no_pull_request_at_all_fails_in_words() -> None:
    result = judge(conversation(messages=[says("assistant", "I have created the pull request.")]))
    assert (result.verdict, result.reason) == (
        FAIL,
        "pull_request.created: no pull request was created, and the answer shows no pull-request URL",
    )


def test_a_created_pull_request_that_the_answer_does_not_show_fails() -> None:
    evidence = conversation(creates(), messages=[says("user", URL), says("assistant", "Done.")], pull_requests=[pull()])
    assert judge(evidence).reason == f"pull_request.linked: {URL} was created, but the answer does not show its URL"


def test_an_invented_address_beside_the_right_one_fails() -> None:
    evidence = conversation(creates(), messages=[says("assistant", f"{URL} and {OTHER}")], pull_requests=[pull()])
    assert judge(evidence).reason == (
        f"pull_request.linked: the answer also shows {OTHER}, which stands nowhere else in the conversation"
    )


def test_a_quoted_address_beside_the_right_one_passes() -> None:
    messages = [says("user", f"like {OTHER}"), says("assistant", f"{URL}, like {OTHER}")]
    assert judge(conversation(creates(), messages=messages, pull_requests=[pull()])).verdict is PASS


def test_a_record_that_lists_what_no_result_shows_is_not_evaluated() -> None:
    evidence = conversation(tool("create", {}, {"ok": True}), messages=[says("assistant", URL)], pull_requests=[pull()])
    assert judge(evidence).reason == (
        f"NOT EVALUATED: pull_request.created: the record lists {URL}, but no tool result in it shows that URL"
    )


@pytest.mark.parametrize("status", ["tool_error", "transport_error", "not_executed"])
def test_the_address_in_a_failed_calls_text_proves_nothing(status: str) -> None:
    evidence = conversation(creates(f"already exists: {URL}", status=status), messages=[says("assistant", URL)])
    assert judge(evidence, OFFLINE | {"created_by": "create"}).verdict is FAIL


def test_unknown_tool_calls_are_not_evaluated_whether_one_is_wanted_or_not() -> None:
    evidence = conversation(messages=[says("assistant", URL)], pull_requests=[pull()], known=False)
    for config in (OFFLINE, {"required": False}):
        assert judge(evidence, config).verdict is NOT_EVALUATED


def test_pull_requests_of_a_foreign_record_are_read_from_the_named_tools() -> None:
    evidence = conversation(
        tool("read", {}, {"url": OTHER}), creates(), messages=[says("assistant", f"{URL}, {OTHER}")]
    )
    assert judge(evidence, OFFLINE | {"created_by": ["create*"]}).verdict is PASS
    assert judge(evidence, OFFLINE).verdict is FAIL


def test_more_pull_requests_than_allowed_fail() -> None:
    calls = [creates(), creates({**RESULT, "url": OTHER}, turn=2)]
    evidence = conversation(*calls, messages=[says("assistant", f"{URL} {OTHER}")], pull_requests=[pull(), pull(OTHER)])
    assert judge(evidence).reason == (
        f"pull_request.created: 2 pull requests were created, at most 1 may be: {URL}, {OTHER}"
    )
    assert judge(evidence, OFFLINE | {"max": 2}).verdict is PASS


def test_an_address_of_no_known_form_is_no_pull_request() -> None:
    strange = "https://example.test/changes/41"
    evidence = conversation(
        creates({"url": strange}), messages=[says("assistant", strange)], pull_requests=[pull(strange)]
    )
    assert judge(evidence).reason == (
        f"pull_request.created: {strange} was created, but it is not the address of a pull request of a known host "
        "(azure_devops, github, gitlab)"
    )
    assert judge(evidence, {"required": False}).verdict is FAIL


def test_the_kind_of_host_can_be_limited() -> None:
    evidence = conversation(creates(), messages=[says("assistant", URL)], pull_requests=[pull()])
    assert judge(evidence, OFFLINE | {"hosts": ["github"]}).reason == (
        f"pull_request.created: {URL} is on azure_devops; allowed: github"
    )


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            {"target_branch": "release/*"},
            f"pull_request.target_branch: {URL} has the target branch 'main'; expected 'release/*'",
        ),
        (
            {"source_branch": ["evals/*", "x"]},
            f"pull_request.source_branch: {URL} has the source branch 'agent/spoke-a'; expected 'evals/*' or 'x'",
        ),
        ({"title": "Remove *"}, f"pull_request.title: {URL} has the title 'Add spoke-a'; expected 'Remove *'"),
        (
            {"allowed_paths": "docs/**"},
            f"pull_request.allowed_paths: {URL} changes spokes/spoke-a.json; allowed: docs/**",
        ),
        (
            {"allowed_paths": "*.json"},
            f"pull_request.allowed_paths: {URL} changes spokes/spoke-a.json; allowed: *.json",
        ),
    ],
)
def test_without_a_host_the_creating_tool_is_believed(config: dict[str, Any], reason: str) -> None:
    evidence = conversation(creates(), messages=[says("assistant", URL)], pull_requests=[pull()])
    assert judge(evidence, OFFLINE | config).reason == f"{reason} (says the creating tool)"


def test_what_the_creating_tool_does_not_tell_is_not_evaluated() -> None:
    evidence = conversation(creates(f"opened {URL}"), messages=[says("assistant", URL)], pull_requests=[pull()])
    config = OFFLINE | {"target_branch": "main", "open": False}
    assert judge(evidence, config).reason == (
        f"NOT EVALUATED: pull_request.target_branch: {URL}: the creating tool does not tell the target branch"
    )


def test_a_replayed_pull_request_is_judged_by_its_recorded_result_and_never_looked_up() -> None:
    evidence = conversation(creates(replayed=True), messages=[says("assistant", URL)], pull_requests=[pull()])
    assert judge(evidence, {"target_branch": "main", "allowed_paths": "spokes/*.json"}).verdict is PASS


def _replayed(**at_host: Any) -> Evidence:
    said = replace(AtHost(exists=True, asked_at="", status="active", target_branch="main"), **at_host)
    made = replace(pull(), at_host=said, replayed=True)
    return conversation(creates(replayed=True), messages=[says("assistant", URL)], pull_requests=[made])


def test_a_replayed_pull_request_passes_on_what_its_host_said_when_it_was_recorded() -> None:
    result = judge(_replayed(), {"target_branch": "main"})
    assert result.reason == (
        f"{URL}: created by create in turn 1, its URL stands in the answer, "
        "from a recording; not looked up at the host, it existed at its host when it was recorded, it was open, "
        "its target branch was right"
    )
    assert result.all_named_scores()["pull_request.replayed"] == 1.0


@pytest.mark.parametrize(
    ("at_host", "reason"),
    [
        ({"exists": False}, f"exists: {URL} did not exist at its host when it was recorded"),
        ({"status": "abandoned"}, f"open: {URL} is abandoned, not open (says its host, when it was recorded)"),
        (
            {"target_branch": "dev"},
            f"target_branch: {URL} has the target branch 'dev'; expected 'main' (says its host, when it was recorded)",
        ),
    ],
)
def test_a_replay_fails_where_the_recorded_run_did(at_host: dict[str, Any], reason: str) -> None:
    result = judge(_replayed(**at_host), {"target_branch": "main"})
    assert (result.verdict, result.reason) == (FAIL, f"pull_request.{reason}")


def test_a_blocked_case_that_created_one_fails_in_a_replay_too() -> None:
    assert judge(_replayed(), {"required": False}).reason == (
        f"no pull request may be created here, but {URL} was (create in turn 1)"
    )


def test_a_blocked_case_passes_only_when_nothing_was_created() -> None:
    config = {"required": False}
    assert judge(conversation(messages=[says("assistant", "No.")]), config).reason == "no pull request was created"
    quoted = [says("user", URL), says("assistant", f"I can not change {URL}.")]
    assert judge(conversation(messages=quoted), config).verdict is PASS
    created = conversation(creates(turn=3), messages=[says("assistant", "I did nothing.")], pull_requests=[pull()])
    assert judge(created, config).reason == (f"no pull request may be created here, but {URL} was (create in turn 3)")
    invented = conversation(messages=[says("assistant", URL)])
    assert judge(invented, config).reason == (
        f"no pull request was created, yet the answer shows {URL}, which no tool made"
    )


def test_a_creating_call_without_an_answer_leaves_a_blocked_case_open() -> None:
    evidence = conversation(creates(None, status="transport_error"), messages=[says("assistant", "Hm.")])
    for config in ({"required": False, "created_by": "create"}, {"required": False}):
        assert judge(evidence, config).reason == (
            "NOT EVALUATED: create in turn 1 never answered, so it may have created one"
        )
    reading = conversation(tool("get_spoke", status="transport_error"), messages=[says("assistant", "Hm.")])
    assert judge(reading, {"required": False}).verdict is PASS


def test_a_foreign_record_whose_tools_answer_with_an_address_does_not_prove_that_none_was_created() -> None:
    ours = conversation(creates(), messages=[says("assistant", f"Done: {URL}")])
    assert ours.episode is not None
    foreign = Evidence(replace(ours.episode, step_id=""))
    assert judge(foreign, {"required": False}).reason == (
        f"NOT EVALUATED: create in turn 1 answered with {URL}, which it may have created; say so with `created_by`"
    )
    assert judge(foreign, {"required": False, "created_by": "create"}).verdict is FAIL
    reading = Evidence(replace(ours.episode, step_id="", tool_calls=(tool("get_pull_request", {}, RESULT),)))
    assert judge(reading, {"required": False}).verdict is PASS


@pytest.mark.parametrize("result", [{"id": 7}, {"truncated": True, "length": 9, "sha256": "x", "file": "f"}, None])
def test_a_creating_tool_that_went_well_without_a_known_address_leaves_a_blocked_case_open(result: Any) -> None:
    config = {"required": False, "created_by": ["create"]}
    assert judge(conversation(creates(result)), config).reason == (
        "NOT EVALUATED: create in turn 1 went well, and its result in the record shows no pull request that is known"
    )
    assert judge(conversation(creates(result, status="tool_error")), config).verdict is PASS


def test_a_record_without_messages_is_read_by_its_plain_answer() -> None:
    assert judge(conversation(creates(), output=f"see {URL}", pull_requests=[pull()])).verdict is PASS


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"require": True}, "/require: unknown key; allowed: allowed_paths, created_by, hosts, look_up, max, open, "),
        ({"hosts": ["bitbucket"]}, "/hosts/0: 'bitbucket' is not allowed; allowed: 'azure_devops', 'github', 'gitlab'"),
        ({"allowed_paths": []}, "/allowed_paths: is empty, so there would be nothing to check"),
        ({"required": False, "max": 2}, "/: 'max' is not allowed; allowed: 'required', 'created_by'"),
    ],
)
def test_a_wrong_config_names_the_key_and_what_is_allowed(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config("pull_request", config, {})
    assert str(caught.value).startswith(message)
