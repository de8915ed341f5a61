from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.tool_process import ToolProcess, tool_process


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolProcess]:
    """A server for the tests of one module; a test that kills its server starts one of its own."""
    with tool_process(tmp_path_factory.mktemp("tools")) as running:
        yield running
