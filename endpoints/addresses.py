"""The addresses and credentials of one run, read from the environment or handed over by the local stack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from endpoints import local_stack, redaction
from endpoints.settings import SettingsError, home, problems, value
from endpoints.sign_in import fresh_token, needed

DEFAULT_AZURE_API_VERSION = "2024-10-21"


@dataclass(frozen=True)
class Portal:
    """The portal under test. `mcp_url` is its MCP endpoint, `web_url` what a person opens."""

    mcp_url: str
    web_url: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class ModelEndpoint:
    """A model service. `api_version` is used by Azure only; `api_key` None means Entra ID (Azure) or no key."""

    kind: Literal["compatible", "openai", "azure"]
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None


@dataclass(frozen=True)
class PullRequestHost:
    """Where pull requests live. `repositories` is the allow-list: nothing outside it is ever changed."""

    kind: Literal["azure_devops", "github"]
    api_url: str
    repositories: tuple[str, ...]
    token: str = field(repr=False)
    label: str = ""
    """How the ledger names this host: `local`, or its address."""


@dataclass(frozen=True)
class Endpoints:
    portal: Portal
    model: ModelEndpoint
    pull_request_host: PullRequestHost
    home: Path

    @property
    def local(self) -> bool:
        """True when the portal is the local stand-in."""
        return self.pull_request_host.label == local_stack.LABEL


def resolve(environment: Mapping[str, str] | None = None, *, lease: int | None = None) -> Endpoints:
    """Find the endpoints of this run; start the local stack, or join it, for what the environment does not name.

    The stack lives as long as one of the processes that lease it: the caller, and `lease` when that is given
    (a provider worker leases promptfoo's process, so that the stack outlives a worker that crashes).

    Raises:
        SettingsError: a variable is missing or unusable, or a sign-in is needed that nobody made or that has ended.
        local_stack.StackError: the local stack did not start; the text holds the end of its log.
    """
    names = os.environ if environment is None else environment
    found = problems(names)
    if found:
        raise SettingsError(" ".join(found))
    folder = home(names)
    portal = _portal(names)
    model = _model(names)
    host = _pull_request_host(names)
    if portal is not None and model is not None and host is not None:
        return Endpoints(portal, model, host, folder)
    stack = _joined(folder, [pid for pid in (os.getpid(), lease) if pid is not None])
    return Endpoints(
        portal or Portal(stack.mcp_url, stack.portal_url, stack.portal_token),
        model or ModelEndpoint("compatible", stack.model_url, stack.model_key),
        host or _local_host(stack),
        folder,
    )


def resolve_model(environment: Mapping[str, str] | None = None) -> ModelEndpoint:
    """Find only the model service; the local stack is joined, or started, when the environment does not say.

    A judge needs no portal and no pull-request host.

    Raises:
        local_stack.StackError: the local stack did not start.
    """
    names = os.environ if environment is None else environment
    model = _model(names)
    if model is not None:
        return model
    stack = local_stack.join(home(names), [os.getpid()])
    return ModelEndpoint("compatible", stack.model_url, stack.model_key)


def resolve_pull_request_host(environment: Mapping[str, str] | None = None) -> PullRequestHost:
    """Find only where pull requests live; the local stack is joined, or started, when the environment does not say.

    A cleanup needs no model and no portal, so what is wrong with their variables does not keep it from its work.

    Raises:
        local_stack.StackError: the local stack did not start.
    """
    names = os.environ if environment is None else environment
    return _pull_request_host(names) or _local_host(_joined(home(names), [os.getpid()]))


def _joined(folder: Path, leases: list[int]) -> local_stack.Stack:
    stack = local_stack.join(folder, leases)
    for secret in (stack.portal_token, stack.model_key, stack.pull_request_token):
        redaction.remember(secret)
    return stack


def _portal(names: Mapping[str, str]) -> Portal | None:
    url = _address(names, "EVALS_PORTAL_URL")
    if url is None:
        return None
    token = fresh_token("portal", names) or value("EVALS_PORTAL_TOKEN", names)
    if not token and "portal" in needed(names):
        raise SettingsError(
            "Nobody is signed in to the portal: start with `npm run eval`, which signs in and hands the token to the "
            "run, or set EVALS_PORTAL_TOKEN."
        )
    return Portal(f"{url}/mcp", url, token or "")


def _model(names: Mapping[str, str]) -> ModelEndpoint | None:
    compatible = _address(names, "EVALS_MODEL_BASE_URL")
    if compatible:
        kind: Literal["openai", "compatible"] = "openai" if "://api.openai.com" in compatible else "compatible"
        return ModelEndpoint(kind, compatible, value("EVALS_MODEL_API_KEY", names))
    azure = _address(names, "AZURE_OPENAI_ENDPOINT")
    if azure:
        version = value("AZURE_OPENAI_API_VERSION", names) or DEFAULT_AZURE_API_VERSION
        return ModelEndpoint("azure", azure, value("AZURE_OPENAI_API_KEY", names), version)
    return None


def _pull_request_host(names: Mapping[str, str]) -> PullRequestHost | None:
    url = _address(names, "EVALS_PULL_REQUEST_API")
    if url is None:
        return None
    repositories = tuple(name.strip() for name in (value("EVALS_REPOSITORIES", names) or "").split(",") if name.strip())
    kind: Literal["github", "azure_devops"] = "github" if "github" in url or url.endswith("/api/v3") else "azure_devops"
    return PullRequestHost(kind, url, repositories, value("EVALS_PULL_REQUEST_TOKEN", names) or "", url)


def _local_host(stack: local_stack.Stack) -> PullRequestHost:
    return PullRequestHost(
        "azure_devops", stack.pull_request_api, stack.repositories, stack.pull_request_token, local_stack.LABEL
    )


def _address(names: Mapping[str, str], name: str) -> str | None:
    url = value(name, names)
    return url.rstrip("/") if url else None
