"""Parts of the official Azure DevOps client, which carries no types: everything of it is `Any` here.

The client reads the folder of its cache when it is imported, so it is imported late, behind `PortalProcess.git`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.support.portal_process import PortalProcess


def models() -> Any:
    """The client's model classes."""
    return import_module("azure.devops.v7_1.git.models")


def service_error() -> type[Exception]:
    """What the client raises for an error that the service explains."""
    error: type[Exception] = import_module("azure.devops.exceptions").AzureDevOpsServiceError
    return error


def connection(portal: PortalProcess, credentials: Any) -> Any:
    """A connection with credentials of the test's choice."""
    portal.git()
    return import_module("azure.devops.connection").Connection(base_url=portal.api_url, creds=credentials)


def failure(caught: pytest.ExceptionInfo[Any]) -> tuple[str, str]:
    """Key and first word (the TF number) of the service's error."""
    return caught.value.type_key, str(caught.value).partition(":")[0]
