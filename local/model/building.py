"""Building a configuration: the source, moved to its new place, with the changes that were asked for."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .addresses import AddressProblem, free_place, network, rebase, shift
from .changes import Change
from .consequences import Forced, Limit, crossed_limits, settle
from .places import stage_of
from .slots import ADDRESS_SPACE, Path, pointer, value_at


@dataclass(frozen=True)
class Target:
    """Where a copy goes. `spaces` and `region` None: as in the source (a change of the source itself)."""

    name: str
    spaces: tuple[str, ...] | None = None
    region: str | None = None


@dataclass(frozen=True)
class Built:
    """A configuration and how it came about: `followed` was forced by the schema, `limits` still need a decision."""

    configuration: dict[str, Any]
    followed: tuple[Forced, ...] = ()
    limits: tuple[Limit, ...] = ()
    notes: tuple[str, ...] = field(default=())


def build(
    source: Mapping[str, Any],
    target: Target,
    changes: Sequence[Change],
    conditions: Mapping[str, Any] | None,
    neighbour: Mapping[str, Any] | None = None,
) -> Built:
    """Copy the source to its target and apply the changes.

    Args:
        source: the configuration to start from; it is not changed.
        target: the new name and what else places the copy.
        changes: what the developer asked for, in order.
        conditions: the schema's conditions, for what follows from the changes; None to let nothing follow.
        neighbour: a spoke in the target's region, when that is another one than the source's.

    Raises:
        AddressProblem: the address ranges can not be used.
    """
    notes: list[str] = []
    result: dict[str, Any] = copy.deepcopy(dict(source))
    result["name"] = target.name
    environment = stage_of(target.name)
    if environment is not None:
        result["environment"] = environment
    if target.region is not None and target.region != source.get("region"):
        result = _moved(result, target.region, neighbour, notes)
    if target.spaces is not None:
        result = _rebased(result, target.spaces, notes)
    apply(result, changes)
    followed: list[Forced] = []
    limits: list[Limit] = []
    if conditions is not None:
        asked = frozenset(change.path for change in changes)
        result, followed = settle(conditions, result, asked)
        limits = [limit for limit in crossed_limits(conditions, result) if limit.path not in asked]
    return Built(result, tuple(followed), tuple(limits), tuple(notes))


def raised(built: Built) -> Built:
    """The same with every number that is too low put to the lowest that is allowed."""
    for limit in built.limits:
        put(built.configuration, limit.path, limit.minimum)
    notes = [f"{pointer(limit.path)} is {limit.minimum}, the lowest that is allowed here" for limit in built.limits]
    return replace(built, limits=(), notes=(*built.notes, *notes))


def _moved(
    result: dict[str, Any], region: str, neighbour: Mapping[str, Any] | None, notes: list[str]
) -> dict[str, Any]:
    """Into another region: its hub, resolvers and firewall, as a spoke there has them."""
    result["region"] = region
    if neighbour is None:
        result["hubPeering"]["hub"] = f"hub-{region}"
        return result
    here, there = _firewall(result), _firewall(neighbour)
    if here and there:
        moved: dict[str, Any] = shift(result, here, there)
        result = moved
    result["hubPeering"]["hub"] = value_at(neighbour, ("hubPeering", "hub"))
    result["virtualNetwork"]["dnsServers"] = list(value_at(neighbour, ("virtualNetwork", "dnsServers")) or [])
    notes.append(f"hub, resolvers and firewall are those of {region}, as in {neighbour.get('name')}")
    return result


def _firewall(configuration: Mapping[str, Any]) -> str | None:
    routes = value_at(configuration, ("routeTable", "routes")) or []
    return next((route["nextHopIp"] for route in routes if route.get("nextHopIp")), None)


def _rebased(result: dict[str, Any], spaces: Sequence[str], notes: list[str]) -> dict[str, Any]:
    aligned = []
    for text in spaces:
        found = network(text)
        if found is None:
            raise AddressProblem(f"{text} is not an address range such as 10.0.0.0/24.")
        if str(found) != text:
            notes.append(f"{text} is written with its first address, {found}")
        aligned.append(str(found))
    old = value_at(result, ADDRESS_SPACE) or []
    moved: dict[str, Any] = rebase(
        {**result, "virtualNetwork": {**result["virtualNetwork"], "addressSpace": []}}, old, aligned
    )
    moved["virtualNetwork"]["addressSpace"] = aligned
    return moved


def apply(configuration: dict[str, Any], changes: Sequence[Change]) -> None:
    """Apply changes in place; removals last and from the back, so that places stay what they were."""
    for change in changes:
        if change.operation == "set" and change.path != ADDRESS_SPACE:
            put(configuration, change.path, copy.deepcopy(change.value))
        elif change.operation == "add":
            _add(configuration, change)
    removals = [change for change in changes if change.operation == "remove"]
    for change in sorted(removals, key=lambda c: json.dumps([str(p).zfill(6) for p in c.path]), reverse=True):
        _remove(configuration, change)


def _add(configuration: dict[str, Any], change: Change) -> None:
    value = copy.deepcopy(change.value)
    owner = value_at(configuration, change.path)
    if owner is None:
        parent = value_at(configuration, change.path[:-1])
        if not isinstance(parent, dict):
            return
        owner = parent.setdefault(str(change.path[-1]), [])
    if not isinstance(owner, list) or value in owner:
        return
    if isinstance(value, dict) and str(value.get("addressPrefix", "")).startswith("/"):
        taken = [str(item.get("addressPrefix")) for item in owner]
        value["addressPrefix"] = free_place(value["addressPrefix"], value_at(configuration, ADDRESS_SPACE) or [], taken)
    owner.insert(len(owner) if change.at is None else change.at, value)
    zone = value.get("dnsZone") if isinstance(value, dict) else None
    zones = configuration.get("privateDnsZones")
    # A private endpoint is of no use when its zone is not linked.
    if zone and isinstance(zones, list) and zone not in zones:
        zones.append(zone)


def _remove(configuration: dict[str, Any], change: Change) -> None:
    found = value_at(configuration, change.path)
    if change.value is not None and isinstance(found, list):
        found[:] = [item for item in found if item != change.value]
        return
    owner = value_at(configuration, change.path[:-1])
    key = change.path[-1]
    if isinstance(owner, dict):
        owner.pop(key, None)
    elif isinstance(owner, list) and isinstance(key, int) and key < len(owner):
        del owner[key]


def put(configuration: dict[str, Any], path: Path, value: Any) -> None:
    """Set what stands at a path; nothing happens when there is no such place."""
    owner = value_at(configuration, path[:-1])
    key = path[-1]
    in_list = isinstance(owner, list) and isinstance(key, int) and key < len(owner)
    if isinstance(owner, dict) or in_list:
        owner[key] = value


def differences(source: Any, result: Any, path: Path = ()) -> list[str]:
    """What differs, one line for each place, as `pointer: old -> new`."""
    if source == result:
        return []
    if isinstance(source, Mapping) and isinstance(result, Mapping):
        lines = []
        for key in [*source, *(key for key in result if key not in source)]:
            if key not in result:
                lines.append(f"{pointer((*path, key))}: removed")
            elif key not in source:
                lines.append(f"{pointer((*path, key))}: {_short(result[key])} (new)")
            else:
                lines += differences(source[key], result[key], (*path, key))
        return lines
    if (
        isinstance(source, list)
        and isinstance(result, list)
        and all(isinstance(i, Mapping) and "name" in i for i in [*source, *result])
    ):
        old, new = {i["name"]: i for i in source}, {i["name"]: i for i in result}
        lines = [f"{pointer(path)}: {name} removed" for name in old if name not in new]
        for name, item in new.items():
            if name in old:
                lines += differences(old[name], item, (*path, name))
            else:
                lines.append(f"{pointer(path)}: {name} added")
        return lines
    return [f"{pointer(path)}: {_short(source)} -> {_short(result)}"]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"
