"""No expected value may reach a model before the agent itself has come to it: a leaked answer proves nothing.

Every case runs as it does under promptfoo, which hands the whole test, assertions included, to the provider. All that
goes to the models and to the portal, and all that comes back, is kept in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from endpoints import Endpoints, resolve
from endpoints.settings import CHECKOUT
from formats.load_suite import tests as load_tests
from providers import production_agent, simulated_user
from tests.support.recording_proxy import Traffic, recording_proxy

CREATE = load_tests({"file": "suites/spoke-create/cases.yaml", "provider": "spoke-create"})
QA = load_tests({"file": "suites/spoke-qa/cases.yaml", "provider": "spoke-qa"})
SHORTEST = 5
"""Shorter expected values ("main", "high") stand in too many texts to tell anything."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALS_HOME", str(tmp_path_factory.mktemp("home")))
        yield resolve()


@pytest.fixture
def traffic(stack: Endpoints, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traffic]:
    """The run's services, each behind a proxy that keeps what passes."""
    traffic = Traffic()
    with ExitStack() as proxies:
        model = proxies.enter_context(recording_proxy("model", stack.model.base_url, traffic))
        portal = proxies.enter_context(recording_proxy("portal", stack.portal.web_url, traffic))
        host = stack.pull_request_host
        for name, value in {
            "EVALS_MODEL_BASE_URL": model,
            "EVALS_MODEL_API_KEY": stack.model.api_key or "",
            "EVALS_PORTAL_URL": portal,
            "EVALS_PORTAL_TOKEN": stack.portal.token,
            "EVALS_PULL_REQUEST_API": host.api_url,
            "EVALS_PULL_REQUEST_TOKEN": host.token,
            "EVALS_REPOSITORIES": ",".join(host.repositories),
            "EVALS_CASSETTES": "off",
        }.items():
            monkeypatch.setenv(name, value)
        yield traffic


def run(test: dict[str, Any], provider: Any) -> dict[str, Any]:
    """Call the provider as promptfoo does: with the whole test in its context."""
    case = test["metadata"]["id"]
    context = {
        "vars": test["vars"] | {"__evalId": f"leak-{case}", "__evalStepId": "test-0-prompt-0-repeat-0"},
        "test": test,
        "prompt": {"raw": test["vars"]["request"]},
    }
    options = {"config": {"agent": "spoke", "basePath": str(CHECKOUT / "suites" / test["metadata"]["suite"])}}
    result: dict[str, Any] = provider.call_api(test["vars"]["request"], options, context)
    return result


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


def known_before(test: dict[str, Any]) -> str:
    """All that may be known without a leak: the developer's side, the agent's files, the portal's data."""
    folders = [CHECKOUT / "agent_config", CHECKOUT / "local" / "portal" / "data"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return json.dumps(test["vars"]) + "".join(path.read_text(encoding="utf-8") for path in files)


def expected_values(test: dict[str, Any]) -> set[str]:
    """Values in the assertions that nobody could know: no places (JSON Pointers), patterns or tool names.

    What the host has to say about the pull request is left out: the portal names it when the agent has made it.
    """
    known = known_before(test)
    configs = [{**check["config"], "pull_request": None} for check in test["assert"]]
    values = set(texts_in(configs))
    return {text for text in values if len(text) >= SHORTEST and text[0] not in "/^" and text not in known}


@pytest.mark.parametrize("test", [*CREATE, *QA], ids=lambda test: test["metadata"]["id"])
def test_an_expected_value_is_first_seen_in_a_models_own_answer(test: dict[str, Any], traffic: Traffic) -> None:
    result = run(test, simulated_user if test in CREATE else production_agent)
    assert "error" not in result
    assert any(passed.service == "model" for passed in traffic.passed)
    for value in expected_values(test):
        first = traffic.first_with(value)
        assert first is None or (first.service == "model" and not first.to_service), value


def test_no_word_of_an_assertion_is_sent_anywhere(traffic: Traffic) -> None:
    canary = "canary-5f3a"
    test = json.loads(json.dumps(CREATE[0]))
    test["assert"] = [{"type": "python", "value": f"file://{canary}.py", "config": {canary: [canary]}}]
    test["metadata"] |= {"note": canary}
    result = run(test, simulated_user)
    assert result["metadata"]["stopReason"] == "user_stop"
    assert traffic.first_with(canary) is None


def test_a_value_that_leaks_through_the_vars_is_first_seen_on_its_way_to_a_model(traffic: Traffic) -> None:
    derived = "10.64.26.64/26"
    test = json.loads(json.dumps(CREATE[0]))
    assert derived in expected_values(test)
    test["vars"]["request"] += f" Its second segment is {derived}."
    run(test, simulated_user)
    first = traffic.first_with(derived)
    assert first is not None
    assert first.to_service


def test_every_case_file_is_looked_at() -> None:
    files = {path.parent.name for path in Path(CHECKOUT / "suites").glob("*/cases.yaml")}
    assert {test["metadata"]["suite"] for test in [*CREATE, *QA]} == files
    assert (len(CREATE), len(QA)) == (22, 4)
