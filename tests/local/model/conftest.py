"""The real portal as a process, its tools over the official MCP client, and the model behind a real HTTP server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.local.model.conversation import Tools
from tests.local.model.serving import KEY, served_model
from tests.support.portal_process import PortalProcess, portal_process


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortalProcess]:
    """Tests share it, so none completes a pull request on it."""
    with portal_process(tmp_path_factory.mktemp("portal") / "data") as running:
        yield running


@pytest.fixture(scope="session")
def tools(portal: PortalProcess) -> Iterator[Tools]:
    """The portal's tools; every call goes over MCP."""
    opened = Tools(portal.mcp_url, portal.portal_token)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """Address of a model server without faults, ending in /v1."""
    with served_model() as url:
        yield url


@pytest.fixture(scope="session")
def client(model_url: str) -> OpenAI:
    """The official client, which does not retry by itself."""
    return OpenAI(base_url=model_url, api_key=KEY, max_retries=0)
