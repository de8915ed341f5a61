"""Platform rules about what is inside the network: hub, security groups, private link, routes, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from local.portal.platform_facts import PlatformFacts, Region
from local.portal.problems import Problem, pointer, repeated

ADMINISTRATION_PORTS = {22: "SSH", 3389: "RDP"}
_ANYWHERE = frozenset({"*", "Internet"})
_PRIVATE = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))

Configuration = Mapping[str, Any]


def network_problems(configuration: Configuration, region: Region, facts: PlatformFacts) -> Iterator[Problem]:
    """What is wrong inside the spoke's network. The configuration fits the schema."""
    yield from _unique_names(configuration)
    yield from _hub(configuration, region)
    yield from _subnets(configuration)
    for index, group in enumerate(configuration["networkSecurityGroups"]):
        yield from _security_group(index, group)
    yield from _private_endpoints(configuration, facts)
    yield from _routes(configuration, region)


def _unique_names(configuration: Configuration) -> Iterator[Problem]:
    lists = [
        (("virtualNetwork", "subnets"), configuration["virtualNetwork"]["subnets"]),
        (("privateEndpoints",), configuration["privateEndpoints"]),
        (("networkSecurityGroups",), configuration["networkSecurityGroups"]),
        (("routeTable", "routes"), configuration["routeTable"]["routes"]),
    ]
    for index, group in enumerate(configuration["networkSecurityGroups"]):
        lists.append((("networkSecurityGroups", str(index), "rules"), group["rules"]))
    for path, items in lists:
        for index, name in repeated(item["name"] for item in items).items():
            yield Problem(pointer(*path, index, "name"), "names.unique", f"{name} stands twice in {'/'.join(path)}")


def _hub(configuration: Configuration, region: Region) -> Iterator[Problem]:
    hub = configuration["hubPeering"]["hub"]
    if hub != region.hub:
        yield Problem(
            pointer("hubPeering", "hub"), "hub.region", f"a spoke in {region.name} peers with {region.hub}, not {hub}"
        )


def _subnets(configuration: Configuration) -> Iterator[Problem]:
    groups = {group["name"] for group in configuration["networkSecurityGroups"]}
    table = configuration["routeTable"]["name"]
    for index, subnet in enumerate(configuration["virtualNetwork"]["subnets"]):
        at = ("virtualNetwork", "subnets", index)
        if subnet["networkSecurityGroup"] not in groups:
            yield Problem(
                pointer(*at, "networkSecurityGroup"),
                "subnet.securityGroup",
                f"{subnet['name']} refers to {subnet['networkSecurityGroup']}, which is no network security group of "
                "this spoke",
            )
        if subnet.get("routeTable", table) != table:
            yield Problem(
                pointer(*at, "routeTable"),
                "subnet.routeTable",
                f"{subnet['name']} refers to {subnet['routeTable']}; the route table of this spoke is {table}",
            )
        expected = "Disabled" if subnet["purpose"] == "privateLink" else "Enabled"
        if subnet["privateEndpointNetworkPolicies"] != expected:
            yield Problem(
                pointer(*at, "privateEndpointNetworkPolicies"),
                "privateLink.policies",
                f"a subnet with purpose {subnet['purpose']} has privateEndpointNetworkPolicies {expected}",
            )


def _security_group(index: int, group: Configuration) -> Iterator[Problem]:
    taken: dict[tuple[str, int], str] = {}
    closing, last_inbound = 0, 0
    for at, rule in enumerate(group["rules"]):
        where = pointer("networkSecurityGroups", index, "rules", at)
        slot = (rule["direction"], rule["priority"])
        if slot in taken:
            yield Problem(
                f"{where}/priority",
                "securityGroup.priorities",
                f"{rule['name']} has the priority {rule['priority']} of {taken[slot]} in {group['name']}",
            )
        taken[slot] = rule["name"]
        if rule["direction"] != "Inbound":
            continue
        last_inbound = max(last_inbound, rule["priority"])
        if (
            rule["access"] == "Deny"
            and rule["protocol"] == rule["source"] == rule["destination"] == rule["port"] == "*"
        ):
            closing = rule["priority"]
        yield from _open_to_anyone(where, group["name"], rule)
    if not closing or closing < last_inbound:
        yield Problem(
            pointer("networkSecurityGroups", index, "rules"),
            "securityGroup.closing",
            f"{group['name']} must end with an inbound rule that denies everything (protocol, source, destination and "
            "port *, and the highest priority number of its inbound rules)",
        )


def _open_to_anyone(where: str, group: str, rule: Configuration) -> Iterator[Problem]:
    if rule["access"] != "Allow" or not _from_anywhere(rule["source"]):
        return
    if rule["port"] == "*":
        yield Problem(
            f"{where}/port",
            "securityGroup.openToAll",
            f"{rule['name']} of {group} opens every port to {rule['source']}",
        )
        return
    low, _, high = rule["port"].partition("-")
    for port, protocol in ADMINISTRATION_PORTS.items():
        if int(low) <= port <= int(high or low):
            yield Problem(
                f"{where}/source",
                "securityGroup.openAdministration",
                f"{rule['name']} of {group} opens port {port} ({protocol}) to {rule['source']}; allow the hub's "
                "bastion instead",
            )


def _from_anywhere(source: str) -> bool:
    """Whether this means the internet: by its tag, or as a range that does not lie inside the private networks."""
    if source in _ANYWHERE:
        return True
    try:
        cidr = IPv4Network(source, strict=False)
    except ValueError:
        return False
    return not any(cidr.subnet_of(private) for private in _PRIVATE)


def _private_endpoints(configuration: Configuration, facts: PlatformFacts) -> Iterator[Problem]:
    purposes = {subnet["name"]: subnet["purpose"] for subnet in configuration["virtualNetwork"]["subnets"]}
    listed = set(configuration["privateDnsZones"])
    for index, endpoint in enumerate(configuration["privateEndpoints"]):
        subnet, zone, service = endpoint["subnet"], endpoint["dnsZone"], endpoint["service"]
        if purposes.get(subnet) != "privateLink":
            problem = "is not a subnet of this spoke" if subnet not in purposes else "does not have purpose privateLink"
            yield Problem(
                pointer("privateEndpoints", index, "subnet"),
                "privateEndpoint.subnet",
                f"{endpoint['name']} is placed in {subnet}, which {problem}",
            )
        expected = facts.private_link_zones[service]
        if zone != expected:
            yield Problem(
                pointer("privateEndpoints", index, "dnsZone"),
                "privateEndpoint.zone",
                f"{endpoint['name']} serves {service}, whose zone is {expected}, not {zone}",
            )
        elif zone not in listed:
            yield Problem(
                pointer("privateEndpoints", index, "dnsZone"),
                "privateEndpoint.zone",
                f"{endpoint['name']} needs {zone}, which is not listed in privateDnsZones",
            )


def _routes(configuration: Configuration, region: Region) -> Iterator[Problem]:
    for index, route in enumerate(configuration["routeTable"]["routes"]):
        if route["nextHopType"] == "VirtualAppliance" and route["nextHopIp"] != str(region.firewall):
            yield Problem(
                pointer("routeTable", "routes", index, "nextHopIp"),
                "route.firewall",
                f"{route['name']} leads to {route['nextHopIp']}; the firewall of {region.hub} is {region.firewall}",
            )
        if route["nextHopType"] == "Internet":
            yield Problem(
                pointer("routeTable", "routes", index, "nextHopType"),
                "route.firewall",
                f"{route['name']} goes to the internet past the firewall of {region.hub}",
            )
