"""What breaks, where and when: decided by the seed alone, before anything is started."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

ROUND_EPISODES = 10
"""Episodes of one promptfoo run."""


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
    """Rounds with `episodes` episodes in all. Every victim has its turn within the first five rounds.

    Few episodes make smaller rounds, so that there are at least five of them where possible.
    """
    chance = random.Random(f"plan {seed}")
    size = max(1, min(ROUND_EPISODES, episodes // 5))
    victims = list(Victim)
    rounds: list[Round] = []
    begun = 0
    while begun < episodes:
        if len(rounds) % len(victims) == 0:
            chance.shuffle(victims)
        victim = victims[len(rounds) % len(victims)]
        times = 1 if victim is Victim.PROMPTFOO else chance.randint(1, 2)
        kills = [Kill(victim, _moment(chance)) for _ in range(times)] if victim is not Victim.NOBODY else []
        count = min(size, episodes - begun)
        rounds.append(
            Round(
                number=len(rounds) + 1,
                episodes=tuple(chance.randrange(1000) for _ in range(count)),
                workers=chance.choice((1, 2, 3)),
                faults=chance.choice((0.0, 0.05, 0.1, 0.2)),
                kills=tuple(kills),
            )
        )
        begun += count
    return rounds


def _moment(chance: random.Random) -> float:
    """Often while the creating call is under way, which is the worst moment; else some time after it."""
    return chance.uniform(0.0, 0.05) if chance.random() < 0.5 else chance.uniform(0.05, 3.0)
