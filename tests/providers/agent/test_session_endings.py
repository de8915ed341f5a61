"""A session that breaks while it is opened: whoever waits is told why, and nothing is left that nobody asks for."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

from providers.agent.mcp_session import McpSession
from providers.agent.server_settings import ServerAddress


def test_a_session_that_broke_while_it_was_opened_leaves_no_exception_unasked_for() -> None:
    complaints: list[dict[str, Any]] = []

    async def open_and_forget() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        session = McpSession(ServerAddress("broken", 5.0, command="/nowhere/at-all"))
        await asyncio.wait({session.owner})
        await session.close()
        del session
        gc.collect()

    asyncio.run(open_and_forget())
    gc.collect()
    assert [context["message"] for context in complaints] == []
