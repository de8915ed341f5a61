"""Is this reply something the developer would have typed? Checks that run before a reply reaches the agent.

A reply with a defect is thrown away whole, never mended: an edited reply is a different task. Up to 30 percent of the
failed conversations in published benchmarks were the simulated user's fault, so these faults must not count against the
agent.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from providers.conversation import simulator_phrases as phrases
from providers.conversation.script import Script
from providers.conversation.stop_signal import SplitReply
from providers.conversation.user_prompt import ROLE

LONGEST_REPLY = 2_000
"""Characters. A developer in a chat writes less; a model that does not stop writes more."""

SCRIPT_WORDS = 8
"""So many words of the instructions in a row are a quotation. The goal is no secret: a developer may say it again."""


class DefectKind(StrEnum):
    EMPTY = "empty"
    ENDLESS = "endless"
    ROLE_INVERSION = "role_inversion"
    META_TALK = "meta_talk"
    REPEATS_ITSELF = "repeats_itself"
    REVEALS_SCRIPT = "reveals_script"
    SAYS_FORBIDDEN = "says_forbidden"
    STOPS_EARLY = "stops_early"


@dataclass(frozen=True)
class Defect:
    """What is wrong with a reply: its kind, and a sentence that the model and a reader of the record understand."""

    kind: DefectKind
    remark: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.remark}"


@dataclass(frozen=True)
class Moment:
    """The conversation as it stands when a reply is looked at.

    `said` are the developer's earlier messages and `heard` the agent's, oldest first. `agent_acted` is true once a
    tool result proves that the agent created something. `must_speak` is true while the current goal has not been spoken
    of. `cut` is true when the model ran into its length limit.
    """

    script: Script
    said: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()
    agent_acted: bool = False
    must_speak: bool = False
    cut: bool = False

    @property
    def last_heard(self) -> str:
        return self.heard[-1] if self.heard else ""


def find_defect(reply: SplitReply, moment: Moment) -> Defect | None:
    """The first defect of `reply`, or None when it can be sent."""
    if not reply.text:
        return _stops_early(moment) if reply.stop else _defect(DefectKind.EMPTY, "The reply says nothing.")
    checks = (_endless, _meta_talk, _reveals_script, _role_inversion, _says_forbidden, _repeats_itself)
    return next((found for check in checks if (found := check(reply.text, moment))), None)


def normalised(text: str) -> str:
    """Lower-case words only, so that spacing, case and punctuation do not hide a repetition."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def told_facts(text: str, script: Script) -> tuple[str, ...]:
    """The topics whose value stands in `text` word for word (values of one or two characters are not looked for)."""
    within = f" {normalised(text)} "
    return tuple(
        topic
        for topic, value in script.facts
        if len(value) > 2 and (words := normalised(value)) and f" {words} " in within
    )


def asks_something(text: str) -> bool:
    """Whether the agent's message wants an answer. In doubt yes: a reply is only blamed when it is not."""
    return phrases.ASKS_SOMETHING.search(text) is not None


def _endless(text: str, moment: Moment) -> Defect | None:
    if moment.cut or len(text) > LONGEST_REPLY:
        return _defect(DefectKind.ENDLESS, f"It does not come to an end; at most {LONGEST_REPLY} characters.")
    words = text.casefold().split()
    triples = Counter(zip(words, words[1:], words[2:], strict=False))
    if len(words) >= 30 and triples and max(triples.values()) > len(words) / 8:
        return _defect(DefectKind.ENDLESS, "It repeats the same words over and over.")
    return None


def _meta_talk(text: str, _: Moment) -> Defect | None:
    return _phrase(DefectKind.META_TALK, phrases.TALKS_ABOUT_THE_TASK, text, "talks about the task instead of doing it")


def _role_inversion(text: str, moment: Moment) -> Defect | None:
    found = _phrase(DefectKind.ROLE_INVERSION, phrases.SPEAKS_AS_AGENT, text, "speaks as the agent")
    if found:
        return found
    mine, theirs = normalised(text), normalised(moment.last_heard)
    if len(mine.split()) >= 8 and SequenceMatcher(None, mine, theirs, autojunk=False).ratio() > 0.9:
        return _defect(DefectKind.ROLE_INVERSION, "It says the agent's own last message again.")
    return None


def _reveals_script(text: str, moment: Moment) -> Defect | None:
    found = _phrase(DefectKind.REVEALS_SCRIPT, phrases.QUOTES_ITS_SCRIPT, text, "quotes its own instructions")
    if found:
        return found
    instructions, words = normalised(ROLE).split(), f" {normalised(text)} "
    for start in range(len(instructions) - SCRIPT_WORDS + 1):
        piece = " ".join(instructions[start : start + SCRIPT_WORDS])
        if f" {piece} " in words:
            return _defect(DefectKind.REVEALS_SCRIPT, f'It quotes its own instructions: "{piece}".')
    told = set(told_facts(text, moment.script)) - {
        topic for earlier in (*moment.said, *moment.heard) for topic in told_facts(earlier, moment.script)
    }
    if len(told) >= 2 and moment.heard and not asks_something(moment.last_heard):
        return _defect(DefectKind.REVEALS_SCRIPT, f"It tells facts that nobody asked for: {', '.join(sorted(told))}.")
    return None


def _says_forbidden(text: str, moment: Moment) -> Defect | None:
    within = f" {normalised(text)} "
    for phrase in moment.script.persona.never_say:
        if f" {normalised(phrase)} " in within:
            return _defect(DefectKind.SAYS_FORBIDDEN, f'It says what must never be said: "{phrase}".')
    return None


def _repeats_itself(text: str, moment: Moment) -> Defect | None:
    if not moment.said or not moment.heard:
        return None
    mine = normalised(text)
    earlier = [normalised(message) for message in moment.said]
    opener = earlier[0] if moment.script.speaks_first == "user" else normalised(moment.script.opening)
    if mine == opener and len(mine.split()) > 3:
        return _defect(DefectKind.REPEATS_ITSELF, "It is the first message again, although the agent has answered it.")
    # An agent that asks the same twice gets the same answer twice, and that is not the developer's fault.
    if not asks_something(moment.last_heard) and (mine == earlier[-1] or (len(mine.split()) > 4 and mine in earlier)):
        return _defect(DefectKind.REPEATS_ITSELF, "It has been said already, and the agent did not ask again.")
    return None


def _stops_early(moment: Moment) -> Defect | None:
    if not moment.heard:
        return _defect(DefectKind.STOPS_EARLY, "It ends the conversation before the agent has said anything.")
    if moment.must_speak:
        return _defect(DefectKind.STOPS_EARLY, "It ends the conversation before it has spoken of its goal.")
    last = moment.last_heard
    # A link to a pull request ends the matter for a developer, who cannot tell whether the agent really opened it.
    settled = moment.agent_acted or phrases.REFUSES.search(last) or "://" in last
    if settled or not phrases.ASKS_FOR_A_GO.search(last):
        return None
    return _defect(DefectKind.STOPS_EARLY, "The agent waits for a confirmation and has not acted yet: answer it.")


def _phrase(kind: DefectKind, pattern: re.Pattern[str], text: str, what: str) -> Defect | None:
    found = pattern.search(text)
    return _defect(kind, f'It {what}: "{found.group().strip()}".') if found else None


def _defect(kind: DefectKind, remark: str) -> Defect:
    return Defect(kind, remark)
