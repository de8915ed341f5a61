"""One running portal for all tests of this folder that speak HTTP, and one without HTTP for each that asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.portal.data_folder import DataFolder
from local.portal.state import PortalState
from tests.support.portal_process import PortalProcess, portal_process


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortalProcess]:
    """A portal in its own process. Tests share it, so none completes a pull request on it."""
    with portal_process(tmp_path_factory.mktemp("portal") / "data") as running:
        yield running


@pytest.fixture
def state(tmp_path: Path) -> Iterator[PortalState]:
    """An open, freshly seeded data folder."""
    opened, _ = PortalState.open(DataFolder.open(tmp_path / "data"), "http://127.0.0.1:1")
    yield opened
    opened.close()
