"""What a copy must look like, worked out from the source without the code under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from tests.local.model.requests_of_developers import REMOVED, CopyRequest

_STAGES = {"dev": "dev", "test": "test", "acc": "acceptance", "prod": "production"}


def flat(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """All leaves by pointer; items of lists stand under their `name`."""
    found: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{path}/{key}")
        elif isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
            for item in value:
                walk(item, f"{path}/{item['name']}")
        else:
            found[path] = value

    walk(configuration, "")
    return found


def moved(text: str, old: Sequence[str], new: Sequence[str]) -> str:
    """An address or range at the same offset in the new ranges."""
    address, slash, length = text.partition("/")
    for source, target in zip(map(IPv4Network, old), map(IPv4Network, new), strict=True):
        if address.count(".") == 3 and address.replace(".", "").isdecimal() and IPv4Address(address) in source:
            shift = int(IPv4Address(address)) - int(source.network_address)
            return f"{target.network_address + shift}{slash}{length}"
    return text


def copy_of(source: Mapping[str, Any], request: CopyRequest) -> dict[str, Any]:
    """The leaves of the configuration that the request must lead to."""
    old = source["virtualNetwork"]["addressSpace"]
    leaves = {p: moved(v, old, request.space) if isinstance(v, str) else v for p, v in flat(source).items()}
    leaves["/virtualNetwork/addressSpace"] = list(request.space)
    leaves["/name"] = request.name
    leaves["/environment"] = _STAGES[request.name.rsplit("-", 1)[-1]]
    for path, value in request.changes.items():
        if value == REMOVED:
            leaves.pop(path)
        else:
            leaves[path] = value
    return leaves
