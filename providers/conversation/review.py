"""How well did the simulated user play? A second look at a finished record, with room for doubts.

A live check throws a reply away only when it is clearly wrong. Here the softer faults are named too: facts that nobody
asked for, values that it made up, drafts that had to be thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from episodes.record import Episode, StopReason
from providers.conversation.script import Script
from providers.conversation.simulated_user import DRAFT_WARNING
from providers.conversation.simulator_checks import Moment, asks_something, find_defect, told_facts
from providers.conversation.stop_signal import SplitReply

# Addresses, codes and names of spokes: what a developer must know and cannot make up.
_VALUE = re.compile(r"\d+\.\d+\.\d+\.\d+(?:/\d+)?|\b[A-Z]{2,}-\d+\b|[\w.+-]+@[\w-]+\.\w+|\bspoke(?:-\w+)+\b")


class Grade(StrEnum):
    GOOD = "good"
    DOUBTFUL = "doubtful"
    FAULTY = "faulty"


@dataclass(frozen=True)
class Finding:
    """One fault: its name, the turn, what was said, and whether it makes the conversation unusable as evidence."""

    name: str
    turn: int
    text: str
    serious: bool


@dataclass(frozen=True)
class Review:
    """One simulated user in one conversation. `messages` counts those that its model wrote."""

    grade: Grade
    messages: int
    thrown_away: int
    facts_told: tuple[str, ...]
    findings: tuple[Finding, ...]


def review(episode: Episode, script: Script) -> Review:
    """Grade the simulated user: `faulty` for a serious fault, `doubtful` for any other or for a thrown-away draft."""
    findings: list[Finding] = []
    said: list[str] = []
    heard: list[str] = []
    told: list[str] = []
    written = 0
    for message in episode.messages:
        text = message.get("content")
        if not isinstance(text, str) or not text.strip():
            continue
        if message.get("role") == "assistant":
            heard.append(text)
        elif message.get("role") == "user":
            if _by_model(message, said):
                written += 1
                moment = Moment(script, tuple(said), tuple(heard))
                findings += _look_at(text, int(message.get("turn", 0)), moment, told)
            told += [topic for topic in told_facts(text, script) if topic not in told]
            said.append(text)
    if episode.stop_reason is StopReason.SIMULATOR_DEFECT:
        findings.append(Finding("simulator_defect", episode_turns(episode), "gave no usable message", serious=True))
    thrown_away = sum(line.startswith(DRAFT_WARNING) for line in episode.warnings)
    return Review(_grade(findings, thrown_away), written, thrown_away, tuple(told), tuple(findings))


def episode_turns(episode: Episode) -> int:
    """How many messages the user sent."""
    return sum(message.get("role") == "user" for message in episode.messages)


def _look_at(text: str, turn: int, moment: Moment, told: list[str]) -> list[Finding]:
    found: list[Finding] = []
    defect = find_defect(SplitReply(text, stop=False), moment)
    if defect:
        found.append(Finding(defect.kind, turn, defect.remark, serious=True))
    unasked = [topic for topic in told_facts(text, moment.script) if topic not in told]
    if unasked and moment.heard and not asks_something(moment.last_heard):
        found.append(Finding("told_unasked", turn, f"told {', '.join(unasked)}, and nobody had asked", serious=False))
    invented = [value for value in _VALUE.findall(text) if value not in _known(moment)]
    if invented:
        found.append(Finding("invented", turn, f"said {', '.join(invented)}, which it was never given", serious=True))
    return found


def _known(moment: Moment) -> str:
    script = moment.script
    own = [
        script.goal,
        script.opening,
        script.persona.in_words(),
        *(value for pair in script.known() for value in pair),
    ]
    return "\n".join([*own, *moment.said, *moment.heard])


def _by_model(message: Mapping[str, Any], said: list[str]) -> bool:
    """A record from before messages named their source has only its first one from the case."""
    source = message.get("source")
    return source == "model" if source else bool(said)


def _grade(findings: list[Finding], thrown_away: int) -> Grade:
    if any(finding.serious for finding in findings):
        return Grade.FAULTY
    return Grade.DOUBTFUL if findings or thrown_away else Grade.GOOD
