"""The plan of a chaos run depends on the seed alone, and leaves nobody out."""

from __future__ import annotations

import pytest

from chaos.plan import Victim, make_plan


def test_the_same_seed_makes_the_same_plan() -> None:
    assert make_plan(60, 3) == make_plan(60, 3)
    assert make_plan(60, 3) != make_plan(60, 4)


@pytest.mark.parametrize("episodes", [1, 4, 5, 17, 60, 200])
def test_every_episode_is_in_exactly_one_round(episodes: int) -> None:
    rounds = make_plan(episodes, 1)
    assert sum(len(one.episodes) for one in rounds) == episodes
    assert [one.number for one in rounds] == list(range(1, len(rounds) + 1))


@pytest.mark.parametrize("seed", range(20))
def test_everybody_is_killed_within_five_rounds(seed: int) -> None:
    rounds = make_plan(200, seed)[:5]
    killed = {kill.victim for one in rounds for kill in one.kills}
    assert killed == set(Victim) - {Victim.NOBODY}


@pytest.mark.parametrize("episodes", [3, 6, 9, 12, 15])
@pytest.mark.parametrize("seed", range(5))
def test_a_short_run_kills_everybody_too(episodes: int, seed: int) -> None:
    rounds = make_plan(episodes, seed)
    assert {kill.victim for one in rounds for kill in one.kills} == set(Victim) - {Victim.NOBODY}
    for one in rounds:
        victims = [kill.victim for kill in one.kills]
        assert Victim.PROMPTFOO not in victims[:-1]
