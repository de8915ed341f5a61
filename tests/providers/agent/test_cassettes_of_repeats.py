"""A cassette holds one episode: of several repeats the first is recorded, and every repeat replays it."""

from __future__ import annotations

from pathlib import Path

import pytest

from episodes.record import CassetteUse
from tests.providers.agent.rig import Result, Rig, make_rig
from tests.support.scripted_model import Say, scripted_model
from tests.support.tool_process import ToolProcess

NOT_RECORDED = "C01.jsonl was not written: it holds one episode, that of the first repeat, and this is repeat 2"


def _run(rig: Rig, repeat: int, mode: str) -> Result:
    names = {"__repeatIndex": repeat, "__evalStepId": f"test-0-prompt-0-repeat-{repeat}"}
    return rig.run("2 + 3?", variables=names, cassette=mode)


@pytest.mark.parametrize("mode", ["all", "once", "new_episodes"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_repeats_the_first_is_recorded_whichever_ends_last(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, order: tuple[int, int]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    tape = tmp_path / "suite" / "cassettes" / "C01.jsonl"
    with scripted_model(*(Say(f"answer {number}") for number in order)) as model:
        rig = make_rig(tmp_path, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}])
        ended = {}
        for repeat in order:
            ended[repeat] = _run(rig, repeat, mode)
        # Where the recording is there already, a later repeat replays it.
        live = mode == "all" or order == (1, 0)
        assert ended[0].output == "answer 0"
        assert ended[0].episode.cassette == CassetteUse(str(tape), "all" if mode != "new_episodes" else "new_episodes")
        assert ended[1].output == ("answer 1" if live else "answer 0")
        assert (NOT_RECORDED in ended[1].episode.warnings, ended[1].episode.cassette is None) == (live, live)
        assert [_run(rig, repeat, "none").output for repeat in (0, 1, 2)] == ["answer 0"] * 3
    assert [file.name for file in tape.parent.iterdir()] == ["C01.jsonl"]
