"""New items that a message asks for: tags, segments, rules, routes and private endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .containers import Item, gives, heads, item_in, items, speaks_of
from .fitting import members
from .properties import Catalogue, Property
from .reading import Reading
from .security_rules import place, read_rule
from .slots import Path, value_at
from .words import split_name

_KEY = r"[`'\"“]?(?P<key>[A-Za-z][A-Za-z0-9_-]{1,31})[`'\"”]?"
_VALUE = (
    r"(?:[`'\"“](?P<quoted>[^`'\"”]+)[`'\"”]|"
    # A value without quotation marks: up to five words, and none of those that lead on to something else.
    r"(?P<bare>(?!(?:the|a|an|from|to|of|in|on|for|with|and|or|is|are|as|at|by|tag|label|should|must)\b)[\w][\w.@/+-]*"
    r"(?:\s+(?!(?:and|or|with|for|to|in|on|as|but|is|are|was|must|should|will|so|because|please)\b)[\w][\w.@/+-]*)"
    r"{0,4}))"
)
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_KEY}\s*(?:=|:)\s*{_VALUE}",
        rf"(?:called|named|key|with the key|the key is)\s+{_KEY}\s*,?\s*(?:and\s+|with\s+|whose\s+)*(?:the\s+|"
        rf"a\s+)?(?:value|text|content)?\s*"
        rf"(?:of|is|to|reads?|saying|set to|=|:)?\s*{_VALUE}",
        rf"(?:tags?|labels?|entry|entries)\s*[:,]?\s+{_KEY}\s*,?\s*"
        rf"(?:(?:with|to|as|of|is|set|saying|reads?|becomes|should be|must be)\s+)+(?:the\s+|a\s+)?"
        rf"(?:(?:value|text)\s+(?:of\s+)?)?{_VALUE}",
    )
)
_CIDR = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}")
_SIZE = re.compile(r"(?<![\d.])/(2\d|30)\b")
_CALLED = re.compile(
    r"\b(?:called|named|name)\s+[`'\"]?(?P<name>[a-z][a-z0-9-]*)|(?<![\w-])(?P<bare>(?:snet|pe)-[a-z0-9-]+)",
    re.IGNORECASE,
)
_PURPOSES = (
    ("privateLink", r"private[\s-]?(?:link|endpoint)s?|internal doors?|managed services"),
    ("integration", r"integrat\w+|messag\w+|bus\b|event"),
    ("data", r"data(?:base)?s?\b|sql\b|storage"),
    ("application", r"app(?:lication)?s?\b|web\b|front|back-?end|comput\w+|batch|job"),
)
_KEYWORDS = {
    "tag",
    "tags",
    "label",
    "labels",
    "value",
    "text",
    "key",
    "the",
    "a",
    "an",
    "should",
    "must",
    "with",
    "this",
    "that",
}


@dataclass(frozen=True)
class Addition:
    """An item to add at `path` (a list) or to set at it (an entry of a map), and the words that asked for it."""

    path: Path
    value: Any
    start: int
    end: int
    at: int | None = None


def find_additions(reading: Reading, catalogue: Catalogue, configuration: Mapping[str, Any]) -> list[Addition]:
    """All additions that a message asks for."""
    found: list[Addition] = []
    for start, end in _sentences(reading):
        text = reading.text[start:end]
        if (tags := catalogue.at(("tags",))) is not None and speaks_of(tags, text):
            found.extend(_tags(text, start))
        found.extend(
            a
            for a in _known_tags(text, start, configuration)
            if not any(a.start < b.end and b.start < a.end for b in found)
        )
        if gives(text) is None:
            continue
        for add in (_rule, _subnet, _route, _endpoint):
            addition = add(text, start, catalogue, configuration)
            if addition is not None and not any(a.start < addition.end and addition.start < a.end for a in found):
                found.append(addition)
    return found


def _sentences(reading: Reading) -> Iterator[tuple[int, int]]:
    for sentence in sorted({segment.sentence for segment in reading.segments}):
        parts = [segment for segment in reading.segments if segment.sentence == sentence]
        yield parts[0].start, parts[-1].end


def _tags(text: str, offset: int) -> Iterator[Addition]:
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            key = match["key"]
            if key.lower() in _KEYWORDS or any(low < match.end() and match.start() < high for low, high in taken):
                continue
            value = (match["quoted"] or match["bare"]).strip().rstrip(".")
            taken.append(match.span())
            yield Addition(("tags", key), value, offset + match.start(), offset + match.end())


def _known_tags(text: str, offset: int, configuration: Mapping[str, Any]) -> Iterator[Addition]:
    """New values for tags that are there already, which are often named without the word "tag"."""
    present = value_at(configuration, ("tags",))
    for key in present if isinstance(present, Mapping) else ():
        spoken = r"[\s-]?".join(re.escape(word) for word in split_name(key).split())
        name = rf"(?<![\w-])[`'\"]?(?:{re.escape(key)}|{spoken})[`'\"]?\s+"
        form = rf"{name}(?:(?:tag|label|value)\s+)?{_BECOMES}\s*(?:the\s+)?{_VALUE}"
        found = list(re.finditer(form, text, re.IGNORECASE))
        if not found and re.search(r"\b(?:tags?|labels?)\b", text, re.IGNORECASE):
            # "no managedBy tag and criticality low": without a verb the value must end its part of the sentence.
            brief = rf"{name}{_VALUE}(?=\s*(?:[,.;]|$))"
            found = [
                match
                for match in re.finditer(brief, text, re.IGNORECASE)
                if not re.match(r"tags?|labels?", match["bare"] or "")
            ]
        for match in found:
            value = (match["quoted"] or match["bare"]).strip().rstrip(".")
            yield Addition(("tags", key), value, offset + match.start(), offset + match.end())


_BECOMES = (
    r"(?:(?:should|must|will|shall|needs\s+to|has\s+to|is\s+to)\s+)?(?:(?:now|be|become|becomes|is|to|=|:|as|"
    r"say|says|read|reads|changed?|"
    r"set|goes|go|becoming|being)(?:\s+|(?<=[=:])))+"
)


def _known(prop_path: tuple[str, ...], catalogue: Catalogue, configuration: Mapping[str, Any]) -> list[Item]:
    return [item for item in items(catalogue, configuration) if item.container.path == prop_path]


def _wanted(text: str, prop: Property | None) -> re.Match[str] | None:
    """The place where "add … <kind of thing>" begins; None when the sentence adds something else."""
    verb = gives(text)
    if prop is None or verb is None or not speaks_of(prop, text[verb.start() :]):
        return None
    return verb


def _rule(text: str, offset: int, catalogue: Catalogue, configuration: Mapping[str, Any]) -> Addition | None:
    prop = catalogue.at(("networkSecurityGroups", "*", "rules"))
    verb = gives(text)
    opens = re.search(r"\b(?:open|allow|permit|deny|block)\b.{0,40}\bports?\b", text, re.IGNORECASE)
    if prop is None or verb is None or not (opens or _wanted(text, prop)):
        return None
    groups = value_at(configuration, ("networkSecurityGroups",)) or []
    index = _group(text, catalogue, configuration)
    if index is None or index >= len(groups):
        return None
    rules = groups[index].get("rules") or []
    begin = min(verb.start(), opens.start()) if opens else verb.start()
    rule = read_rule(text[begin:], rules)
    if rule is None:
        return None
    path = ("networkSecurityGroups", index, "rules")
    return Addition(path, rule, offset + begin, offset + len(text), at=place(rules, rule))


def _group(text: str, catalogue: Catalogue, configuration: Mapping[str, Any]) -> int | None:
    """The security group that a sentence means: by its own name, or as the guard of a segment."""
    groups = _known(("networkSecurityGroups",), catalogue, configuration)
    if len(groups) == 1:
        return 0
    group = item_in(text, groups)
    if group is not None:
        return int(group.path[-1])
    subnet = item_in(text, _known(("virtualNetwork", "subnets"), catalogue, configuration))
    if subnet is None:
        return None
    guard = value_at(configuration, (*subnet.path, "networkSecurityGroup"))
    return next((int(g.path[-1]) for g in groups if g.label == guard), None)


def _subnet(text: str, offset: int, catalogue: Catalogue, configuration: Mapping[str, Any]) -> Addition | None:
    path = ("virtualNetwork", "subnets")
    verb = _wanted(text, catalogue.at(path))
    size = _CIDR.search(text) or _SIZE.search(text)
    if verb is None or size is None:
        return None
    if item_in(text, _known(path, catalogue, configuration)) is not None and not re.search(
        r"\bnew|another|extra|additional\b", text
    ):
        return None
    tail = text[verb.start() :]
    siblings = value_at(configuration, path) or []
    value = segment(tail, size.group(), siblings, configuration)
    return Addition(path, value, offset + verb.start(), offset + len(text))


def purpose_of(text: str) -> str:
    """What a segment is for, told from the words about it; application when nothing tells."""
    return next((name for name, words in _PURPOSES if re.search(rf"\b(?:{words})", text, re.IGNORECASE)), "application")


def segment(
    text: str, prefix: str, siblings: Sequence[Mapping[str, Any]], configuration: Mapping[str, Any]
) -> dict[str, Any]:
    """A new segment as a text describes it. A prefix without address ("/27") is placed when the whole is built."""
    purpose = purpose_of(text)
    called = _CALLED.search(text)
    name = (called["name"] or called["bare"]).lower() if called else f"snet-{purpose.lower().removeprefix('private')}"
    like = next((s for s in siblings if s.get("purpose") == purpose), siblings[0] if siblings else {})
    value: dict[str, Any] = {
        "name": name if name.startswith("snet-") else f"snet-{name}",
        "addressPrefix": prefix,
        "purpose": purpose,
        "networkSecurityGroup": like.get("networkSecurityGroup", ""),
        "routeTable": value_at(configuration, ("routeTable", "name")),
        "privateEndpointNetworkPolicies": "Disabled" if purpose == "privateLink" else "Enabled",
        "serviceEndpoints": [],
    }
    if purpose == "privateLink":
        del value["routeTable"]
    return value


def _route(text: str, offset: int, catalogue: Catalogue, configuration: Mapping[str, Any]) -> Addition | None:
    path = ("routeTable", "routes")
    prop = catalogue.at(path)
    verb = _wanted(text, prop)
    target = _CIDR.search(text)
    if verb is None or target is None or prop is None:
        return None
    kind = catalogue.at((*path, "*", "nextHopType"))
    said = next((m.member for m in members(text, kind)), None) if kind is not None else None
    if re.search(r"\b(?:drop|discard|nowhere|black ?hole)\b", text, re.IGNORECASE):
        said = "None"
    hop = said or "VirtualAppliance"
    called = re.search(r"\b(?:called|named|name)\s+[`'\"]?([a-z][a-z0-9-]+)", text, re.IGNORECASE)
    value: dict[str, Any] = {
        "name": called[1].lower() if called else f"to-{re.sub(r'[./]', '-', target.group())}",
        "addressPrefix": target.group(),
        "nextHopType": hop,
    }
    if hop == "VirtualAppliance":
        firewall = next((r["nextHopIp"] for r in value_at(configuration, path) or [] if r.get("nextHopIp")), None)
        value["nextHopIp"] = firewall
    return Addition(path, value, offset + verb.start(), offset + len(text))


def _endpoint(text: str, offset: int, catalogue: Catalogue, configuration: Mapping[str, Any]) -> Addition | None:
    path = ("privateEndpoints",)
    prop, kind = catalogue.at(path), catalogue.at((*path, "*", "service"))
    verb = _wanted(text, prop)
    if verb is None or kind is None or prop is None or not _is_door(text, prop):
        return None
    tail = text[verb.start() :]
    service = next((m.member for m in members(tail, kind)), None) or _service(tail)
    links = [
        s for s in value_at(configuration, ("virtualNetwork", "subnets")) or [] if s.get("purpose") == "privateLink"
    ]
    if service is None or not links:
        return None
    called = _CALLED.search(tail)
    name = (called["name"] or called["bare"]).lower() if called else f"pe-{service.lower()}"
    value = {
        "name": name if name.startswith("pe-") else f"pe-{name}",
        "subnet": links[0]["name"],
        "service": service,
        "dnsZone": ZONES.get(service, ""),
    }
    return Addition(path, value, offset + verb.start(), offset + len(text))


def _is_door(text: str, prop: Property) -> bool:
    # "service endpoint" is another thing, which also ends in "endpoint".
    if re.search(r"\bprivate (?:link )?endpoint", text, re.IGNORECASE) or prop.path[-1] in text:
        return True
    others = heads(prop) - {"endpoint"}
    return any(re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) for word in others)


def _service(text: str) -> str | None:
    return next((name for name, words in _SERVICES if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)), None)


_SERVICES = (
    ("vault", r"key ?vault|vault|secrets?|keys"),
    ("sqlServer", r"sql(?: server| database)?"),
    ("cosmosSql", r"cosmos(?: ?db)?"),
    ("serviceBus", r"service ?bus"),
    ("eventHub", r"event ?hubs?"),
    ("registry", r"(?:container )?registry|images"),
    ("redis", r"redis|cache"),
    ("webApp", r"web ?app|app service"),
    ("dfs", r"data lake|dfs"),
    ("file", r"file share|files?"),
    ("blob", r"blobs?|storage(?: account)?"),
)
# Azure's own names of the zones, the same for everybody.
ZONES = {
    "blob": "privatelink.blob.core.windows.net",
    "file": "privatelink.file.core.windows.net",
    "dfs": "privatelink.dfs.core.windows.net",
    "sqlServer": "privatelink.database.windows.net",
    "cosmosSql": "privatelink.documents.azure.com",
    "vault": "privatelink.vaultcore.azure.net",
    "registry": "privatelink.azurecr.io",
    "serviceBus": "privatelink.servicebus.windows.net",
    "eventHub": "privatelink.servicebus.windows.net",
    "webApp": "privatelink.azurewebsites.net",
    "redis": "privatelink.redis.cache.windows.net",
}
