"""Steps that every way through a request shares: reading the schema, finding a neighbour, validating, opening, reporting."""

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
from .slots import ADDRESS_SPACE, NAME


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


def find_neighbour(situation: Situation, region: str) -> Mapping[str, Any] | None | Reply:
    """A spoke in a region, for what the platform fixes there; None when there is none to be had."""
    call = Call(LIST, {"region": region})
    made = [c for c in situation.evidence.of(LIST) if c.arguments.get("region") == region and not c.failed]
    names = [str(item.get("name")) for c in made for item in listed(c.result) if item.get("region", region) == region]
    if not made and situation.evidence.listing is not None:
        names = [str(item.get("name")) for item in situation.evidence.listing if item.get("region") == region]
    elif not made:
        reply = situation.call(call)
        if reply is not None:
            return reply
    for name in names:
        known = situation.evidence.spoke(name)
        if known is not None:
            return known
    for name in names[:1]:
        reply = situation.call(Call(GET, {"name": name}))
        if reply is not None:
            return reply
    return None


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
    return any(word in low for word in ("argument", "json", "parse", "schema", "not executed", "malformed"))


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
