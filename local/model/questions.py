"""What the agent asks for, in plain words, and which of its questions an earlier message of its own holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .properties import Catalogue, Property
from .slots import ADDRESS_SPACE, NAME
from .words import split_name

Topic = tuple[str, ...]
SOURCE: Topic = ("source",)
COST_CENTRE: Topic = ("costCenter",)
SEGMENTS: Topic = ("virtualNetwork", "subnets")
REGION: Topic = ("region",)

_FIXED: dict[Topic, str] = {
    SOURCE: "Which existing spoke shall I start from?",
    NAME: "What name should the new spoke get (spoke-<workload>-<stage>)?",
    ADDRESS_SPACE: "Which address range (CIDR, such as 10.1.2.0/24) should be its address space?",
    COST_CENTRE: "Which cost centre (the budget code) pays for it?",
    REGION: "In which region should it be?",
    ("dataClassification",): "How sensitive is its data (the data classification)?",
    ("owner", "team"): "Which team owns it?",
    ("owner", "email"): "What is the owner's mailbox (e-mail address)?",
    SEGMENTS: "Which segments (subnets) are wanted, and what is each one for?",
}
_TOGETHER: dict[str, tuple[Topic, ...]] = {
    "Which team owns it, and what is the owner's mailbox (e-mail address)?": (("owner", "team"), ("owner", "email")),
    "For how many days are its logs kept (the log retention), and who gets alerts (the alert e-mail address)?": (
        ("monitoring", "logRetentionDays"),
        ("monitoring", "alertEmail"),
    ),
    "Does it need backups, and when is its maintenance window (day, start time and length)?": (
        ("backup", "enabled"),
        ("maintenanceWindow", "day"),
    ),
    "By which date must it be reviewed (the review date), and which application is it for?": (
        ("reviewDate",),
        ("tags", "application"),
    ),
}
"""Questions for two things that belong together, for a new spoke, where a lot has to be asked."""


@dataclass(frozen=True)
class Question:
    """One thing to ask. `before` is what the developer should know first, such as a limit."""

    topic: Topic
    before: str = ""


def wording(topic: Topic) -> str:
    """The question itself. The same topic is always asked with the same words, so that it is known again."""
    fixed = _FIXED.get(topic)
    return fixed if fixed is not None else f"What should {spoken(topic)} be?"


def spoken(topic: Topic) -> str:
    """A property in plain words: `("monitoring", "logRetentionDays")` -> "the log retention days of the monitoring"."""
    own = split_name(str(topic[-1])).lower()
    around = [split_name(str(part)).lower() for part in topic[:-1] if part != "*" and not str(part).isdigit()]
    return f"the {own} of the {around[-1]}" if around else f"the {own}"


def together(topics: Sequence[Topic]) -> str | None:
    """The question that asks for the first of some topics and at least one more of them; None when there is none."""
    for question, asked in _TOGETHER.items():
        if topics and topics[0] in asked and all(topic in topics for topic in asked):
            return question
    return None


def ask(questions: Iterable[Question], at_once: int) -> str:
    """The text that asks the first of some questions."""
    parts = [" ".join(part for part in (q.before, wording(q.topic)) if part) for q in list(questions)[:at_once]]
    return " ".join(parts)


def topics_in(text: str, catalogue: Catalogue | None) -> list[Topic]:
    """The topics that a message of the agent's own asks for."""
    found = [topic for topic, question in _FIXED.items() if question in text]
    found += [topic for question, topics in _TOGETHER.items() if question in text for topic in topics]
    for prop in catalogue.properties if catalogue is not None else ():
        if prop.path not in _FIXED and _askable(prop) and wording(prop.path) in text:
            found.append(prop.path)
    return found


def _askable(prop: Property) -> bool:
    return prop.scalar and "*" not in prop.path


_UNKNOWN = re.compile(
    r"\b(?:do not|don't|dont|doesn't|does not)\s+(?:know|have\s+(?:that|one|any|it|another|a)|care|mind|"
    r"matter)\b|\bno\s+(?:idea|clue|preference|opinion)\b|\bnot\s+sure\b|"
    r"\bunsure\b|\bcan(?:no|')t\s+(?:say|tell)\b|\b(?:up to you|you (?:choose|decide|pick)|whatever|"
    r"leave (?:that|it) to you|as you (?:like|see fit)|any will do)\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"\b(?:same|keep|kept|unchanged|as (?:it|they|that) (?:is|are)|no change|do(?:es)? not change|stays?|stay|"
    r"remains?|like the (?:source|original)|identical|"
    r"the existing one|the current one|as before)\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|sure|ok|okay|fine|right|correct|go ahead|please do|agreed|sounds good|that(?:'s|"
    r" is) (?:fine|good|ok|right))\b",
    re.IGNORECASE,
)


def says_unknown(text: str) -> bool:
    """The developer can not or does not want to answer."""
    return _UNKNOWN.search(text) is not None


def says_keep(text: str) -> bool:
    """The developer wants what is there."""
    return _KEEP.search(text) is not None


def says_yes(text: str) -> bool:
    return _YES.search(text) is not None
