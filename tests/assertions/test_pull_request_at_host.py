"""The assertion `pull_request`: what the host says, now or when the episode ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from episodes.record import AtHost
from tests.assertions.conversations import NOT_EVALUATED, PASS, conversation, says
from tests.assertions.pull_requests import OFFLINE, OTHER, URL, creates, judge, pull
from tests.support.portal_process import PortalProcess, portal_process


def recorded(answer: AtHost) -> Any:
    """An episode whose pull request its provider has looked up."""
    proven = replace(pull(), at_host=answer)
    return conversation(creates(), messages=[says("assistant", URL)], pull_requests=[proven])


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortalProcess]:
    with portal_process(tmp_path_factory.mktemp("portal")) as running:
        yield running


@pytest.fixture
def on_host(portal: PortalProcess, monkeypatch: pytest.MonkeyPatch) -> PortalProcess:
    for name, value in portal.environment().items():
        monkeypatch.setenv(name, value)
    return portal


def at(portal: PortalProcess, number: str) -> Any:
    """An episode that created the pull request of this number on the portal."""
    url = f"{portal.api_url}/platform/_git/spokes/pullrequest/{number}"
    return url, conversation(
        creates({"url": url}), messages=[says("assistant", f"Done: {url}.")], pull_requests=[pull(url)]
    )


def test_the_host_confirms_state_branches_title_and_paths(on_host: PortalProcess) -> None:
    number = on_host.open_pull("agent/confirmed", path="spokes/spoke-new.json", title="Add spoke-new")
    url, evidence = at(on_host, number)
    config = {
        "target_branch": "main",
        "source_branch": "agent/*",
        "title": "Add *",
        "allowed_paths": ["spokes/*.json"],
    }
    result = judge(evidence, config)
    assert result.verdict is PASS, result.reason
    assert result.reason == (
        f"{url}: created by create in turn 1, its URL stands in the answer, it exists at its host, it is open, "
        "its target branch is right, its source branch is right, its title is right, it changes allowed paths only"
    )


def test_the_host_is_believed_and_not_the_tool(on_host: PortalProcess) -> None:
    url, evidence = at(on_host, on_host.open_pull("agent/elsewhere", path="hub/firewall.json"))
    assert judge(evidence, {"allowed_paths": "spokes/**"}).reason == (
        f"pull_request.allowed_paths: {url} changes hub/firewall.json; allowed: spokes/** (says its host)"
    )
    assert judge(evidence, {"target_branch": "release"}).reason == (
        f"pull_request.target_branch: {url} has the target branch 'main'; expected 'release' (says its host)"
    )


def test_a_pull_request_that_does_not_exist_fails(on_host: PortalProcess) -> None:
    url, evidence = at(on_host, "99999")
    assert judge(evidence, {}).reason == f"pull_request.exists: {url} does not exist at its host"


def test_a_pull_request_that_is_no_longer_open_fails_unless_the_case_says_otherwise(on_host: PortalProcess) -> None:
    number = on_host.open_pull("agent/merged", path="notes/merged.md")
    on_host.complete(number)
    url, evidence = at(on_host, number)
    assert judge(evidence, {}).reason == f"pull_request.open: {url} is completed, not open (says its host)"
    assert judge(evidence, {"open": False}).verdict is PASS


@pytest.mark.parametrize(
    ("api", "problem"),
    [
        ("{api}-other", "is not on this run's pull-request host"),
        ("http://127.0.0.1:9/landing-zones", "is not on this run's pull-request host 127.0.0.1:9"),
    ],
)
def test_another_organisation_or_host_is_not_asked(
    on_host: PortalProcess, monkeypatch: pytest.MonkeyPatch, api: str, problem: str
) -> None:
    url, evidence = at(on_host, "1")
    monkeypatch.setenv("EVALS_PULL_REQUEST_API", api.format(api=on_host.api_url))
    result = judge(evidence, {})
    expected = (
        f"NOT EVALUATED: pull_request.exists: the pull-request host could not be asked: look up {url}: it {problem}"
    )
    assert result.reason.startswith(expected)


def test_a_host_that_refuses_the_token_is_not_evaluated_and_the_token_is_not_shown(
    on_host: PortalProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, evidence = at(on_host, "1")
    monkeypatch.setenv("EVALS_PULL_REQUEST_TOKEN", "wrong-token-of-the-test")
    result = judge(evidence, {})
    assert result.verdict is NOT_EVALUATED
    assert result.reason.startswith(
        "NOT EVALUATED: pull_request.exists: the pull-request host could not be asked: GET "
    )
    assert "401" in result.reason
    assert "wrong-token" not in result.reason


def test_what_the_host_said_when_the_episode_ended_is_believed_and_nobody_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVALS_PULL_REQUEST_API", "http://127.0.0.1:9/landing-zones")
    answer = AtHost(True, "2026-01-01T00:00:00+00:00", "active", "Copy", "agent/spoke-a", "main", ("spokes/a.json",))
    assert judge(recorded(answer), {"target_branch": "main", "allowed_paths": ["spokes/*.json"]}).verdict is PASS
    result = judge(recorded(answer), {"target_branch": "release"})
    assert result.reason.endswith("has the target branch 'main'; expected 'release' (says its host)")
    result = judge(recorded(replace(answer, status="completed")), {})
    assert result.reason.endswith("is completed, not open (says its host)")
    result = judge(recorded(AtHost(exists=False, asked_at="2026-01-01T00:00:00+00:00")), {})
    assert result.reason.endswith("does not exist at its host")


ANSWER = AtHost(True, "2026-01-01T00:00:00+00:00", "active", "Copy", "agent/spoke-a", "main", ("spokes/a.json",))


def test_without_looking_up_the_hosts_recorded_answer_tells_what_the_tools_result_does_not() -> None:
    config = OFFLINE | {"target_branch": "main", "source_branch": "agent/*", "allowed_paths": ["spokes/*.json"]}
    silent = creates({"url": URL})
    untold = conversation(silent, messages=[says("assistant", URL)], pull_requests=[pull()])
    assert judge(untold, config).reason == (
        f"NOT EVALUATED: pull_request.open: {URL}: the creating tool does not tell the status (and 3 more of 6)"
    )
    told = conversation(silent, messages=[says("assistant", URL)], pull_requests=[replace(pull(), at_host=ANSWER)])
    result = judge(told, config)
    assert (result.verdict, result.reason) == (
        PASS,
        f"{URL}: created by create in turn 1, its URL stands in the answer, it exists at its host, it is open, its "
        "target branch is right, its source branch is right, it changes allowed paths only",
    )


def test_without_looking_up_the_hosts_recorded_answer_counts_more_than_what_the_tool_said() -> None:
    assert judge(recorded(ANSWER)).verdict is PASS
    result = judge(recorded(replace(ANSWER, status="abandoned")))
    assert result.reason == f"pull_request.open: {URL} is abandoned, not open (says its host)"
    result = judge(recorded(AtHost(exists=False, asked_at="2026-01-01T00:00:00+00:00")))
    assert result.reason == f"pull_request.exists: {URL} does not exist at its host"


def test_the_hosts_recorded_answer_is_found_for_a_pull_request_that_a_named_tool_proves() -> None:
    result = judge(recorded(replace(ANSWER, status="completed")), OFFLINE | {"created_by": "create"})
    assert result.reason == f"pull_request.open: {URL} is completed, not open (says its host)"


def test_without_looking_up_only_the_pull_requests_without_a_recorded_answer_are_judged_by_their_tool() -> None:
    messages = [says("assistant", f"{URL} {OTHER}")]
    other = creates({"url": OTHER, "status": "active", "targetBranch": "release"})
    pulls = [replace(pull(), at_host=ANSWER), pull(OTHER)]
    evidence = conversation(creates(), other, messages=messages, pull_requests=pulls)
    result = judge(evidence, OFFLINE | {"max": 2, "target_branch": "main"})
    assert result.reason == (
        f"pull_request.target_branch: {OTHER} has the target branch 'release'; expected 'main' (says the creating tool)"
    )
