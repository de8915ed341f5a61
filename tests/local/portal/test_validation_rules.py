"""Every rule of the validation, broken on its own in a spoke that is otherwise valid."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from local.portal import validation
from local.portal.state import PortalState
from local.portal.validation import validate

Spoke = dict[str, Any]
Change = Callable[[Spoke], object]

SOURCE = "spoke-webshop-dev"
SUBNET = "/virtualNetwork/subnets"
GROUPS = "/networkSecurityGroups"


def rule(**changes: Any) -> dict[str, Any]:
    """A harmless inbound rule with some things changed."""
    harmless = {
        "name": "allow-more",
        "priority": 300,
        "direction": "Inbound",
        "access": "Allow",
        "protocol": "Tcp",
        "source": "VirtualNetwork",
        "destination": "VirtualNetwork",
        "port": "8443",
    }
    return harmless | changes


def subnet(spoke: Spoke, index: int) -> dict[str, Any]:
    found: dict[str, Any] = spoke["virtualNetwork"]["subnets"][index]
    return found


def rules(spoke: Spoke, index: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spoke["networkSecurityGroups"][index]["rules"]
    return found


def moved(spoke: Spoke, space: str, *prefixes: str) -> None:
    spoke["virtualNetwork"]["addressSpace"] = [space]
    for index, prefix in enumerate(prefixes):
        subnet(spoke, index)["addressPrefix"] = prefix


def add_subnet(spoke: Spoke, **changes: Any) -> None:
    extra = copy.deepcopy(subnet(spoke, 0)) | {"name": "snet-more", "addressPrefix": "10.64.24.192/27"} | changes
    spoke["virtualNetwork"]["subnets"].append(extra)


# name of the fault, what is changed, and the (rule, pointer) pairs that must be reported, and nothing else
FAULTS: list[tuple[str, Change, list[tuple[str, str]]]] = [
    (
        "a range that is not written with its first address",
        lambda s: subnet(s, 2).update(addressPrefix="10.64.24.130/27"),
        [("range.aligned", f"{SUBNET}/2/addressPrefix")],
    ),
    (
        "an address space that is too large",
        lambda s: moved(s, "10.68.0.0/16", "10.68.0.0/26", "10.68.0.64/26", "10.68.0.128/27"),
        [("addressSpace.size", "/virtualNetwork/addressSpace/0")],
    ),
    (
        "an address space that is too small",
        lambda s: s["virtualNetwork"]["addressSpace"].append("10.64.25.0/28"),
        [("addressSpace.size", "/virtualNetwork/addressSpace/1")],
    ),
    (
        "an address space of another region",
        lambda s: moved(s, "10.80.40.0/24", "10.80.40.0/26", "10.80.40.64/26", "10.80.40.128/27"),
        [("addressSpace.region", "/virtualNetwork/addressSpace/0")],
    ),
    (
        "an address space in the hub's range",
        lambda s: moved(s, "10.64.1.0/24", "10.64.1.0/26", "10.64.1.64/26", "10.64.1.128/27"),
        [("addressSpace.region", "/virtualNetwork/addressSpace/0")],
    ),
    (
        "an address space inside that of another spoke",
        lambda s: moved(s, "10.64.17.0/24", "10.64.17.0/26", "10.64.17.64/26", "10.64.17.128/27"),
        [("addressSpace.overlap", "/virtualNetwork/addressSpace/0")],
    ),
    (
        "an address space around that of another spoke",
        lambda s: s["virtualNetwork"]["addressSpace"].append("10.64.28.0/22"),
        [("addressSpace.overlap", "/virtualNetwork/addressSpace/1")],
    ),
    (
        "two ranges of one spoke that overlap",
        lambda s: s["virtualNetwork"]["addressSpace"].append("10.64.24.0/25"),
        [("addressSpace.overlap", "/virtualNetwork/addressSpace/1")],
    ),
    (
        "a subnet outside the address space",
        lambda s: subnet(s, 2).update(addressPrefix="10.64.25.0/27"),
        [("subnet.inside", f"{SUBNET}/2/addressPrefix")],
    ),
    (
        "two subnets that overlap",
        lambda s: subnet(s, 2).update(addressPrefix="10.64.24.64/27"),
        [("subnet.overlap", f"{SUBNET}/2/addressPrefix")],
    ),
    (
        "a subnet whose security group does not exist",
        lambda s: subnet(s, 0).update(networkSecurityGroup="nsg-nowhere"),
        [("subnet.securityGroup", f"{SUBNET}/0/networkSecurityGroup")],
    ),
    (
        "a security group that was taken away",
        lambda s: s["networkSecurityGroups"].pop(1),
        [("subnet.securityGroup", f"{SUBNET}/1/networkSecurityGroup")],
    ),
    (
        "a subnet without a security group",
        lambda s: subnet(s, 0).pop("networkSecurityGroup"),
        [("schema.required", f"{SUBNET}/0")],
    ),
    (
        "a security group without rules",
        lambda s: rules(s).clear(),
        [("schema.minItems", f"{GROUPS}/0/rules")],
    ),
    (
        "a subnet with a foreign route table",
        lambda s: subnet(s, 0).update(routeTable="rt-other"),
        [("subnet.routeTable", f"{SUBNET}/0/routeTable")],
    ),
    (
        "a private link subnet with policies",
        lambda s: subnet(s, 2).update(privateEndpointNetworkPolicies="Enabled"),
        [("privateLink.policies", f"{SUBNET}/2/privateEndpointNetworkPolicies")],
    ),
    (
        "another subnet without policies",
        lambda s: subnet(s, 0).update(privateEndpointNetworkPolicies="Disabled"),
        [("privateLink.policies", f"{SUBNET}/0/privateEndpointNetworkPolicies")],
    ),
    (
        "a private endpoint in a subnet that does not exist",
        lambda s: s["privateEndpoints"][0].update(subnet="snet-nowhere"),
        [("privateEndpoint.subnet", "/privateEndpoints/0/subnet")],
    ),
    (
        "a private endpoint in a subnet of another purpose",
        lambda s: s["privateEndpoints"][0].update(subnet="snet-front"),
        [("privateEndpoint.subnet", "/privateEndpoints/0/subnet")],
    ),
    (
        "a private endpoint whose zone is not listed",
        lambda s: s["privateDnsZones"].clear(),
        [("privateEndpoint.zone", "/privateEndpoints/0/dnsZone")],
    ),
    (
        "a private endpoint with the zone of another service",
        lambda s: s["privateEndpoints"][0].update(dnsZone="privatelink.blob.core.windows.net"),
        [("privateEndpoint.zone", "/privateEndpoints/0/dnsZone")],
    ),
    (
        "RDP open to the internet",
        lambda s: rules(s).append(rule(source="Internet", port="3389")),
        [("securityGroup.openAdministration", f"{GROUPS}/0/rules/3/source")],
    ),
    (
        "RDP open to everyone inside a span of ports",
        lambda s: rules(s).append(rule(source="*", port="3000-4000")),
        [("securityGroup.openAdministration", f"{GROUPS}/0/rules/3/source")],
    ),
    (
        "SSH open to a public range",
        lambda s: rules(s).append(rule(source="8.8.0.0/16", port="22")),
        [("securityGroup.openAdministration", f"{GROUPS}/0/rules/3/source")],
    ),
    (
        "SSH open to half of all addresses",
        lambda s: rules(s).append(rule(source="0.0.0.0/1", port="22")),
        [("securityGroup.openAdministration", f"{GROUPS}/0/rules/3/source")],
    ),
    (
        "every port open to the internet",
        lambda s: rules(s).append(rule(source="Internet", port="*", protocol="*")),
        [("securityGroup.openToAll", f"{GROUPS}/0/rules/3/port")],
    ),
    (
        "a security group that does not end with a prohibition",
        lambda s: rules(s).pop(),
        [("securityGroup.closing", f"{GROUPS}/0/rules")],
    ),
    (
        "a security group with a permission behind its prohibition",
        lambda s: rules(s)[-1].update(priority=150),
        [("securityGroup.closing", f"{GROUPS}/0/rules")],
    ),
    (
        "a prohibition that covers one protocol only",
        lambda s: rules(s)[-1].update(protocol="Tcp"),
        [("securityGroup.closing", f"{GROUPS}/0/rules")],
    ),
    (
        "two rules of one direction with the same priority",
        lambda s: rules(s).append(rule(priority=100)),
        [("securityGroup.priorities", f"{GROUPS}/0/rules/3/priority")],
    ),
    (
        "two subnets of one name",
        lambda s: add_subnet(s, name="snet-front"),
        [("names.unique", f"{SUBNET}/3/name")],
    ),
    (
        "two rules of one name",
        lambda s: rules(s).append(rule(name="allow-https-from-spoke")),
        [("names.unique", f"{GROUPS}/0/rules/3/name")],
    ),
    (
        "the hub of another region",
        lambda s: s["hubPeering"].update(hub="hub-northeurope"),
        [("hub.region", "/hubPeering/hub")],
    ),
    (
        "a route to something that is not the hub's firewall",
        lambda s: s["routeTable"]["routes"][0].update(nextHopIp="10.64.24.4"),
        [("route.firewall", "/routeTable/routes/0/nextHopIp")],
    ),
    (
        "a route past the firewall",
        lambda s: s["routeTable"].update(
            routes=[{"name": "out", "addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"}]
        ),
        [("route.firewall", "/routeTable/routes/0/nextHopType")],
    ),
    # rules of the schema that look at two places at once
    ("a stage that the name does not tell", lambda s: s.update(environment="test"), [("schema.pattern", "/name")]),
    (
        "confidential data that is not watched",
        lambda s: s.update(dataClassification="confidential"),
        [("schema.const", "/monitoring/diagnosticSettings")],
    ),
    (
        "restricted data whose records are not kept long enough",
        lambda s: s.update(dataClassification="restricted", monitoring=s["monitoring"] | {"diagnosticSettings": True}),
        [("schema.minimum", "/monitoring/logRetentionDays")],
    ),
    (
        "copies that can not be restored",
        lambda s: s["backup"].update(enabled=True),
        [("schema.minimum", "/backup/retentionDays")],
    ),
    (
        "a retention without copies",
        lambda s: s["backup"].update(retentionDays=14),
        [("schema.const", "/backup/retentionDays")],
    ),
    (
        "a gateway of its own beside the hub's",
        lambda s: s["hubPeering"].update(allowGatewayTransit=True),
        [("schema.const", "/hubPeering/allowGatewayTransit")],
    ),
    (
        "a route to an appliance without its address",
        lambda s: s["routeTable"]["routes"][0].pop("nextHopIp"),
        [("schema.required", "/routeTable/routes/0")],
    ),
    (
        "a route to nowhere with an address",
        lambda s: s["routeTable"]["routes"][0].update(nextHopType="None"),
        [("schema.not", "/routeTable/routes/0/nextHopIp")],
    ),
    (
        "an application subnet without a route table",
        lambda s: subnet(s, 0).pop("routeTable"),
        [("schema.required", f"{SUBNET}/0")],
    ),
    (
        "a private link subnet with service endpoints",
        lambda s: subnet(s, 2).update(serviceEndpoints=["Microsoft.Sql"]),
        [("schema.maxItems", f"{SUBNET}/2/serviceEndpoints")],
    ),
    # plain schema and formats
    ("a property that is not known", lambda s: s.update(colour="blue"), [("schema.additionalProperties", "")]),
    ("a cost centre of a wrong form", lambda s: s.update(costCenter="CC-12"), [("schema.pattern", "/costCenter")]),
    ("a day that does not exist", lambda s: s.update(reviewDate="2027-02-30"), [("schema.format", "/reviewDate")]),
    (
        "a time without its offset",
        lambda s: s["maintenanceWindow"].update(startTime="22:00:00"),
        [("schema.format", "/maintenanceWindow/startTime")],
    ),
    ("a mailbox that is none", lambda s: s["owner"].update(email="nobody"), [("schema.format", "/owner/email")]),
    (
        "a resolver that is no address",
        lambda s: s["virtualNetwork"].update(dnsServers=["10.64.1.400"]),
        [("schema.format", "/virtualNetwork/dnsServers/0")],
    ),
    (
        "a range that is none",
        lambda s: s["virtualNetwork"].update(addressSpace=["10.64.24.0/33"]),
        [("schema.pattern", "/virtualNetwork/addressSpace/0")],
    ),
    (
        "a source that is neither range nor tag",
        lambda s: rules(s)[0].update(source="everyone"),
        [("schema.anyOf", f"{GROUPS}/0/rules/0/source")],
    ),
]


def found(state: PortalState, spoke: Spoke, source: str | None = SOURCE) -> list[tuple[str, str]]:
    return [(problem.rule, problem.pointer) for problem in validate(spoke, source, state.catalogue.snapshot())]


@pytest.fixture
def spoke(state: PortalState) -> Spoke:
    return copy.deepcopy(state.catalogue.snapshot().spokes[SOURCE].configuration)


@pytest.mark.parametrize(("fault", "change", "expected"), FAULTS, ids=[fault for fault, _, _ in FAULTS])
def test_one_fault_is_reported_where_it_is(
    state: PortalState, spoke: Spoke, fault: str, change: Change, expected: list[tuple[str, str]]
) -> None:
    assert found(state, spoke) == [], "the spoke must be valid before"
    change(spoke)
    assert found(state, spoke) == expected, fault


def test_every_rule_that_the_module_names_is_broken_here() -> None:
    named = set(re.findall(r"`([a-zA-Z]+\.[a-zA-Z]+)`", validation.__doc__ or ""))
    broken = {rule for _, _, expected in FAULTS for rule, _ in expected if not rule.startswith("schema.")}
    assert named == broken | {"source.exists", "name.free"}


def test_production_needs_copies_and_records(state: PortalState) -> None:
    spoke = copy.deepcopy(state.catalogue.snapshot().spokes["spoke-reporting-prod"].configuration)
    spoke["backup"] = {"enabled": False, "retentionDays": 0}
    spoke["monitoring"]["logRetentionDays"] = 30
    assert found(state, spoke, "spoke-reporting-prod") == [
        ("schema.const", "/backup/enabled"),
        ("schema.minimum", "/backup/retentionDays"),
        ("schema.minimum", "/monitoring/logRetentionDays"),
    ]


def test_a_copy_needs_a_free_name(state: PortalState, spoke: Spoke) -> None:
    assert found(state, spoke, "spoke-crm-test") == [("name.free", "/name")]
    assert found(state, spoke, None) == [("name.free", "/name")]


def test_a_copy_that_keeps_the_addresses_of_its_source_overlaps_with_it(state: PortalState, spoke: Spoke) -> None:
    spoke["name"] = "spoke-outlet-dev"
    assert found(state, spoke) == [("addressSpace.overlap", "/virtualNetwork/addressSpace/0")]


def test_a_copy_with_a_name_and_addresses_of_its_own_is_valid(state: PortalState, spoke: Spoke) -> None:
    spoke["name"] = "spoke-outlet-dev"
    moved(spoke, "10.64.40.0/24", "10.64.40.0/26", "10.64.40.64/26", "10.64.40.128/27")
    assert found(state, spoke) == []


def test_a_source_that_does_not_exist_is_an_error(state: PortalState, spoke: Spoke) -> None:
    spoke["name"] = "spoke-outlet-dev"
    moved(spoke, "10.64.40.0/24", "10.64.40.0/26", "10.64.40.64/26", "10.64.40.128/27")
    assert found(state, spoke, "spoke-ghost-dev") == [("source.exists", "")]


def test_an_empty_configuration_is_told_everything_that_is_missing(state: PortalState) -> None:
    problems = validate({}, None, state.catalogue.snapshot())
    assert len(problems) == 17
    assert {problem.rule for problem in problems} == {"schema.required"}


def test_a_message_says_both_sides_of_an_overlap(state: PortalState, spoke: Spoke) -> None:
    moved(spoke, "10.64.17.0/24", "10.64.17.0/26", "10.64.17.64/26", "10.64.17.128/27")
    [problem] = validate(spoke, SOURCE, state.catalogue.snapshot())
    assert problem.message == "10.64.17.0/24 overlaps with 10.64.16.0/22 of spoke-webshop-prod"


def test_a_message_stays_short_however_long_the_value_is(state: PortalState, spoke: Spoke) -> None:
    spoke["costCenter"] = "x" * 100_000
    spoke["tags"] = {"a": 1, "b": ["y" * 100_000]}
    for problem in validate(spoke, SOURCE, state.catalogue.snapshot()):
        assert len(problem.message) <= 500
