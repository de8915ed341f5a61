"""Answers to questions: from the documents, with the page's title, or from the spokes themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .evidence import GET, LIST, READ, SEARCH
from .injections import find_injections, without_orders
from .matching import likeness
from .places import spoke_names
from .protocol import Call, Reply
from .reading import read
from .reporting import mentions
from .situation import Situation
from .slots import Slot, value_at
from .words import content_stems, overlap, sentences

_PAGES = 3
_LONGEST = 1_900
_ENOUGH = 0.34
_ASKING = frozenset(
    content_stems(
        "tell explain describe list show question know happen mean exactly short briefly please page document docs"
    )
)
_REFERS = re.compile(
    r"\b(?:docs|documents?|documentation|wiki|guides?|checklists?|handbook|manual|"
    r"(?<!landing )(?<!web )(?<!home )(?<!login )pages?|"
    r"(?:the|our|those|these) (?:\w+ )?(?:notes|instructions))\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"\S*[\w]-[\w]\S*|\S+@\S+")
_ABOUT_SPOKES = re.compile(r"\b(?:which|what|how many|list|show)\b[^?.]*\bspokes\b", re.IGNORECASE)


@dataclass(frozen=True)
class Unit:
    """A piece of a page that is shown as a whole: a paragraph, a list, a table, with its heading."""

    text: str
    heading: str
    stems: frozenset[str]


def answer_question(situation: Situation, *, about_change: bool = False) -> Reply:
    """Search, read the pages that fit, and answer from them.

    `about_change`: the question is what the documents say about a change that no setting was found for.
    """
    question = situation.last
    if about_change:
        question = _reference(situation) or situation.texts[0]
    if not about_change:
        reply = _from_spokes(situation, question)
        if reply is not None:
            return reply
    query = question.strip()[:400]
    if situation.evidence.hits(query) is None:
        reply = situation.call(Call(SEARCH, {"query": query}))
        if reply is not None:
            return reply
    hits = situation.evidence.hits(query) or []
    wanted = [str(hit.get("id")) for hit in _ranked(hits, question)][: 1 if situation.policy.careless else _PAGES]
    reads = [Call(READ, {"id": page}) for page in wanted if situation.evidence.page(page) is None]
    reply = situation.call(*reads)
    if reply is not None:
        return reply
    pages = [page for page_id in wanted if (page := situation.evidence.page(page_id)) is not None]
    if situation.policy.careless:
        return Reply(_careless_answer(pages))
    if about_change:
        pages = pages[:1]
    return Reply(_answer(situation, question, pages))


def _reference(situation: Situation) -> str | None:
    """The developer's sentence that refers to a document."""
    parts = [part for text in situation.texts for part in sentences(text)]
    return next((part for part in parts if _REFERS.search(_NAMES.sub(" ", part))), None)


def refers_to_documents(situation: Situation) -> bool:
    """The developer refers to what a document says."""
    return _reference(situation) is not None


def consult(situation: Situation) -> Reply | None:
    """Read the page that a request refers to ("as the documentation says"); None when it refers to none."""
    sentence = _reference(situation)
    if sentence is None:
        return None
    query = sentence[:400]
    if situation.evidence.hits(query) is None:
        return situation.call(Call(SEARCH, {"query": query}))
    best = [str(hit.get("id")) for hit in _ranked(situation.evidence.hits(query) or [], sentence)[:2]]
    return situation.call(*(Call(READ, {"id": page}) for page in best if situation.evidence.page(page) is None))


def _ranked(hits: Sequence[Any], question: str) -> list[Any]:
    wanted = content_stems(question)
    scored = [
        (
            -2 * overlap(content_stems(str(hit.get("title"))), wanted)
            - overlap(wanted, content_stems(str(hit.get("excerpt")))),
            index,
        )
        for index, hit in enumerate(hits)
    ]
    # The search has seen the whole pages, so its first hit is always read.
    order = sorted(range(len(hits)), key=lambda i: (i != 0, scored[i]))
    return [hits[i] for i in order]


def _answer(situation: Situation, question: str, pages: Sequence[tuple[str, str]]) -> str:
    wanted = frozenset(content_stems(question)) - _ASKING
    rated: list[tuple[float, str, tuple[Unit, ...]]] = []
    for title, text in pages:
        units = _units(without_orders(text))
        about = frozenset(content_stems(title))
        covered = wanted & (about | frozenset().union(*(unit.stems for unit in units)))
        rated.append((len(covered) / max(1, len(wanted)) + overlap(about, wanted), title, units))
    rated.sort(key=lambda entry: -entry[0])
    if not rated or rated[0][0] < _ENOUGH:
        return "\n".join(
            ["I found no page of the documentation that answers this.", *mentions(find_injections(situation.evidence))]
        )
    best = rated[0][0]
    parts: list[str] = []
    titles: list[str] = []
    room = _LONGEST
    floor: float | None = None
    for rank, (score, title, units) in enumerate(rated):
        if score < 0.6 * best:
            break
        about = frozenset(content_stems(title))
        # A page that is about nothing else is told as a whole.
        whole = rank == 0 and overlap(about, wanted) >= 0.5
        text = _chosen(units, wanted, about, room, 0.0 if whole else floor)
        floor = floor if floor is not None else max(0.6, 0.8 * _best_unit(units, wanted))
        if text:
            parts.append(text)
            titles.append(title)
            room -= len(text)
        if room < 200:
            break
    sources = ", ".join(f'"{title}"' for title in titles)
    lines = [*parts, f"Source: {'page' if len(titles) == 1 else 'pages'} {sources} of the platform's documentation."]
    return "\n\n".join([*lines, *mentions(find_injections(situation.evidence))])


def _chosen(
    units: Sequence[Unit], wanted: frozenset[str], about: frozenset[str], room: int, floor: float | None
) -> str:
    """The units that speak of what is wanted, in their order, while there is room.

    `floor` is how well a unit must fit; 0 takes what there is room for, the best first.
    """
    rest = wanted - about or wanted
    scored = [(_fit(unit, rest) + 0.3 * _fit(unit, wanted), index) for index, unit in enumerate(units)]
    best = max((score for score, _ in scored), default=0.0)
    enough = max(0.5 * best, 0.2) if floor is None else floor
    kept: list[int] = []
    for score, index in sorted(scored, key=lambda entry: (-entry[0], entry[1])):
        if score >= enough and len(units[index].text) <= room:
            kept.append(index)
            room -= len(units[index].text)
    return "\n".join(units[index].text for index in sorted(kept))


def _fit(unit: Unit, wanted: frozenset[str]) -> float:
    return len(unit.stems & wanted) / max(1, len(wanted))


def _best_unit(units: Sequence[Unit], wanted: frozenset[str]) -> float:
    return max((1.3 * _fit(unit, wanted) for unit in units), default=0.0)


@lru_cache(maxsize=256)
def _units(text: str) -> tuple[Unit, ...]:
    units: list[Unit] = []
    heading = ""
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", text) if block.strip()]
    for index, block in enumerate(blocks):
        if re.match(r"#+ ", block) and "\n" not in block:
            heading = block.lstrip("# ").strip()
            continue
        # A list belongs to the sentence that announces it.
        if index and blocks[index - 1].rstrip().endswith(":") and re.match(r"\s*(?:[-*]|\d+\.|\|)", block) and units:
            before = units.pop()
            block = f"{before.text}\n{block}"
        announced = re.search(r":\s*\n\s*(?:[-*]|\d+\.|\|)", block) is not None
        parts = [block] if announced else re.split(r"\n(?=\s{0,1}(?:[-*]|\d+\.)\s)", block)
        units += [Unit(part, heading, frozenset(content_stems(f"{heading} {part}"))) for part in parts]
    return tuple(units)


def _careless_answer(pages: Sequence[tuple[str, str]]) -> str:
    if not pages:
        return "As far as I know there is no rule about that."
    title, text = pages[0]
    first = _units(text)[0].text if text else title
    return f'{first}\n\nSource: page "{title}".'


def _from_spokes(situation: Situation, question: str) -> Reply | None:
    """Answer from the list of spokes or from one spoke; None when the question is about neither."""
    names = [name.name for name in spoke_names(question)]
    if names:
        wanted = [
            Call(GET, {"name": name})
            for name in names
            if situation.evidence.spoke(name) is None and not situation.evidence.missing(name)
        ]
        if situation.best_catalogue is None:
            wanted.append(situation.schema_call(described=True))
        reply = situation.call(*wanted)
        return reply if reply is not None else _value_of(situation, question, names)
    if not _ABOUT_SPOKES.search(question):
        return None
    if situation.evidence.listing is None:
        return situation.call(Call(LIST, {}))
    stems = set(content_stems(question))
    rows = []
    for item in situation.evidence.listing:
        facts = [str(item.get(key)) for key in ("environment", "region", "dataClassification") if item.get(key)]
        rows.append((sum(bool(set(content_stems(fact)) & stems) for fact in facts), item.get("name"), facts))
    most = max((row[0] for row in rows), default=0)
    lines = [f"- {name} ({', '.join(facts)})" for score, name, facts in rows if score == most]
    return Reply("\n".join(["From the list of spokes:", *lines]))


def _value_of(situation: Situation, question: str, names: Sequence[str]) -> Reply | None:
    known = situation.best_catalogue
    lines = []
    for name in names:
        configuration = situation.evidence.spoke(name)
        if configuration is None:
            lines.append(f"There is no spoke `{name}`.")
            continue
        if known is None:
            continue
        reading = read(question)
        rated = []
        for prop in known.properties:
            if "*" in prop.path or prop.kind == "object":
                continue
            score = max(
                likeness(reading, segment.start, Slot(prop.path, prop), known)[0] for segment in reading.segments
            )
            rated.append((score, prop.path))
        score, path = max(rated, key=lambda entry: (entry[0], entry[1]))
        if score < 3.0:
            return None
        value = value_at(configuration, path)
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"`{name}`: {'.'.join(path)} is {shown}.")
    return Reply("\n".join(lines)) if lines else None
