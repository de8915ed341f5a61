"""Steps that every way through a request shares: reading, finding a neighbour, validating, opening, reporting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .building import Built, differences
from .changes import Findings
from .evidence import CREATE, GET, LIST, VALIDATE, listed
from .injections import find_injections
from .properties import Catalogue
from .protocol import Call, Reply
from .questions import Question, ask
from .reporting import followed, invalid, mentions, opened, summary
from .situation import Situation
from .slots import ADDRESS_SPACE, NAME, value_at


def read_schema(situation: Situation) -> Reply | None:
    """Read the plain schema if no schema was read; None when there is nothing to do (any more)."""
    if situation.best_catalogue is not None:
        return None
    return situation.call(situation.schema_call(described=False))


def understood(situation: Situation, source: Mapping[str, Any]) -> tuple[Catalogue, Findings] | Reply:
    """The changes that are asked for; reads the descriptions when names do not explain all that was said."""
    plain, described = situation.catalogue(described=False), situation.catalogue(described=True)
    known = described or plain
    if known is None:
        return Reply(
            "I can not read the schema of configurations, so I do not know what to change. No pull request was opened."
        )
    findings = situation.findings(known, source)
    if described is None and not situation.policy.careless and not findings.by_name:
        reply = situation.call(situation.schema_call(described=True))
        if reply is not None:
            return reply
    return known, findings


def find_neighbour(
    situation: Situation, region: str, environment: str | None = None
) -> Mapping[str, Any] | Reply | None:
    """A spoke in a region, for what the platform fixes there; None when there is none to be had.

    Two are read, those of the same environment first, because one may lack what is looked for (resolvers, firewall).
    """
    made = [c for c in situation.evidence.of(LIST) if c.arguments.get("region") == region and not c.failed]
    if made:
        rows = [item for call in made for item in listed(call.result)]
    elif situation.evidence.listing is not None:
        rows = [item for item in situation.evidence.listing if item.get("region") == region]
    else:
        reply = situation.call(Call(LIST, {"region": region}))
        if reply is not None:
            return reply
        rows = []
    rows.sort(key=lambda item: item.get("environment") != environment)
    names = [str(item.get("name")) for item in rows][:_NEIGHBOURS]
    reply = situation.call(*(Call(GET, {"name": name}) for name in names if situation.evidence.spoke(name) is None))
    if reply is not None:
        return reply
    known = [spoke for name in names if (spoke := situation.evidence.spoke(name)) is not None]
    return max(known, key=_tells, default=None)


_NEIGHBOURS = 2


def _tells(configuration: Mapping[str, Any]) -> int:
    """How much of what the platform fixes in a region a spoke shows."""
    routes = value_at(configuration, ("routeTable", "routes")) or []
    firewall = any(route.get("nextHopIp") for route in routes)
    return bool(value_at(configuration, ("virtualNetwork", "dnsServers"))) + 2 * firewall


def submit(situation: Situation, built: Built, source: Mapping[str, Any] | None) -> Reply:
    """Validate, then open the pull request, exactly once; then report."""
    configuration = built.configuration
    created = situation.created
    named = {"source_spoke": str(source["name"])} if source is not None else {}
    if created is not None:
        remarks = [*followed(built), *mentions(find_injections(situation.evidence))]
        return Reply(opened(created.result, built, source, remarks))
    if situation.policy.validates:
        made = situation.task_evidence.validation(configuration)
        if made is None or made.failed:
            reply = situation.call(Call(VALIDATE, {"configuration": configuration, **named}))
            if reply is not None:
                return reply
            said = made.text if made is not None else "the tool is not on offer"
            return Reply(f"I can not validate the configuration ({said}), so I did not open a pull request.")
        if made.result.get("valid") is not True:
            return _report(situation, made.result.get("errors") or [])
    failed = situation.task_evidence.failures(CREATE)
    if failed and not all(_was_not_sent(call.text) for call in failed):
        # It may have been opened all the same, so a second try could leave two.
        return Reply(f"I can not open the pull request: {failed[-1].text}. I did not try again.")
    title = _title(configuration, source)
    body = _body(configuration, source, built)
    call = Call(CREATE, {"configuration": configuration, "title": title, "description": body, **named})
    reply = situation.call(call)
    if reply is not None:
        return reply
    said = failed[-1].text if failed else "the tool is not on offer"
    return Reply(f"I can not open the pull request: {said}. No pull request was opened.")


def _was_not_sent(text: str) -> bool:
    low = text.lower()
    return low.startswith("not called") or any(word in low for word in ("arguments", "not executed", "malformed"))


def _title(configuration: Mapping[str, Any], source: Mapping[str, Any] | None) -> str:
    name = configuration["name"]
    if source is None:
        return f"Add {name}"
    return f"Change {name}" if source["name"] == name else f"Add {name}, a copy of {source['name']}"


def _body(configuration: Mapping[str, Any], source: Mapping[str, Any] | None, built: Built) -> str:
    if source is None:
        lines = [f"A new spoke, {configuration['name']}:", "", *(f"- {line}" for line in summary(configuration))]
    else:
        lines = [
            f"What differs from {source['name']}:",
            "",
            *(f"- {line}" for line in differences(source, configuration)),
        ]
    lines += ["", *followed(built)] if built.followed or built.notes else []
    return "\n".join(lines)


_RANGE_RULES = ("addressSpace.", "range.", "subnet.inside", "subnet.overlap")


def _report(situation: Situation, errors: Sequence[Mapping[str, Any]]) -> Reply:
    """Say what is wrong; ask for what would mend it, unless the developer can not tell."""
    about_range = any(str(e.get("rule")).startswith(_RANGE_RULES) for e in errors)
    about_name = any(e.get("pointer") == "/name" for e in errors)
    topic = ADDRESS_SPACE if about_range else NAME if about_name else None
    if topic is None:
        return Reply(invalid(errors, "Instead, tell me what to change so that it fits the rules."))
    if situation.unknown(topic):
        return Reply(invalid(errors, "Come back when there is another one."))
    return Reply(f"{invalid(errors, '')} {ask([Question(topic)], 1)}")
