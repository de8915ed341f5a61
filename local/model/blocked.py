"""Requests that are refused whatever else they ask for, told from the developer's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .words import sentences

Kind = Literal["security_group", "hub", "validation", "merge"]


@dataclass(frozen=True)
class Blocked:
    """What is refused, the developer's words, the words to search the rule with, and what is possible instead."""

    kind: Kind
    quote: str

    @property
    def query(self) -> str:
        return _QUERIES[self.kind]

    @property
    def reason(self) -> str:
        return _REASONS[self.kind]

    @property
    def instead(self) -> str:
        return _INSTEAD[self.kind]


_QUERIES: dict[Kind, str] = {
    "security_group": "network security group rules",
    "hub": "change of the hub process network team",
    "validation": "validation gate waive",
    "merge": "review who completes a pull request",
}
_REASONS: dict[Kind, str] = {
    "security_group": "a network security group can not be switched off, emptied or removed: every segment keeps one",
    "hub": "the hub is not changed through a spoke; it belongs to the network team",
    "validation": "I can not skip the validation: only a configuration that passed it goes into a pull request",
    "merge": "I can not merge or complete pull requests or bypass them: people review and complete them",
}
_INSTEAD: dict[Kind, str] = {
    "security_group": "Instead I can make the rest and keep the security groups, or change a single rule.",
    "hub": "Instead, ask the network team by way of their process for changes of the hub.",
    "validation": "Instead I can prepare the change and validate it, which takes a moment.",
    "merge": "Instead I can open the pull request and leave its completion to the reviewers.",
}

_GROUP = (
    r"(?:(?:network\s+)?security\s+groups?|\bNSGs?\b|\bnsg-[a-z0-9-]+|(?:firewall|packet|traffic)\s+filters?|"
    r"filters?\s+(?:of|on|guarding|for)\b)"
)
_OFF = (
    r"(?:remov\w+|delet\w+|drop\w*|disabl\w+|deactivat\w+|switch\w*\s+off|turn\w*\s+off|shut\w*\s+(?:off|down)|"
    r"without|get(?:ting)?\s+rid\s+of|"
    r"tak(?:e|en|ing)\s+(?:away|off|out|down)|detach\w*|strip\w*|empty|emptied|emptying|clear(?:ed|ing)?|"
    r"unassign\w*|dissociat\w+|"
    r"leav(?:e|ing)\s+out|left\s+out|omit\w*|bypass\w*|suspend\w*|lift(?:ed|ing)?|unlink\w*|discard\w*|kill|"
    r"(?:do(?:es)?\s+not|doesn't|don't|no\s+longer|never)\s+(?:need|want|have|require|use)s?|needs?\s+no|(?:is|"
    r"are)\s+not\s+(?:needed|required|wanted))"
)
_SPLIT_OFF = (
    rf"(?:switch|turn|take|leave|shut)\w*\s+(?:[\w'-]+\s+){{0,5}}?{_GROUP}(?:\s+[\w'-]+){{0,6}}?\s+"
    r"(?:off|away|out|down)\b"
)
_NO_GROUP = rf"\bno\s+(?:network\s+)?{_GROUP}"
_RULES = re.compile(r"\b(?:rules?|permissions?|prohibitions?|priority|port)\b", re.IGNORECASE)
_ALL_RULES = re.compile(
    r"\b(?:all|every|any)\s+(?:of\s+)?(?:its\s+|the\s+|their\s+)?(?:rules?|permissions?|prohibitions?)\b", re.IGNORECASE
)
_NOT = re.compile(r"(?:\bnot|n't|\bnever|\bwithout|\brather than)\s+(?:to\s+|be\s+|ever\s+)?$", re.IGNORECASE)

_CHECK = r"(?:validat\w+|validity check\w*|checks?\b|checking|the gate\b|verification|verif\w+)"
_SKIP = (
    r"(?:skip\w*|bypass\w*|without(?:\s+(?:any|the|a|another|further|running))*|omit\w*|ignor\w+|leav(?:e|"
    r"ing)\s+out|do(?:n't| not)\s+(?:bother\s+(?:with|to)?|run|do|wait\s+for|"
    r"need|call|use|worry about)?|no\s+(?:need\s+(?:to|for)|time\s+(?:for|to))|never\s+mind|circumvent\w*|"
    r"waiv\w+|override|overrule|go(?:ing)?\s+around|"
    r"not\s+(?:necessary|needed)\s+to|forget\s+(?:about\s+)?|spare\s+(?:us|me|yourself)|switch\s+off|turn\s+off|"
    r"disable|no)"
)
_SKIPS = re.compile(
    rf"\b{_SKIP}\s*(?:the\s+|any\s+|a\s+|its\s+|all\s+|that\s+|these\s+|those\s+|usual\s+|portal'?s?\s+|your\s+|"
    rf"on\s+|for\s+)*{_CHECK}",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    rf"\b{_CHECK}\s+(?:\w+\s+){{0,3}}?(?:can|could|may|should|must|is|are|be|"
    rf"will)\s+(?:be\s+)?(?:\w+\s+)?(?:skipped|left out|omitted|ignored|waived|bypassed|not (?:needed|necessary|"
    rf"required))"
    rf"|\b(?:even (?:if|though|when)|although|no matter (?:if|what|whether)|regardless(?: of)?|despite|"
    rf"whatever)\b[^.]{{0,40}}\b(?:{_CHECK}|not valid|invalid|errors?)\b[^.]{{0,40}}",
    re.IGNORECASE,
)
_NO_SKIP = re.compile(
    r"\b(?:no|without)\s+(?:validation|check)\s+(?:errors?|problems?|issues?|findings?)", re.IGNORECASE
)

_CHANGE = (
    r"(?:chang\w+|modif\w+|updat\w+|adjust\w*|add(?:s|ed|ing)?|open\w*|edit\w*|extend\w*|remov\w+|delet\w+|"
    r"configur\w+|reconfigur\w+|allow\w*|permit\w*|"
    r"enlarg\w+|resiz\w+|put(?:ting)?|set(?:ting)?|creat\w+|insert\w*|switch\w*|turn\w*|replac\w+|mov(?:e|ing)|"
    r"block\w*|disabl\w+|enabl\w+|"
    r"need\w*|want\w*|let|make|rout\w+|announc\w+|register\w*|whitelist\w*|widen\w*|grow\w*)"
)
_HUB = r"(?:\bhub(?:-[a-z]+)?\b|\bcentral\s+(?:network|vnet|firewall)\b)"
_HUB_PART = (
    r"(?:firewall\w*|rout\w+|gateways?|resolvers?|bastion|address\w*|range|subnets?|vnet|network|rules?|side|dns|"
    r"peerings?\s+side|policy|policies|settings?|configuration|nsgs?)"
)
_HUB_OBJECT = re.compile(
    rf"{_HUB}(?:'s|s')\s+(?:\w+\s+)?{_HUB_PART}|\bhub\s+(?:firewall|rout\w+|gateway|resolver|bastion|subnet|vnet|"
    rf"network|address\w*|rule|side|dns|configuration|settings?)\w*|"
    rf"{_HUB_PART}\s+(?:(?:rule|table|entr(?:y|ies)|side)s?\s+)?(?:of|in|on|at)\s+(?:the\s+|our\s+)?(?:\w+\s+)?{_HUB}|"
    rf"\b(?:in|on|at|inside|within|into|to)\s+(?:the\s+|our\s+)?(?:\w+\s+)?{_HUB}(?!\s*(?:peering|"
    rf"link))(?:\s+itself)?|\bcentral\s+firewall\b",
    re.IGNORECASE,
)
_HUB_DIRECT = re.compile(rf"\b{_CHANGE}\s+(?:the\s+|our\s+)?(?:\w+\s+)?{_HUB}(?!\s*(?:peering|link)|-)", re.IGNORECASE)
_PASSING = re.compile(
    rf"\b(?:via|through|over|behind|by|from|with|using|peer\w*\s+(?:with|to)|connect\w*\s+to|link\w*\s+(?:to|"
    rf"with)|same)\s+(?:the\s+|our\s+|its\s+)?(?:\w+\s+)?(?:{_HUB}|(?:firewall|gateway)\s+(?:of|in)\s+the\s+hub)"
    rf"(?:'s\s+\w+|\s+firewall|\s+gateway)?",
    re.IGNORECASE,
)
_MERGE = re.compile(
    r"\b(?:merge|auto-?complete|complete|approve|sign off)\s+(?:it|that|this|them|the\s+(?:pull\s+request|pr|"
    r"change|request)|and\s+deploy|right|straight|directly|yourself)\b|"
    r"\b(?:merge|complete|approve)\s+(?:the|that|this|your)\s+(?:\w+\s+)?(?:pull\s+request|pr)\b|"
    r"\b(?:pull\s+request|pr)\b[^.]{0,40}\b(?:merged|completed|approved)\s+(?:by\s+you|right|immediately|"
    r"straight|at once|yourself)|"
    r"\bwithout\s+(?:a\s+|any\s+|the\s+|waiting\s+for\s+(?:a\s+|the\s+)?)?(?:pull\s+request|review\w*|"
    r"approval)\b|\b(?:directly|straight)\s+(?:to|on|into|onto)\s+(?:the\s+)?main\b",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"\b(?:forget\s+(?:about\s+)?(?:it|that|this|the)|never\s*mind|leave\s+(?:it|that|them|"
    r"the\s+\w+(?:\s+\w+)?)\s+(?:as|in|on|alone|there|out of)|"
    r"keep\s+(?:it|them|that|the)|then\s+(?:without|do|validate|keep|leave|with)|without\s+(?:that|"
    r"this)(?:\s+(?:part|change))?|with\s+(?:the\s+)?(?:validation|groups?|nsgs?)|"
    r"(?:ok|okay|fine|alright|agreed|sure|yes)\b[^.]{0,30}\b(?:validate|instead|keep|leave|without it|rest))",
    re.IGNORECASE,
)


def find_blocked(messages: Sequence[str]) -> list[Blocked]:
    """What the developer's messages ask for and can not have. A later message may take it back."""
    found: dict[Kind, Blocked] = {}
    for index, message in enumerate(messages):
        now = dict(_kinds(message))
        if index and _WITHDRAWN.search(message) and not re.search(r"\binsist|\banyway\b", message, re.IGNORECASE):
            found = {kind: item for kind, item in found.items() if kind in now}
        elif index and re.search(r"\bvalidat", message, re.IGNORECASE) and "validation" not in now:
            # "All right, validate it then."
            found.pop("validation", None)
        for kind, quote in now.items():
            found.setdefault(kind, Blocked(kind, quote))
    return list(found.values())


def _kinds(message: str) -> list[tuple[Kind, str]]:
    found: list[tuple[Kind, str]] = []
    for sentence in sentences(message):
        if _group_off(sentence):
            found.append(("security_group", sentence))
        if _skips_validation(sentence):
            found.append(("validation", sentence))
        if _changes_hub(sentence):
            found.append(("hub", sentence))
        merge = _MERGE.search(sentence)
        if merge and not _NOT.search(sentence[: merge.start()]):
            found.append(("merge", sentence))
    return found


def _group_off(sentence: str) -> bool:
    for match in re.finditer(rf"{_SPLIT_OFF}|{_NO_GROUP}", sentence, re.IGNORECASE):
        if not _NOT.search(sentence[: match.start()]) and not _single_rule(match.group()):
            return True
    for match in re.finditer(rf"\b{_OFF}\b(?P<between>[^.;]{{0,70}}?){_GROUP}", sentence, re.IGNORECASE):
        kept = re.search(
            r"\b(?:keep|retain|leave|add|give|change|and\s+(?:the|its)\s+\w+\s+of)\b", match["between"], re.IGNORECASE
        )
        if not kept and not _NOT.search(sentence[: match.start()]) and not _single_rule(match["between"]):
            return True
    for match in re.finditer(rf"{_GROUP}(?P<between>[^.;,]{{0,60}}?)\b{_OFF}\b", sentence, re.IGNORECASE):
        before_verb = sentence[: match.end()]
        negated = re.search(r"(?:\bnot|n't|\bnever)\s+(?:be\s+)?\w+(?:\s+off)?$", before_verb, re.IGNORECASE)
        rule_first = _RULES.search(sentence[max(0, match.start() - 25) : match.start()])
        passive = re.search(
            r"\b(?:be|is|are|get|got|gets|being|was|were|been|can|go)\b|^\s*$", match["between"], re.IGNORECASE
        )
        if passive and not negated and not rule_first and not _single_rule(match["between"]):
            return True
    return False


def _single_rule(text: str) -> bool:
    return _RULES.search(text) is not None and _ALL_RULES.search(text) is None


def _skips_validation(sentence: str) -> bool:
    if _NO_SKIP.search(sentence):
        return False
    for match in _SKIPS.finditer(sentence):
        if not _NOT.search(sentence[: match.start()]):
            return True
    return _SKIPPED.search(sentence) is not None


def _changes_hub(sentence: str) -> bool:
    rest = _PASSING.sub(" ", sentence)
    direct = _HUB_DIRECT.search(rest)
    target = _HUB_OBJECT.search(rest)
    # "Allow the hub's bastion in nsg-front" changes a rule of the spoke's own.
    own = re.search(_GROUP, rest, re.IGNORECASE) and not re.search(
        r"\bhub\W+(?:s\W+)?(?:nsg|firewall|security)", rest, re.IGNORECASE
    )
    if own or (target is None and direct is None):
        return False
    if direct is not None:
        return not _NOT.search(rest[: direct.start()])
    assert target is not None
    verb = re.search(rf"\b{_CHANGE}\b", rest, re.IGNORECASE)
    return verb is not None and not _NOT.search(rest[: verb.start()])
