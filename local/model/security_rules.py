"""A rule of a network security group, read from a sentence ("allow TCP 8443 from 10.0.0.0/24 to the front subnet")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_PORT = re.compile(
    r"\bports?\s*(?:number\s*|range\s*)?:?\s*(?P<a>\d{1,5}(?:\s*(?:-|to)\s*\d{1,5})?)|\b(?:tcp|"
    r"udp)[\s/]*(?P<b>\d{1,5}(?:-\d{1,5})?)\b",
    re.IGNORECASE,
)
_KNOWN_PORTS = {
    "https": "443",
    "http": "80",
    "ssh": "22",
    "rdp": "3389",
    "postgres": "5432",
    "amqp": "5671-5672",
    "kafka": "9093",
}
_CIDR = r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}"
_PARTIES = {
    "internet": "Internet",
    "the internet": "Internet",
    "anywhere": "*",
    "everywhere": "*",
    "anyone": "*",
    "any source": "*",
    "any address": "*",
    "any": "*",
    "all": "*",
    "everybody": "*",
    "virtual network": "VirtualNetwork",
    "virtualnetwork": "VirtualNetwork",
    "the spoke": "VirtualNetwork",
    "load balancer": "AzureLoadBalancer",
    "azureloadbalancer": "AzureLoadBalancer",
    "*": "*",
}
_PARTY = "|".join([_CIDR, *(re.escape(word) for word in sorted(_PARTIES, key=len, reverse=True))])
_NAMED = re.compile(r"\b(?:called|named|name)\s+[`'\"]?(?P<name>[a-z][a-z0-9-]+)", re.IGNORECASE)
_LABEL = re.compile(
    r"\b(?:rule|permission|prohibition)\s+[`'\"](?P<name>[a-z][a-z0-9-]+)[`'\"]|(?<![\w-])(?P<bare>(?:allow|"
    r"deny)-[a-z0-9-]+)"
)
CLOSING = {
    "name": "deny-other-inbound",
    "priority": 4096,
    "direction": "Inbound",
    "access": "Deny",
    "protocol": "*",
    "source": "*",
    "destination": "*",
    "port": "*",
}
"""The rule with which every group ends."""


def read_rule(text: str, siblings: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The rule that a sentence describes, or None when it names no port.

    `siblings` are the rules of its group: the new one comes after them and before those that close the group.
    """
    port = _port(text)
    if port is None:
        return None
    outbound = re.search(r"\b(?:outbound|outgoing|leav\w+|egress)\b", text, re.IGNORECASE) is not None
    deny = (
        re.search(r"\b(?:deny|block|forbid|prohibit\w*|reject)\b", re.sub(r"\bdeny-[a-z-]+", "", text), re.IGNORECASE)
        is not None
    )
    source = _party(text, r"(?:coming\s+)?from") or ("VirtualNetwork" if outbound else "")
    target = _party(text, r"(?:going\s+)?(?:to|towards)") or "VirtualNetwork"
    protocol = next((p for p in ("Udp", "Icmp", "Tcp") if re.search(rf"\b{p}\b", text, re.IGNORECASE)), "Tcp")
    direction = "Outbound" if outbound else "Inbound"
    access = "Deny" if deny else "Allow"
    rule = {
        "name": _name(text) or f"{access.lower()}-{_slug(port)}-from-{_slug(source or 'spoke')}",
        "priority": _priority(text, siblings, direction),
        "direction": direction,
        "access": access,
        "protocol": protocol,
        "source": source or "VirtualNetwork",
        "destination": target,
        "port": port,
    }
    taken = {str(other.get("name")) for other in siblings}
    return {**rule, "name": f"{rule['name']}-2"} if rule["name"] in taken else rule


def place(rules: Sequence[Mapping[str, Any]], rule: Mapping[str, Any]) -> int:
    """Where in a group's list the rule goes: before the first rule with a higher priority number."""
    for index, other in enumerate(rules):
        if int(other.get("priority", 0)) > int(rule["priority"]):
            return index
    return len(rules)


def _port(text: str) -> str | None:
    found = _PORT.search(text)
    if found:
        return re.sub(r"\s*(?:-|to)\s*", "-", found["a"] or found["b"])
    return next((port for word, port in _KNOWN_PORTS.items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)), None)


def _party(text: str, word: str) -> str | None:
    found = re.search(
        rf"\b{word}\s+(?:the\s+)?(?:range\s+|addresses?\s+(?:in\s+)?)?({_PARTY})(?![\w])", text, re.IGNORECASE
    )
    if found is None:
        return None
    said = found[1].lower()
    return _PARTIES.get(said, found[1])


def _name(text: str) -> str:
    found = _NAMED.search(text) or _LABEL.search(text)
    if found is None:
        return ""
    groups = found.groupdict()
    return (groups.get("name") or groups.get("bare") or "").rstrip("-").lower()


def _priority(text: str, siblings: Sequence[Mapping[str, Any]], direction: str) -> int:
    said = re.search(r"\bpriority\s+(?:of\s+|is\s+|=\s*|number\s+)?(\d{3,4})\b", text, re.IGNORECASE)
    if said:
        return int(said[1])
    used = [int(rule.get("priority", 0)) for rule in siblings if rule.get("direction") == direction]
    open_ones = [priority for priority in used if priority < 4000]
    number = max(open_ones, default=90) + 10
    while number in used:
        number += 1
    return number


def _slug(text: str) -> str:
    named = {"*": "anywhere", "VirtualNetwork": "spoke", "AzureLoadBalancer": "load-balancer"}.get(text, text)
    return "-".join(part for part in re.split(r"[^a-z0-9]+", named.lower()) if part)
