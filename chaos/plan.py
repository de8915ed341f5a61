"""What breaks, where and when: decided by the seed alone, before anything is started."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

ROUND_EPISODES = 10
"""Episodes of one promptfoo run, where there are many."""
FEWEST_EPISODES = 3
"""Fewer would end before anybody is killed."""


class Victim(StrEnum):
    """Who is killed with SIGKILL."""

    NOBODY = "nobody"
    WORKER = "provider worker"
    HOOK = "hook"
    PORTAL = "portal"
    PROMPTFOO = "promptfoo"


@dataclass(frozen=True)
class Kill:
    """`after_s`: seconds after the first creating call of the round was seen."""

    victim: Victim
    after_s: float


@dataclass(frozen=True)
class Round:
    """One promptfoo run. `faults` is the share of requests that go wrong."""

    number: int
    episodes: tuple[int, ...]
    """Numbers of the cases, which decide what is asked."""
    workers: int
    faults: float
    kills: tuple[Kill, ...]


def make_plan(episodes: int, seed: int) -> list[Round]:
    """Rounds with `episodes` episodes in all.

    Every victim has its turn within the first five rounds. Where there are fewer than five, each has several victims.
    """
    chance = random.Random(f"plan {seed}")
    size = min(ROUND_EPISODES, max(FEWEST_EPISODES, episodes // len(Victim)))
    sizes = [min(size, episodes - begun) for begun in range(0, episodes, size)]
    each = -(-len(Victim) // len(sizes))
    deck: list[Victim] = []
    rounds = []
    for number, count in enumerate(sizes, 1):
        if len(deck) < each:
            deck += chance.sample(list(Victim), len(Victim))
        dealt, deck = list(dict.fromkeys(deck[:each])), deck[each:]
        rounds.append(
            Round(
                number=number,
                episodes=tuple(chance.randrange(1000) for _ in range(count)),
                workers=chance.choice((1, 2, 3)),
                faults=chance.choice((0.0, 0.05, 0.1, 0.2)),
                kills=_kills(dealt, chance),
            )
        )
    return rounds


def _kills(victims: list[Victim], chance: random.Random) -> tuple[Kill, ...]:
    """Once or twice each; promptfoo once and last, because the round ends with it."""
    named = sorted((one for one in victims if one is not Victim.NOBODY), key=lambda one: one is Victim.PROMPTFOO)
    times = [1 if one is Victim.PROMPTFOO else chance.randint(1, 2) for one in named]
    return tuple(Kill(one, _moment(chance)) for one, often in zip(named, times, strict=True) for _ in range(often))


def _moment(chance: random.Random) -> float:
    """Often while the creating call is under way, which is the worst moment; else some time after it."""
    return chance.uniform(0.0, 0.05) if chance.random() < 0.5 else chance.uniform(0.05, 3.0)
