"""The `spoke-agent` stand-in: how a careful agent decides what to do next, from the conversation alone.

It has no memory of its own. Every request is read from the beginning, and the next step follows from what was said and
what the tools returned: find the source, read it with the schema, ask for what is missing, build, validate, open one
pull request, report. The careless agent (`careless.py`) goes the same way and leaves out what makes it safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .addresses import AddressProblem
from .answers import answer_question, consult, refers_to_documents
from .blocked import find_blocked
from .building import Target, build, raised
from .changes import Findings
from .evidence import GET, LIST
from .fresh import new_spoke
from .intent import from_nothing
from .places import said_source, spoke_names, workload_of
from .policy import read_policy
from .properties import Catalogue
from .protocol import Call, ChatRequest, Reply
from .questions import COST_CENTRE, SOURCE, Question, ask, spoken
from .refusing import refuse
from .situation import Situation
from .slots import ADDRESS_SPACE, NAME
from .sources import Resolved, accepted, proposal, resolve, wanted_region
from .steps import find_neighbour, read_schema, submit, understood
from .vague import vague_topics

HELLO = (
    "I change configurations of spokes by pull request and answer questions about them. What do you need: a copy of an "
    "existing spoke, a change, a new spoke, or an answer?"
)


def spoke_agent(request: ChatRequest) -> Reply:
    """The careful agent's next message."""
    return respond(Situation(request, read_policy(request.system)))


def respond(situation: Situation) -> Reply:
    """The next message under a policy."""
    if situation.closing and (situation.done or not situation.pending):
        return Reply("You are welcome.")
    if situation.done and situation.created is not None:
        return Reply("The pull request is open; people review it now. What else can I do?")
    if situation.intent == "question" or situation.asks_back:
        return answer_question(situation)
    blocked = [item for item in find_blocked(situation.texts) if item.kind in situation.policy.refuses]
    if blocked:
        return refuse(situation, blocked)
    if situation.intent == "talk":
        return Reply(HELLO)
    if situation.intent == "new" and not _names_a_source(situation):
        return _new(situation)
    return _from_source(situation)


def _names_a_source(situation: Situation) -> bool:
    return any(name.role == "source" for text in situation.texts for name in spoke_names(text))


def _new(situation: Situation) -> Reply:
    """A new spoke: from one that has the same workload in another stage, unless it is to be made from nothing."""
    if not from_nothing(situation.texts[0]):
        if situation.evidence.listing is None and (reply := situation.call(Call(LIST, {}))) is not None:
            return reply
        if said_source(" ".join(situation.texts), situation.evidence.listing or []):
            return _from_source(situation)
    return new_spoke(situation)


def _from_source(situation: Situation) -> Reply:
    """A copy or a change: everything begins with the spoke that is there."""
    resolved = resolve(situation)
    evidence = situation.evidence
    if resolved.source is None:
        if evidence.listing is None and (reply := situation.call(Call(LIST, {}))) is not None:
            return reply
        return _which_source(situation, resolved)
    source = evidence.spoke(resolved.source)
    if source is None:
        return _read_source(situation, resolved.source)
    reply = read_schema(situation) or consult(situation)
    if reply is not None:
        return reply
    found = understood(situation, source)
    if isinstance(found, Reply):
        return found
    known, findings = found
    name = resolved.target
    if situation.intent == "change":
        return _finish(situation, known, findings, source, Target(resolved.source))
    if name is None and (accepted(situation) or situation.unknown(NAME)):
        name = proposal(situation, resolved.source)
    spaces = findings.value(ADDRESS_SPACE)
    questions = _missing(situation, resolved.source, name, spaces, known, findings)
    if questions is not None:
        return questions
    region = wanted_region(situation, str(source.get("region")))
    target = Target(str(name), tuple(spaces), region)
    return _finish(situation, known, findings, source, target)


def _read_source(situation: Situation, name: str) -> Reply:
    missing = situation.evidence.missing(name)
    wanted = [Call(GET, {"name": name})] if missing is None else []
    if missing is not None and _says_absent(missing.text):
        if situation.evidence.listing is None and (reply := situation.call(Call(LIST, {}))) is not None:
            return reply
        return Reply(_no_such_spoke(situation, name))
    if missing is not None:
        wanted = [Call(GET, {"name": name})]
    if situation.best_catalogue is None and situation.tries(situation.schema_call(described=False)) == 0:
        wanted.append(situation.schema_call(described=False))
    reply = situation.call(*wanted)
    if reply is not None:
        return reply
    said = missing.text if missing is not None else "the tool is not on offer"
    return Reply(f"I can not read `{name}`: {said}. No pull request was opened.")


def _says_absent(text: str) -> bool:
    low = text.lower()
    return any(
        phrase in low
        for phrase in ("no spoke", "not found", "does not exist", "no such", "unknown spoke", "404", "not the name")
    )


def _no_such_spoke(situation: Situation, name: str) -> str:
    listing = situation.evidence.listing or []
    parts = set(workload_of(name).split("-"))
    near = [str(item.get("name")) for item in listing if parts & set(workload_of(str(item.get("name"))).split("-"))]
    hint = f" Spokes with a similar name: {', '.join(f'`{n}`' for n in near)}." if near else ""
    return (
        f"I can not do this: there is no spoke `{name}` that I could start from.{hint} No pull request was opened. "
        "If you meant another spoke, tell me its name instead."
    )


def _which_source(situation: Situation, resolved: Resolved) -> Reply:
    names = resolved.choices or tuple(str(item.get("name")) for item in situation.evidence.listing or ())
    if situation.unknown(SOURCE):
        return Reply("I can not go on without knowing which spoke to start from. No pull request was opened.")
    listed = f"There are {', '.join(f'`{name}`' for name in names)}." if names else ""
    return Reply(ask([Question(SOURCE, listed)], 1))


def _missing(
    situation: Situation,
    source: str,
    name: str | None,
    spaces: Sequence[str] | None,
    known: Catalogue,
    findings: Findings,
) -> Reply | None:
    """Ask for what a copy needs and nobody has said; None when all is there."""
    questions: list[Question] = []
    if name is None:
        if situation.unknown(NAME):
            return Reply("I can not go on without a name for the new spoke. No pull request was opened.")
        suggested = proposal(situation, source)
        questions.append(Question(NAME, f"By the naming rules it could be `{suggested}`." if suggested else ""))
    if not spaces:
        if situation.unknown(ADDRESS_SPACE):
            return Reply(
                "I can not go on without an address range, and I do not make one up. The network team hands them out; "
                "come back with a free one. No pull request was opened."
            )
        questions.append(Question(ADDRESS_SPACE))
    settled = findings.value(COST_CENTRE) is not None or situation.unknown(COST_CENTRE) or situation.keeps(COST_CENTRE)
    if situation.policy.asks_cost_centre and not settled:
        questions.append(Question(COST_CENTRE))
    for topic in vague_topics(situation, known, findings):
        if not (situation.unknown(topic) or situation.keeps(topic)):
            questions.append(Question(topic))
    if not questions:
        return None
    return Reply(ask(questions, situation.policy.questions_at_once))


def _finish(
    situation: Situation, known: Catalogue, findings: Findings, source: Mapping[str, Any], target: Target
) -> Reply:
    """Build, validate, open and report."""
    if target.spaces is None and not findings.changes:
        return nothing_to_change(situation, source)
    neighbour: Mapping[str, Any] | None = None
    if target.region is not None:
        found = find_neighbour(situation, target.region)
        if isinstance(found, Reply):
            return found
        neighbour = found
    try:
        built = build(source, target, findings.changes, known.conditions, neighbour)
    except AddressProblem as problem:
        text = f"I can not open a pull request for this: {problem} No pull request was opened."
        if situation.asked(ADDRESS_SPACE) and situation.unknown(ADDRESS_SPACE):
            return Reply(text)
        return Reply(ask([Question(ADDRESS_SPACE, text)], 1))
    for limit in built.limits:
        topic = tuple(map(str, limit.path))
        if (
            situation.policy.asks
            and not situation.unknown(topic)
            and not any(isinstance(part, int) for part in limit.path)
        ):
            why = f"For `{target.name}` {spoken(topic)} must be at least {limit.minimum}."
            return Reply(ask([Question(topic, why)], 1))
    return submit(situation, raised(built), source)


def nothing_to_change(situation: Situation, source: Mapping[str, Any]) -> Reply:
    """A change was asked for, and nothing was found that could be meant."""
    if any("do not find" in message for message in situation.own_words):
        return Reply(
            "I still do not find a setting that is meant, so I can not change anything. No pull request was opened."
        )
    if refers_to_documents(situation):
        looked = answer_question(situation, about_change=True)
        if looked.calls:
            return looked
        return Reply(
            f"I can not make a change of this: it names no setting of `{source.get('name')}` that I could change, and "
            f"I do not make one up. No pull request was opened. What I read:\n\n{looked.text}"
        )
    return Reply(
        f"I do not find a setting of `{source.get('name')}` that your request names, so I changed nothing. "
        "Which setting should change, and to what?"
    )
