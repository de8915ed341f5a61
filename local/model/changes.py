"""What is to be different: the changes that the developer's messages ask for, found by names and by descriptions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from .additions import find_additions
from .containers import gives, item_in, items, speaks_of, takes
from .leftovers import all_by_name
from .matching import Assignment, assign
from .properties import Catalogue
from .reading import Reading, read
from .slots import ADDRESS_SPACE, Path, Slot, slots, value_at
from .switches import find_switches

Operation = Literal["set", "add", "remove"]


@dataclass(frozen=True)
class Said:
    """One message of the developer; `topic` is the path of the property that the agent had asked for before it."""

    text: str
    topic: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Change:
    """One change to a configuration.

    `set` puts `value` at `path`; `add` puts it into the list at `path` (at index `at`, else at the end); `remove` takes
    away what stands at `path`, or the item equal to `value` when `path` is a list of plain values.
    """

    operation: Operation
    path: Path
    value: Any = None
    at: int | None = None


@dataclass(frozen=True)
class Findings:
    """All changes asked for, later ones last. `by_name` is False when something was said that no name explains."""

    changes: tuple[Change, ...]
    by_name: bool

    def value(self, path: Path) -> Any:
        """The value that was asked for at a path; None when none was."""
        return next((c.value for c in reversed(self.changes) if c.path == path and c.operation == "set"), None)


def find_changes(messages: Sequence[Said], catalogue: Catalogue, configuration: Mapping[str, Any] | None) -> Findings:
    """Read all messages of the developer against a schema and, for a copy or a change, the source's configuration."""
    return _find(tuple(messages), catalogue, "" if configuration is None else json.dumps(configuration))


@lru_cache(maxsize=512)
def _find(messages: tuple[Said, ...], catalogue: Catalogue, text: str) -> Findings:
    # Kept, because nothing new was said while the agent goes from tool to tool.
    configuration = json.loads(text) if text else None
    places = slots(catalogue, configuration)
    found: dict[tuple[Any, ...], Change] = {}
    by_name = True
    for said in messages:
        reading = read(said.text)
        changes, named = _one(reading, said.topic, places, catalogue, configuration)
        by_name = by_name and named
        for change in changes:
            key = (change.path,) if change.operation == "set" else (change.operation, change.path, repr(change.value))
            # The last word counts, and it stands where it was said.
            found.pop(key, None)
            found[key] = change
    return Findings(tuple(found.values()), by_name)


def _one(
    reading: Reading,
    topic: tuple[str, ...] | None,
    places: Sequence[Slot],
    catalogue: Catalogue,
    configuration: Mapping[str, Any] | None,
) -> tuple[list[Change], bool]:
    additions = find_additions(reading, catalogue, configuration or {})
    given = [(a.start, a.end) for a in additions]
    removals = list(_removals(reading, catalogue, configuration, given)) if configuration is not None else []
    spans = [(a.start, a.end) for a in additions] + [(start, end) for _, start, end in removals]
    assignments = assign(reading, places, catalogue, topic, spans)
    assignments = _without_references(assignments, configuration)
    used = [(a.start, a.end) for a in assignments]
    switches = [
        s
        for s in find_switches(reading, places, catalogue)
        if not any(low < s.end and s.start < high for low, high in spans)
        and not any(s.slot.path == a.slot.path for a in assignments)
    ]
    changes = [Change("set", s.slot.path, s.value) for s in switches]
    changes += list(_sets(reading, assignments, configuration))
    changes += [
        Change("set", a.path, a.value) if a.path[0] == "tags" else Change("add", a.path, a.value, a.at)
        for a in additions
    ]
    changes += [change for change, _, _ in removals]
    if topic is not None:
        return changes, True
    direct = all(a.direct for a in assignments if a.slot.path != ADDRESS_SPACE) and all(s.direct for s in switches)
    explained = [a.slot.prop for a in assignments] + [s.slot.prop for s in switches]
    spans += [(s.start, s.end) for s in switches]
    return changes, direct and all_by_name(reading, explained, used, spans)


def _without_references(assignments: list[Assignment], configuration: Mapping[str, Any] | None) -> list[Assignment]:
    """A value that stands there already only says how things are, when another one is asked for in its place."""
    kept = []
    for a in assignments:
        rival = any(b is not a and b.slot.path == a.slot.path and not b.old for b in assignments)
        if a.slot.prop.kind != "list" and rival and value_at(configuration, a.slot.path) == a.value:
            continue
        kept.append(a)
    return kept


def _sets(
    reading: Reading, assignments: Sequence[Assignment], configuration: Mapping[str, Any] | None
) -> Iterator[Change]:
    lists: dict[Path, list[Assignment]] = {}
    for a in assignments:
        if a.slot.prop.kind == "list":
            lists.setdefault(a.slot.path, []).append(a)
        elif not a.old:
            yield Change("set", a.slot.path, a.value)
    for path, group in lists.items():
        yield from _list_changes(reading, path, group, value_at(configuration, path) or [])


def _list_changes(reading: Reading, path: Path, group: list[Assignment], present: list[Any]) -> Iterator[Change]:
    fresh = list(dict.fromkeys(a.value for a in group if not a.old))
    former = [a.value for a in group if a.old]
    if former and fresh and set(former) <= set(present):
        swapped = [fresh[min(former.index(v), len(fresh) - 1)] if v in former else v for v in present]
        yield Change("set", path, list(dict.fromkeys(swapped)))
        return
    for value in former:
        yield Change("remove", path, value)
    verb = _last_verb(reading, group[0].start)
    item = group[0].slot.prop.item
    if verb == "take":
        yield from (Change("remove", path, value) for value in fresh)
    elif (verb == "give" and path != ADDRESS_SPACE) or (
        (item is not None and (item.enum or not item.format)) and path != ADDRESS_SPACE
    ):
        yield from (Change("add", path, value) for value in fresh if value not in present)
    elif fresh:
        yield Change("set", path, fresh)


def _last_verb(reading: Reading, position: int) -> str:
    """The verb before a place in its sentence that comes last: of adding, of taking away, or none."""
    sentence = reading.segments[reading.segment_at(position)].sentence
    start = min(segment.start for segment in reading.segments if segment.sentence == sentence)
    text = reading.text[start:position]
    best, kind = -1, ""
    for name, finder in (("give", gives), ("take", takes)):
        at = 0
        while (match := finder(text[at:])) is not None:
            at += match.end()
            if at > best:
                best, kind = at, name
    return kind


def _removals(
    reading: Reading, catalogue: Catalogue, configuration: Mapping[str, Any], given: Sequence[tuple[int, int]]
) -> Iterator[tuple[Change, int, int]]:
    known = list(items(catalogue, configuration))
    for number, part in enumerate(reading.segments):
        verb = takes(reading.text[part.start : part.end])
        if verb is None:
            continue
        end = part.end
        following = reading.segments[number + 1 :]
        # "drop the tags a and b": what follows the joining word is taken away too, unless it says something of its own.
        for other in following:
            text = reading.text[other.start : other.end]
            if (
                other.sentence != part.sentence
                or gives(text)
                or re.search(r"\b(?:should|must|is|are|set|to|use)\b", text)
            ):
                break
            end = other.end
        # "snet-bus is no longer needed" names the thing first.
        passive = re.match(r"no longer|not (?:needed|wanted|required)|(?:is|are) not", verb.group(), re.IGNORECASE)
        start = part.start if passive else part.start + verb.start()
        # "no tag a, and b low": what is given a value in the same breath is not taken away.
        end = min([low for low, _ in given if start < low < end], default=end)
        yield from _taken(reading.text[start:end], start, end, known)


def _taken(text: str, start: int, end: int, known: Sequence[Any]) -> Iterator[tuple[Change, int, int]]:
    containers = {item.container.path: item.container for item in known}
    for path, container in containers.items():
        if not speaks_of(container, text) and not any(_written(item.label, text) for item in known):
            continue
        group = [item for item in known if item.container.path == path]
        named = [item for item in group if _written(item.label, text)]
        if not named and speaks_of(container, text):
            one = item_in(text, group)
            named = [one] if one is not None else []
        if len({item.path[:-1] for item in named}) > 1 and not re.search(r"\b(?:all|every|each|both)\b", text):
            named = _narrowed(text, named, known)
        for item in named:
            plain = container.kind == "list" and container.item is not None and container.item.kind == "string"
            if plain:
                yield Change("remove", item.path[:-1], item.label), start, end
            else:
                yield Change("remove", item.path), start, end


def _narrowed(text: str, named: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Of items with the same label in several lists, those whose owner is named too; none when that is not said."""
    owners = {item.path: item for item in known}
    return [i for i in named if (owner := owners.get(i.path[:-2])) is not None and item_in(text, [owner]) is not None]


def _written(label: str, text: str) -> bool:
    if len(label) < 4:
        return False
    return re.search(rf"(?<![\w.-]){re.escape(label)}(?![\w-]|\.\w)", text, re.IGNORECASE) is not None
