"""What the portal's validation says: the schema first, then the platform rules that a schema can not express.

Names of rules: `schema.<keyword>`, `source.exists`, `name.free`, `names.unique`, `hub.region`, `range.aligned`,
`addressSpace.size`, `addressSpace.region`, `addressSpace.overlap`, `subnet.inside`, `subnet.overlap`,
`subnet.securityGroup`, `subnet.routeTable`, `privateLink.policies`, `privateEndpoint.subnet`, `privateEndpoint.zone`,
`securityGroup.priorities`, `securityGroup.closing`, `securityGroup.openToAll`, `securityGroup.openAdministration`,
`route.firewall`. The pages under `data/docs` tell them to people.
"""

from __future__ import annotations

from typing import Any

from local.portal.address_rules import address_problems
from local.portal.network_rules import network_problems
from local.portal.platform_facts import platform_facts
from local.portal.problems import Problem, pointer
from local.portal.schema_check import schema_problems
from local.portal.spoke_catalogue import Snapshot


def validate(configuration: dict[str, Any], source_spoke: str | None, main: Snapshot) -> list[Problem]:
    """Everything that is wrong with a configuration, given the spokes on `main`. Empty means valid.

    A configuration that has the name of `source_spoke` is a change of that spoke. Any other name must be free, whether
    it is a copy of `source_spoke` or made from nothing (None). Rules about addresses and networks are looked at once
    the schema is content, because they need its shapes.
    """
    problems = []
    name = configuration.get("name")
    if source_spoke is not None and source_spoke not in main.spokes:
        problems.append(Problem("", "source.exists", f"there is no spoke {source_spoke[:80]} to start from"))
    if isinstance(name, str) and name in main.spokes and name != source_spoke:
        problems.append(
            Problem(pointer("name"), "name.free", f"{name} exists already; give it as source_spoke to change it")
        )
    schema = schema_problems(configuration)
    if schema:
        return problems + schema
    facts = platform_facts()
    region = facts.regions[configuration["region"]]
    others = {spoke.name: spoke.configuration for spoke in main.spokes.values() if spoke.name != name}
    problems.extend(address_problems(configuration, region, others))
    problems.extend(network_problems(configuration, region, facts))
    return problems
