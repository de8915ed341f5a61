"""The episodes that bulk grading is compared on, and the verdicts on them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from bench import bulk
from bench.bulk_episodes import HARMLESS, WRONG, generate
from bench.bulk_ours import answer, episode_of, lines
from episodes.record import Episode


def test_the_same_seed_gives_the_same_episodes_and_another_gives_others() -> None:
    assert generate(50, seed=1) == generate(50, seed=1)
    assert generate(50, seed=1) != generate(50, seed=2)
    assert generate(50)[1] == generate(80)[1][:50]


def test_a_third_of_the_episodes_is_wrong_in_every_known_way() -> None:
    cases, episodes = generate(1500)
    changes = Counter(one["change"] for one in episodes)
    assert set(changes) == {*HARMLESS, *WRONG}
    assert 0.28 < sum(changes[change] for change in WRONG) / 1500 < 0.39
    assert {len(calls) for calls in cases} <= set(range(4, 9))


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_episode_differs_from_its_case(change: str) -> None:
    cases, episodes = generate(400)
    written = [json.dumps(calls, sort_keys=True) for calls in cases]
    own = [one for one in episodes if one["change"] == change]
    assert own
    assert all(json.dumps(one["calls"], sort_keys=True) != written[one["case"]] for one in own)


def test_every_verdict_of_ours_is_what_was_done_to_the_episode() -> None:
    cases, episodes = generate(400)
    for task, answered in answer({"cases": cases, "episodes": episodes}).items():
        expected = [bulk.is_right(one["change"], task) for one in episodes]
        assert answered["passed"] == expected, task


def test_the_lines_of_the_file_are_the_same_records() -> None:
    _, episodes = generate(5)
    read = [Episode.from_metadata(json.loads(line)) for line in lines(episodes)]
    assert [one.tool_calls for one in read] == [episode_of(one).tool_calls for one in episodes]


def test_a_verdict_that_nobody_can_explain_is_a_figure_that_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = [{"change": "none"}, {"change": "true written as 1"}]
    ours = {"exact": {"passed": [True, False]}}
    peers = {peer: {"exact": {"passed": [True, True]}} for peer in bulk.PEERS}
    peers["deepeval"] = {"exact": {"passed": [False, True]}}
    figures = list(bulk._compared(recorded, {"ours": ours, **peers}))
    assert [(figure.value, figure.holds) for figure in figures] == [(0, True), (0, True), (1, False), (0, True)]
    assert "deepeval differs on 1 x none: NOT EXPLAINED" in capsys.readouterr().out
