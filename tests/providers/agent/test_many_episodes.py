"""One worker, many episodes: nothing of one is left for the next."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from providers.background_loop import background_loop
from tests.providers.agent.rig import make_rig
from tests.support.scripted_model import Say, scripted_model
from tests.support.tool_process import ToolProcess

EPISODES = 200
MAX_GROWTH_KB = 8_000
"""Growth of the worker over the last 150 episodes that still counts as flat; a leaked session or client costs more."""


def _answer(body: dict[str, Any]) -> Say:
    """Stateless: a tool call first, then what the user said."""
    last = body["messages"][-1]
    return Say(f"you said {body['messages'][1]['content']}") if last["role"] == "tool" else Say(calls=[("ping", {})])


def _measure() -> dict[str, int]:
    async def tasks() -> int:
        await asyncio.sleep(0.1)
        return len(asyncio.all_tasks()) - 1

    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "tasks": background_loop().run(tasks, seconds=10, grace=1),
        "threads": sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate()),
        "pool": sum(thread.name.startswith("asyncio_") for thread in threading.enumerate()),
        "files": sum(1 for _ in Path("/proc/self/fd").iterdir()),
        "kilobytes": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


def _repeat(action: Callable[[int], None], start: int, end: int) -> None:
    for number in range(start, end):
        action(number)


def test_two_hundred_episodes_leave_no_history_task_file_or_memory_behind(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted_model(*[_answer] * (2 * EPISODES)) as model:
        rig = make_rig(tmp_path, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}])

        def episode(number: int) -> None:
            result = rig.run(f"hello {number}")
            assert result.error == ""
            assert result.output == f"you said hello {number}"
            assert [message["turn"] for message in result.episode.messages] == [1, 1, 1, 1]
            # What the test's own service keeps must not count as the worker's memory.
            model.asked.clear()

        _repeat(episode, 0, 50)
        before = _measure()
        _repeat(episode, 50, EPISODES)
        after = _measure()
    assert after["tasks"] == 0
    assert after["threads"] <= before["threads"]
    # The loop's own pool takes a thread more whenever none is idle at that moment, up to its bound.
    assert after["pool"] <= min(32, (os.cpu_count() or 1) + 4)
    assert after["files"] <= before["files"]
    assert after["kilobytes"] - before["kilobytes"] < MAX_GROWTH_KB
