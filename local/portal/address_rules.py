"""Platform rules about addresses: ranges lie where they may, and nothing overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from local.portal.platform_facts import Region
from local.portal.problems import Problem, pointer

LARGEST, SMALLEST = 20, 26
"""Prefix lengths between which a range of a spoke must be."""

Configuration = Mapping[str, Any]


def address_problems(
    configuration: Configuration, region: Region, others: Mapping[str, Configuration]
) -> Iterator[Problem]:
    """What is wrong with the address space and the subnets. The configuration fits the schema.

    `others` are the spokes, by name, that it must not overlap with.
    """
    network = configuration["virtualNetwork"]
    spaces = list(_ranges(network["addressSpace"], "virtualNetwork", "addressSpace"))
    subnets = list(_ranges([subnet["addressPrefix"] for subnet in network["subnets"]], "virtualNetwork", "subnets"))
    for where, text, cidr in [*spaces, *((f"{at}/addressPrefix", text, cidr) for at, text, cidr in subnets)]:
        if cidr is None:
            aligned = IPv4Network(text, strict=False)
            yield Problem(where, "range.aligned", f"{text} is not the first address of its range; write {aligned}")
    known = [(where, cidr) for where, _, cidr in spaces if cidr is not None]
    for where, cidr in known:
        yield from _placement(where, cidr, region)
        yield from _overlap_with_others(where, cidr, others)
    yield from _overlap_inside(known, "addressSpace.overlap", "range")
    parts = [(f"{where}/addressPrefix", cidr) for where, _, cidr in subnets if cidr is not None]
    for where, cidr in parts:
        if not any(cidr.subnet_of(space) for _, space in known):
            listed = ", ".join(str(space) for _, space in known) or "(none)"
            yield Problem(where, "subnet.inside", f"{cidr} does not lie inside the address space {listed}")
    yield from _overlap_inside(parts, "subnet.overlap", "subnet")


def _ranges(texts: list[str], *path: str) -> Iterator[tuple[str, str, IPv4Network | None]]:
    for index, text in enumerate(texts):
        try:
            yield pointer(*path, index), text, IPv4Network(text)
        except ValueError:
            yield pointer(*path, index), text, None


def _placement(where: str, cidr: IPv4Network, region: Region) -> Iterator[Problem]:
    if not LARGEST <= cidr.prefixlen <= SMALLEST:
        yield Problem(
            where, "addressSpace.size", f"{cidr} is a /{cidr.prefixlen}; a range is between /{LARGEST} and /{SMALLEST}"
        )
    if not cidr.subnet_of(region.supernet):
        yield Problem(
            where, "addressSpace.region", f"{cidr} does not lie in {region.supernet}, the block of {region.name}"
        )
    elif cidr.overlaps(region.hub_range):
        yield Problem(where, "addressSpace.region", f"{cidr} overlaps with {region.hub_range}, which the hub uses")


def _overlap_with_others(where: str, cidr: IPv4Network, others: Mapping[str, Configuration]) -> Iterator[Problem]:
    for name, other in others.items():
        for text in address_space(other):
            try:
                taken = IPv4Network(text)
            except ValueError:
                continue
            if cidr.overlaps(taken):
                yield Problem(where, "addressSpace.overlap", f"{cidr} overlaps with {taken} of {name}")


def address_space(other: Configuration) -> list[str]:
    """What a spoke on `main` takes, where somebody may have merged what does not fit the schema."""
    network = other.get("virtualNetwork")
    space = network.get("addressSpace") if isinstance(network, dict) else None
    return [text for text in space if isinstance(text, str)] if isinstance(space, list) else []


def _overlap_inside(ranges: list[tuple[str, IPv4Network]], rule: str, what: str) -> Iterator[Problem]:
    for index, (where, cidr) in enumerate(ranges):
        for _, earlier in ranges[:index]:
            if cidr.overlaps(earlier):
                yield Problem(where, rule, f"{cidr} overlaps with the {what} {earlier} of the same spoke")
