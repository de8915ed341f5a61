"""Names, stages and regions in a text: which one is where we come from, which one is where we go to?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .values import find_values
from .words import words

Role = Literal["source", "target", "unknown"]
STAGES = {
    "dev": ("dev", "development", "develop"),
    "test": ("test", "testing", "tst"),
    "acceptance": ("acceptance", "acc", "uat", "user acceptance"),
    "production": ("production", "prod", "prd", "live"),
}
"""Members of the environment's enumeration, with the words that people use for them."""
SUFFIXES = {"dev": "dev", "test": "test", "acc": "acceptance", "prod": "production"}
"""Last parts of spoke names and the environment that each stands for."""

_STAGE_WORDS = {word: stage for stage, spoken in STAGES.items() for word in spoken}
_STAGE = re.compile(rf"(?<![\w-])({'|'.join(sorted(_STAGE_WORDS, key=len, reverse=True))})(?![\w]|-\w)", re.IGNORECASE)
_SOURCE_BEFORE = re.compile(
    r"(?P<word>\b(?:copy|copies|clone|cloned|duplicate|replicate|replica|mirror|twin|sibling|version|like|"
    r"same(?:\s+[\w-]+){0,4}\s+as|on|upon|of|from|take|taking|"
    r"resembles|existing|current|present|identical to|similar to|same as|equivalent of|counterpart of|behind|"
    r"use|using|what)\b)"
    r"(?:\s+(?:of|from|the|our|existing|current|spoke|configuration|settings|set-?up|landing|zone|exactly|one|"
    r"in|is))*[\s`'\"(]*$",
    re.IGNORECASE,
)
_TARGET_BEFORE = re.compile(
    r"(?P<word>\b(?:to|into|called|named|name|as|new|for|it|becomes?|is|be|create|set up|make|need|want|get|"
    r"have|call|order)\b|:)"
    r"(?:\s+(?:the|a|an|new|name|spoke|one|it|will|be|should|called|named|landing|zone|is|us|me))*[\s`'\"(:]*$",
    re.IGNORECASE,
)
_TARGET_AFTER = re.compile(
    r"^[\s`'\")]*(?:[,(:\u2013-]\s*)?(?:(?:as\s+)?(?:a|the|an|our|another)\s+(?:\w+\s+){0,2}?(?:copy|clone|twin|"
    r"replica|duplicate|version|sibling|counterpart)\b|"
    r"(?:which\s+is\s+|which\s+should\s+be\s+)?(?:based\s+on|like\b|model?led\s+on|cloned|copied|derived|"
    r"built\s+from|from\b|out\s+of|made\s+from))",
    re.IGNORECASE,
)
_SOURCE_AFTER = re.compile(
    r"^[\s`'\")]*(?:,?\s*(?:spoke\s+)?(?:as (?:a |the |our |its )?(?:template|basis|base|example|blueprint|"
    r"model|pattern|starting|source)|"
    r"(?:and|to) (?:make|create|copy|turn|use|set|call|give|build)|has\b|should be (?:copied|cloned|duplicated)|"
    r"is (?:what|the one)|"
    r"(?:is|as) (?:the|a) (?:source|template|model|basis)|can serve|serves|does))",
    re.IGNORECASE,
)
_VERB_TEST = re.compile(r"\b(?:to|can|could|will|we|i|must|should|they)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A spoke name in a text, and the role that the words around it give it."""

    name: str
    role: Role
    start: int


def spoke_names(text: str) -> list[Named]:
    """All spoke names of a text in order."""
    found = []
    for value in find_values(text):
        if value.kind == "spoke":
            before, after = text[max(0, value.start - 60) : value.start], text[value.end : value.end + 60]
            found.append(Named(value.text, _role(before, after), value.start))
    return found


def _role(before: str, after: str) -> Role:
    if _SOURCE_AFTER.search(after):
        return "source"
    if _TARGET_AFTER.search(after):
        return "target"
    source, target = _SOURCE_BEFORE.search(before), _TARGET_BEFORE.search(before)
    if source and target:
        # "identical to X" ends in a word of going somewhere; the longer phrase with the same end is meant.
        return "source" if source.end("word") >= target.end("word") else "target"
    if source:
        return "source"
    return "target" if target else "unknown"


def stages(text: str) -> list[tuple[str, int]]:
    """Stages that a text speaks of outside names, with their places; "test" as a verb is none."""
    covered = [
        (value.start, value.end) for value in find_values(text) if value.kind in ("spoke", "label", "email", "domain")
    ]
    found = []
    for match in _STAGE.finditer(text):
        if any(low <= match.start() < high for low, high in covered):
            continue
        verb = match[1].lower() in ("test", "develop", "live") and _VERB_TEST.search(text[: match.start()])
        # "to test" is where a copy goes when nothing is tested there: "copied to test" against "to test our release".
        if verb and (
            match[1].lower() != "test"
            or re.match(r"\s+(?:the|our|a|an|it|this|that|new|if|whether|how|some)\b", text[match.end() :])
        ):
            continue
        if match[1].lower() == "live" and not re.search(r"\b(?:in|to|the|our|is|goes?)\s+$", text[: match.start()]):
            continue
        found.append((_STAGE_WORDS[match[1].lower()], match.start()))
    return found


def stage_of(name: str) -> str | None:
    """The environment that a spoke's name ends in; None when it ends in no stage."""
    return SUFFIXES.get(name.rsplit("-", 1)[-1])


def workload_of(name: str) -> str:
    """`spoke-shop-eu-dev` -> `shop-eu`."""
    stem = name.removeprefix("spoke-")
    head, _, tail = stem.rpartition("-")
    return head if tail in SUFFIXES and head else stem


def with_stage(name: str, environment: str) -> str:
    """The name of the same workload in another environment."""
    suffix = next((short for short, stage in SUFFIXES.items() if stage == environment), environment)
    return f"spoke-{workload_of(name)}-{suffix}"


def said_source(text: str, listing: Sequence[Mapping[str, Any]]) -> list[str]:
    """Existing spokes that a text means by workload and stage without writing their names; the best ones only."""
    spoken = set(words(text))
    known = {str(item.get("name")): item for item in listing}
    by_workload: dict[str, list[str]] = {}
    for name in known:
        if all(
            part in spoken or f"{part}s" in spoken or part.rstrip("s") in spoken
            for part in workload_of(name).split("-")
        ):
            by_workload.setdefault(workload_of(name), []).append(name)
    if not by_workload:
        return []
    # "the payments refunds spoke" is spoke-payments-refunds rather than spoke-payments.
    longest = max(by_workload, key=lambda workload: (workload.count("-"), len(workload)))
    names = by_workload[longest]
    if len(names) == 1:
        return names
    said = stages(text)
    there = [name for name in names if any(stage_of(name) == stage for stage, _ in said)]
    if len(there) > 1:
        from_there = [n for n in there if any(stage_of(n) == s and _comes_from(text, at, longest) for s, at in said)]
        return from_there if len(from_there) == 1 else there
    return there or names


def _comes_from(text: str, at: int, workload: str) -> bool:
    """True when a stage is spoken of as the one that is there already."""
    before = text[max(0, at - 40) : at].lower()
    tail = workload.split("-")[-1]
    return bool(
        re.search(
            r"\b(?:from|copy|clone|duplicate|of|like|our|existing|current)\s+(?:the\s+|our\s+|of\s+)*(?:\w+\s+)?$",
            before,
        )
        or re.search(rf"\b{re.escape(tail)}\w*\s+(?:spoke\s+)?(?:in\s+|from\s+)?$", before)
    )


def target_stage(text: str, source: str | None) -> str | None:
    """The stage that a copy is for: one that is spoken of as the goal, else the one that is not the source's."""
    said = stages(text)
    for stage, at in said:
        before = text[max(0, at - 30) : at].lower()
        if re.search(
            r"\b(?:to|for|into|in|as|a|an|new|our new|additional|another)\s+(?:an?\s+|the\s+|its\s+|our\s+)?$", before
        ) and (source is None or stage != stage_of(source)):
            return stage
    others = [stage for stage, _ in said if source is None or stage != stage_of(source)]
    return others[0] if others else None
