"""What the platform itself lays down: regions with their hubs and address blocks, and the domain of each service."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
"""Schema, seed spokes, documentation and platform facts, as shipped."""


@dataclass(frozen=True)
class Region:
    """One region. Spokes take ranges inside `supernet`, but none of `hub_range`."""

    name: str
    hub: str
    supernet: ipaddress.IPv4Network
    hub_range: ipaddress.IPv4Network
    firewall: ipaddress.IPv4Address
    dns_servers: tuple[str, ...]


@dataclass(frozen=True)
class PlatformFacts:
    """Regions by name, and the private link domain that belongs to each kind of service."""

    regions: Mapping[str, Region]
    private_link_zones: Mapping[str, str]


@cache
def platform_facts() -> PlatformFacts:
    """Read `data/platform.json`."""
    raw = json.loads((DATA / "platform.json").read_text(encoding="utf-8"))
    regions = {
        name: Region(
            name=name,
            hub=entry["hub"],
            supernet=ipaddress.IPv4Network(entry["supernet"]),
            hub_range=ipaddress.IPv4Network(entry["hubRange"]),
            firewall=ipaddress.IPv4Address(entry["firewall"]),
            dns_servers=tuple(entry["dnsServers"]),
        )
        for name, entry in raw["regions"].items()
    }
    return PlatformFacts(regions, raw["privateLinkZones"])


def seed_spokes() -> dict[str, bytes]:
    """The files of the seeded repository by path, `spokes/<name>.json`."""
    return {f"spokes/{file.name}": file.read_bytes() for file in sorted((DATA / "spokes").glob("*.json"))}
