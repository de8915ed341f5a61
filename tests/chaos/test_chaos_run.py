"""The short form of the chaos run: everybody is killed once, and everything is clean afterwards."""

from __future__ import annotations

from pathlib import Path

from chaos.__main__ import run
from chaos.stage import Stage


def test_nothing_is_left_and_nobody_else_is_touched_after_faults_and_kills(tmp_path: Path) -> None:
    counted = run(episodes=6, seed=14, home=tmp_path)

    assert counted.faults == ()
    assert counted.opened == counted.abandoned > 0
    assert counted.left == counted.branches_left == counted.foreign_touched == 0
    assert counted.foreign == 5


def test_the_count_sees_what_is_left_and_what_was_touched(tmp_path: Path) -> None:
    from chaos.count import count

    stage = Stage(tmp_path)
    stage.start()
    try:
        stage.open_foreign("feature/one", "One", "")
        stage.open_foreign("feature/two", "Two", "")
        forgotten = stage.foreign.pop()
        counted = count(stage, [], sweep_code=3)
        assert counted.faults == (
            f"pull requests left open or merged: {forgotten.number}",
            "branches left: feature/two",
            "the sweep ended with 3",
        )
        stage.foreign.append(forgotten)
        stage.abandon(forgotten.number)
        assert f"somebody else's pull requests touched: {forgotten.number}" in count(stage, [], 0).faults
    finally:
        stage.stop()
