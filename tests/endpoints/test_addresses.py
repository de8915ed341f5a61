"""A run must reach exactly what its environment names, and say in a sentence what it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from endpoints import SettingsError, resolve

REMOTE = {
    "EVALS_PORTAL_URL": "https://portal.example.com/",
    "EVALS_PORTAL_TOKEN": "portal-secret",
    "AZURE_OPENAI_ENDPOINT": "https://models.example.com",
    "AZURE_OPENAI_API_KEY": "model-secret",
    "EVALS_PULL_REQUEST_API": "https://dev.example.com/landing-zones",
    "EVALS_PULL_REQUEST_TOKEN": "host-secret",
    "EVALS_REPOSITORIES": "platform/spokes, platform/test",
}


def test_a_fully_configured_run_never_starts_the_local_stack(tmp_path: Path) -> None:
    endpoints = resolve(REMOTE | {"EVALS_HOME": str(tmp_path)})
    assert endpoints.portal.mcp_url == "https://portal.example.com/mcp"
    assert (endpoints.model.kind, endpoints.model.api_version) == ("azure", "2024-10-21")
    assert endpoints.pull_request_host.repositories == ("platform/spokes", "platform/test")
    assert not endpoints.local
    assert list(tmp_path.iterdir()) == []


def test_no_credential_shows_when_the_endpoints_are_printed(tmp_path: Path) -> None:
    assert "secret" not in repr(resolve(REMOTE | {"EVALS_HOME": str(tmp_path)}))


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://api.github.com", "github"),
        ("https://git.example.com/api/v3", "github"),
        ("https://dev.azure.com/org", "azure_devops"),
    ],
)
def test_the_kind_of_pull_request_host_is_read_from_its_address(address: str, kind: str, tmp_path: Path) -> None:
    environment = REMOTE | {"EVALS_PULL_REQUEST_API": address, "EVALS_HOME": str(tmp_path)}
    assert resolve(environment).pull_request_host.kind == kind


@pytest.mark.parametrize(
    "missing", ["EVALS_PORTAL_TOKEN", "AZURE_OPENAI_API_KEY", "EVALS_PULL_REQUEST_TOKEN", "EVALS_REPOSITORIES"]
)
def test_a_missing_variable_is_named_and_nothing_starts(missing: str, tmp_path: Path) -> None:
    environment = {name: text for name, text in REMOTE.items() if name != missing}
    with pytest.raises(SettingsError, match=f"{missing} is not set"):
        resolve(environment | {"EVALS_HOME": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_two_model_services_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="both set"):
        resolve(REMOTE | {"EVALS_MODEL_BASE_URL": "http://127.0.0.1:1/v1", "EVALS_HOME": str(tmp_path)})


def test_a_bare_openai_key_does_not_switch_the_model(tmp_path: Path) -> None:
    environment = {name: text for name, text in REMOTE.items() if not name.startswith("AZURE_")}
    environment |= {"OPENAI_API_KEY": "sk-secret", "EVALS_HOME": str(tmp_path)}
    environment["EVALS_MODEL_BASE_URL"] = "http://127.0.0.1:9/v1"
    endpoints = resolve(environment)
    assert endpoints.model.api_key is None
    assert endpoints.model.kind == "compatible"
