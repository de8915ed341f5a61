"""10,000 recorded episodes of a spoke agent, a third of them wrong in known ways, the same for everybody.

An episode is `{"case": index, "calls": [{"name", "arguments"}], "change": what was done to it}`. The calls of a right
episode are those of its case; a change says what was done to them, and in which ways of matching that is wrong.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

SEED = 20260
CASES = 40
WRONG_SHARE = 1 / 3

Call = dict[str, Any]
Change = Callable[[list[Call], random.Random], None]

_REGIONS = ("westeurope", "northeurope", "swedencentral", "germanywestcentral")
_ENVIRONMENTS = ("dev", "test", "acceptance", "production")
_WORKLOADS = ("webshop", "billing", "reporting", "search", "identity", "orders", "archive", "pricing")


def generate(count: int, seed: int = SEED) -> tuple[list[list[Call]], list[dict[str, Any]]]:
    """The expected calls of each case, and `count` episodes. The same arguments give the same answer."""
    chance = random.Random(seed)
    cases = [_case(chance) for _ in range(CASES)]
    return cases, [_episode(cases, chance) for _ in range(count)]


def _case(chance: random.Random) -> list[Call]:
    """4 to 8 calls: look around, validate until it fits, create."""
    environment, workload = chance.choice(_ENVIRONMENTS), chance.choice(_WORKLOADS)
    configuration = _configuration(f"spoke-{workload}-{environment}", environment, chance)
    looking = [
        {"name": "list_spokes", "arguments": {"environment": environment, "region": configuration["region"]}},
        {"name": "get_spoke", "arguments": {"name": f"spoke-{chance.choice(_WORKLOADS)}-{environment}"}},
        {"name": "get_spoke_schema", "arguments": {"descriptions": True}},
        {"name": "search_docs", "arguments": {"query": f"{workload} address space", "limit": chance.randint(3, 9)}},
        {"name": "read_doc", "arguments": {"id": f"doc-{chance.randint(10, 99)}"}},
    ]
    looking = sorted(chance.sample(looking, chance.randint(2, 5)), key=lambda call: str(call["name"]))
    draft = copy.deepcopy(configuration)
    draft["virtualNetwork"]["addressSpace"] = ["10.0.0.0/8"]
    validating = [{"name": "validate_spoke", "arguments": {"configuration": one}} for one in (draft, configuration)]
    creating = {
        "name": "create_spoke_pull_request",
        "arguments": {
            "configuration": configuration,
            "title": f"Add {configuration['name']}",
            "description": f"A spoke for {workload} in {environment}.",
        },
    }
    return [*looking, *validating[chance.randint(0, 1) :], creating]


def _configuration(name: str, environment: str, chance: random.Random) -> dict[str, Any]:
    octet = chance.randint(1, 250)
    subnets = [
        {"name": f"snet-{purpose}", "addressPrefix": f"10.{octet}.{index}.0/24", "purpose": purpose}
        for index, purpose in enumerate(("application", "data", "privateLink")[: chance.randint(1, 3)])
    ]
    return {
        "name": name,
        "environment": environment,
        "region": chance.choice(_REGIONS),
        "costCenter": f"CC-{chance.randint(1000, 9999)}",
        "virtualNetwork": {"name": f"vnet-{name}", "addressSpace": [f"10.{octet}.0.0/16"], "subnets": subnets},
        "hubPeering": {"hub": "hub-weu", "allowForwardedTraffic": True, "useRemoteGateways": False},
        "monitoring": {"logRetentionDays": chance.choice((30, 90, 365)), "diagnosticSettings": True},
        "tags": {"workload": name, "managedBy": "platform"},
    }


def _episode(cases: list[list[Call]], chance: random.Random) -> dict[str, Any]:
    index = chance.randrange(len(cases))
    calls = copy.deepcopy(cases[index])
    changes = WRONG if chance.random() < WRONG_SHARE else HARMLESS
    change = chance.choice(list(changes))
    changes[change](calls, chance)
    return {"case": index, "calls": calls, "change": change}


def _last(calls: list[Call]) -> dict[str, Any]:
    arguments: dict[str, Any] = calls[-1]["arguments"]
    return arguments


def _keep(_calls: list[Call], _chance: random.Random) -> None:
    return None


def _turn_keys(calls: list[Call], _chance: random.Random) -> None:
    for call in calls:
        call["arguments"] = dict(reversed(call["arguments"].items()))


def _whole_as_float(calls: list[Call], _chance: random.Random) -> None:
    monitoring = _last(calls)["configuration"]["monitoring"]
    monitoring["logRetentionDays"] = float(monitoring["logRetentionDays"])


def _leave_out(calls: list[Call], chance: random.Random) -> None:
    del calls[chance.randrange(len(calls))]


def _add(calls: list[Call], chance: random.Random) -> None:
    calls.insert(chance.randrange(len(calls)), {"name": "get_pull_request", "arguments": {"pull_request_id": 7}})


def _other_tool(calls: list[Call], chance: random.Random) -> None:
    calls[chance.randrange(len(calls))]["name"] = "complete_pull_request"


def _swap(calls: list[Call], chance: random.Random) -> None:
    at = chance.randrange(len(calls) - 1)
    calls[at], calls[at + 1] = calls[at + 1], calls[at]


def _create_first(calls: list[Call], _chance: random.Random) -> None:
    calls.insert(0, calls.pop())


def _other_value(calls: list[Call], _chance: random.Random) -> None:
    _last(calls)["title"] += "!"


def _other_value_deep(calls: list[Call], _chance: random.Random) -> None:
    _last(calls)["configuration"]["virtualNetwork"]["subnets"][0]["purpose"] = "integration"


def _other_order_of_list(calls: list[Call], _chance: random.Random) -> None:
    _last(calls)["configuration"]["virtualNetwork"]["addressSpace"].append("10.251.0.0/16")


def _missing_argument(calls: list[Call], _chance: random.Random) -> None:
    del _last(calls)["description"]


def _extra_argument(calls: list[Call], _chance: random.Random) -> None:
    _last(calls)["branch_prefix"] = "evals"


def _number_as_text(calls: list[Call], _chance: random.Random) -> None:
    monitoring = _last(calls)["configuration"]["monitoring"]
    monitoring["logRetentionDays"] = str(monitoring["logRetentionDays"])


def _true_as_one(calls: list[Call], _chance: random.Random) -> None:
    _last(calls)["configuration"]["hubPeering"]["allowForwardedTraffic"] = 1


def _twice(calls: list[Call], chance: random.Random) -> None:
    at = chance.randrange(len(calls))
    calls.insert(at, copy.deepcopy(calls[at]))


HARMLESS: dict[str, Change] = {
    "none": _keep,
    "keys in another order": _turn_keys,
    "365 written as 365.0": _whole_as_float,
}

WRONG: dict[str, Change] = {
    "a call left out": _leave_out,
    "a call of another tool added": _add,
    "a call made twice": _twice,
    "another tool called": _other_tool,
    "two calls swapped": _swap,
    "the last call made first": _create_first,
    "another text": _other_value,
    "another text, deep inside": _other_value_deep,
    "an element added to a list": _other_order_of_list,
    "an argument left out": _missing_argument,
    "an argument added": _extra_argument,
    "a number written as text": _number_as_text,
    "true written as 1": _true_as_one,
}

STILL_RIGHT: dict[str, frozenset[str]] = {
    "exact": frozenset(),
    "any_order": frozenset({"two calls swapped", "the last call made first"}),
    "superset": frozenset(
        {"two calls swapped", "the last call made first", "a call of another tool added", "a call made twice"}
    ),
}
"""For each way of matching, the changes that it does not mind."""
