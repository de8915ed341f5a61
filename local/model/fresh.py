"""A new spoke from nothing: ask for what only the developer knows, take the rest from rules and a neighbour."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from .additions import purpose_of
from .addresses import AddressProblem, divide
from .building import Built, apply, raised
from .changes import Findings
from .consequences import crossed_limits, settle
from .evidence import READ, SEARCH
from .places import SUFFIXES, stage_of, stages, workload_of
from .properties import Catalogue
from .protocol import Call, Reply
from .questions import COST_CENTRE, REGION, SEGMENTS, Question, Topic, ask, together
from .security_rules import CLOSING
from .situation import Situation
from .slots import ADDRESS_SPACE, NAME
from .sources import resolve, wanted_region
from .steps import find_neighbour, submit, understood

_TEAM, _EMAIL, _CLASS, _REVIEW = ("owner", "team"), ("owner", "email"), ("dataClassification",), ("reviewDate",)
_LOGS, _ALERTS = ("monitoring", "logRetentionDays"), ("monitoring", "alertEmail")
_BACKUP, _WINDOW, _APPLICATION = ("backup", "enabled"), ("maintenanceWindow", "day"), ("tags", "application")
# Tags that reports read, so that "the application is …" is understood before there are any tags.
_TAGS = {"tags": {"application": "", "businessUnit": "", "criticality": ""}}
_PIECE = re.compile(r",|;|\band\b|\bplus\b|\n|\balso\b|\.\s", re.IGNORECASE)
_CIDR = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}")
_SIZE = re.compile(r"(?<![\d.])/(\d{2})\b")
_KINDS = (
    ("privateLink", r"private[\s-]?(?:link|endpoint)s?"),
    ("integration", r"integrations?|messag\w+|event\w*"),
    ("data", r"data(?:base|bases)?|sql|storage"),
    ("application", r"app(?:s|lication|lications)?|web|front(?:[\s-]?end)?|back[\s-]?end|compute|services?"),
)
_NAMED = re.compile(r"(?<![\w-])(snet-[a-z0-9-]+)")


def new_spoke(situation: Situation) -> Reply:
    """Gather, build, validate, open."""
    reply = _read_rules(situation)
    if reply is not None:
        return reply
    found = understood(situation, _TAGS)
    if isinstance(found, Reply):
        return found
    known, findings = found
    region = wanted_region(situation, None)
    questions = _missing(situation, findings, region)
    if isinstance(questions, Reply):
        return questions
    if questions:
        both = together([question.topic for question in questions])
        return Reply(both or ask(questions, situation.policy.questions_at_once))
    assert region is not None
    neighbour = find_neighbour(situation, region, stage_of(str(_name(situation))))
    if isinstance(neighbour, Reply):
        return neighbour
    if neighbour is None:
        return Reply(f"I find no spoke in {region} to take the hub and the firewall from. No pull request was opened.")
    try:
        configuration = _compose(situation, known, findings, region, neighbour)
    except AddressProblem as problem:
        text = f"I can not open a pull request for this: {problem} No pull request was opened."
        return Reply(ask([Question(ADDRESS_SPACE, text)], 1))
    return submit(situation, configuration, None)


def _read_rules(situation: Situation) -> Reply | None:
    """Read the schema and the pages with the rules, side by side; None when that is done."""
    wanted = [] if situation.best_catalogue is not None else [situation.schema_call(described=False)]
    if situation.policy.careless:
        return situation.call(*wanted)
    if situation.evidence.hits(_RULES) is None:
        wanted.append(Call(SEARCH, {"query": _RULES, "limit": 3}))
    for hit in situation.evidence.hits(_RULES) or []:
        page = str(hit.get("id"))
        if situation.evidence.page(page) is None:
            wanted.append(Call(READ, {"id": page}))
    return situation.call(*wanted)


_RULES = "rules for a new spoke: address planning, network security groups, private link"


def _name(situation: Situation) -> str | None:
    resolved = resolve(situation)
    return resolved.target or resolved.source


def _missing(situation: Situation, findings: Findings, region: str | None) -> list[Question] | Reply:
    """What to ask next; a reply when something is missing that the developer can not tell either."""
    told: dict[Topic, Any] = {
        NAME: _name(situation),
        REGION: region,
        ADDRESS_SPACE: _spaces(situation, findings),
        COST_CENTRE: findings.value(COST_CENTRE),
        _TEAM: findings.value(_TEAM),
        _EMAIL: findings.value(_EMAIL),
        _CLASS: findings.value(_CLASS),
        SEGMENTS: wanted_segments(situation),
        _LOGS: findings.value(_LOGS),
        _ALERTS: findings.value(_ALERTS),
        _BACKUP: None if findings.value(_BACKUP) is None else "said",
        _WINDOW: findings.value(_WINDOW),
        _REVIEW: findings.value(_REVIEW),
        _APPLICATION: findings.value(_APPLICATION),
    }
    open_topics = [topic for topic, value in told.items() if not value and not _optional(situation, topic)]
    hopeless = [topic for topic in open_topics if situation.unknown(topic) and topic in _NEEDED]
    if hopeless:
        return Reply(
            f"I can not go on without {_NEEDED[hopeless[0]]}, and I do not make it up. No pull request was opened."
        )
    return [Question(topic) for topic in open_topics if not situation.unknown(topic)]


def _optional(situation: Situation, topic: Topic) -> bool:
    """Asked once and let pass: the rules or the neighbour decide."""
    return topic not in _NEEDED and situation.asked(topic) > 0


_NEEDED: dict[Topic, str] = {
    NAME: "a name for the new spoke",
    REGION: "a region",
    ADDRESS_SPACE: "an address range",
    COST_CENTRE: "a cost centre",
    _TEAM: "an owner",
}


def _spaces(situation: Situation, findings: Findings) -> list[str]:
    """The ranges of the whole spoke, without those of its segments."""
    parts = {prefix for _, _, prefix in wanted_segments(situation)}
    said = [text for text in findings.value(ADDRESS_SPACE) or [] if text not in parts]
    return said[-1:]


def wanted_segments(situation: Situation) -> list[tuple[str, str, str]]:
    """The segments that were asked for, as (name, purpose, prefix); without a range the prefix is "" or "/27"."""
    found: list[tuple[str, str, str]] = []
    for turn in situation.turns:
        asked = SEGMENTS in turn.asked
        if not asked and not re.search(r"\b(?:subnets?|segments?)\b", turn.text, re.IGNORECASE):
            continue
        text = turn.text
        if not asked:
            text = " ".join(
                s
                for s in re.split(r"(?<=[.!?])\s+|\n", text)
                if re.search(r"\b(?:subnets?|segments?)\b", s, re.IGNORECASE)
            )
        pieces = [_segment(piece) for piece in _pieces(text)]
        segments = [piece for piece in pieces if piece is not None]
        if segments:
            found = segments
    return _unique(found)


def _pieces(text: str) -> list[str]:
    # A dot or comma inside a range is no border, so ranges are hidden while the text is cut.
    hidden = re.sub(_CIDR, lambda m: m.group().replace(".", "·"), text)
    return [piece.replace("·", ".") for piece in _PIECE.split(hidden) if piece.strip()]


def _segment(piece: str) -> tuple[str, str, str] | None:
    named = _NAMED.search(piece)
    kind = next((purpose for purpose, words in _KINDS if re.search(rf"\b(?:{words})\b", piece, re.IGNORECASE)), None)
    if named is None and kind is None:
        return None
    purpose = kind or purpose_of(named.group(1).replace("-", " ") if named else piece)
    prefix = _CIDR.search(piece)
    size = _SIZE.search(piece)
    text = prefix.group() if prefix else size.group() if size else ""
    short = {"privateLink": "links", "application": "app"}.get(purpose, purpose)
    return (named.group(1) if named else f"snet-{short}", purpose, text)


def _unique(segments: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    seen: dict[str, int] = {}
    result = []
    for name, purpose, prefix in segments:
        seen[name] = seen.get(name, 0) + 1
        result.append((name if seen[name] == 1 else f"{name}-{seen[name]}", purpose, prefix))
    return result


def _compose(
    situation: Situation, known: Catalogue, findings: Findings, region: str, neighbour: Mapping[str, Any]
) -> Built:
    """Fill every required property: said, following from the rules, or as the neighbour in the region has it."""
    name = str(_name(situation))
    environment = stage_of(name) or next((stage for stage, _ in stages(" ".join(situation.texts))), "dev")
    if stage_of(name) is None:
        short = next(key for key, stage in SUFFIXES.items() if stage == environment)
        name = f"{name}-{short}"
    workload = workload_of(name)
    spaces = _spaces(situation, findings)
    segments = wanted_segments(situation) or [("snet-app", "application", "")]
    ranges = _ranges(segments, spaces)
    production = environment == "production"
    result: dict[str, Any] = {
        "name": name,
        "environment": environment,
        "region": region,
        "owner": {"team": findings.value(_TEAM), "email": findings.value(_EMAIL) or neighbour["owner"]["email"]},
        "costCenter": findings.value(COST_CENTRE),
        "dataClassification": findings.value(_CLASS) or "internal",
        "virtualNetwork": {
            "name": f"vnet-{workload}",
            "addressSpace": spaces,
            "dnsServers": list(neighbour["virtualNetwork"]["dnsServers"]),
            "subnets": [_subnet(s, prefix, workload) for s, prefix in zip(segments, ranges, strict=True)],
        },
        # What nobody asked for stays closed; only the hub follows from the region.
        "hubPeering": {
            "hub": neighbour["hubPeering"]["hub"],
            "allowForwardedTraffic": False,
            "allowGatewayTransit": False,
            "useRemoteGateways": False,
        },
        "privateDnsZones": [],
        "privateEndpoints": [],
        "networkSecurityGroups": [_group(segment) for segment in segments],
        "routeTable": _route_table(workload, neighbour),
        "monitoring": {
            "logRetentionDays": 90 if production else 30,
            "diagnosticSettings": True,
            "alertEmail": findings.value(_EMAIL) or neighbour["monitoring"]["alertEmail"],
        },
        "backup": {"enabled": production, "retentionDays": 30 if production else 0},
        "maintenanceWindow": dict(neighbour["maintenanceWindow"]),
        "reviewDate": findings.value(_REVIEW) or neighbour["reviewDate"],
        "tags": {},
    }
    # The segments are composed above; everything else that was asked for is applied as to a copy.
    apply(result, [change for change in findings.changes if change.path not in (ADDRESS_SPACE, SEGMENTS)])
    asked = frozenset(change.path for change in findings.changes)
    result, followed = settle(known.conditions, result, asked)
    limits = tuple(limit for limit in crossed_limits(known.conditions, result) if limit.path not in asked)
    note = f"hub, resolvers, firewall and what nobody named are as in {neighbour.get('name')}"
    return raised(Built(result, tuple(followed), limits, (note,)))


def _ranges(segments: list[tuple[str, str, str]], spaces: list[str]) -> list[str]:
    if all(_CIDR.fullmatch(prefix) for _, _, prefix in segments):
        return [prefix for _, _, prefix in segments]
    sizes = [int(prefix.rsplit("/", 1)[-1]) if prefix else None for _, _, prefix in segments]
    return divide(spaces[0], sizes)


def _subnet(segment: tuple[str, str, str], prefix: str, workload: str) -> dict[str, Any]:
    name, purpose, _ = segment
    subnet: dict[str, Any] = {
        "name": name,
        "addressPrefix": prefix,
        "purpose": purpose,
        "networkSecurityGroup": f"nsg-{name.removeprefix('snet-')}",
    }
    if purpose != "privateLink":
        subnet["routeTable"] = f"rt-{workload}"
    subnet["privateEndpointNetworkPolicies"] = "Disabled" if purpose == "privateLink" else "Enabled"
    subnet["serviceEndpoints"] = []
    return subnet


def _group(segment: tuple[str, str, str]) -> dict[str, Any]:
    """A group that lets HTTPS in from inside the spoke and denies the rest."""
    allow = {
        "name": "allow-https-from-spoke",
        "priority": 100,
        "direction": "Inbound",
        "access": "Allow",
        "protocol": "Tcp",
        "source": "VirtualNetwork",
        "destination": "VirtualNetwork",
        "port": "443",
    }
    return {"name": f"nsg-{segment[0].removeprefix('snet-')}", "rules": [allow, dict(CLOSING)]}


def _route_table(workload: str, neighbour: Mapping[str, Any]) -> dict[str, Any]:
    table = copy.deepcopy(dict(neighbour["routeTable"]))
    default = [route for route in table["routes"] if route.get("addressPrefix") == "0.0.0.0/0"]
    return {**table, "name": f"rt-{workload}", "routes": default or table["routes"][:1]}
