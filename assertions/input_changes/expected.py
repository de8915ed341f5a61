"""Expected changes: read from a config, and looked for in two aligned documents.

A change may be expected at a finer or coarser grain than the diff would name it: `replace: /virtualNetwork` accounts
for everything that changed below it, `add: /backup/enabled` for one part of an added `/backup`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assertions.input_changes.aligned import Place, Renaming
from assertions.input_changes.changes import SIGNS
from assertions.matching.comparators import read_expected
from assertions.matching.globs import has_wildcard
from assertions.matching.json_values import MISSING, kind_of, shown
from assertions.matching.options import MatchOptions, check_expected, read_options
from assertions.matching.paths import PathPattern, parse_path, scalar_text
from assertions.matching.value_match import match_value
from assertions.verdict import ConfigError
from episodes.frozen import frozen

Kind = Literal["add", "remove", "replace"]
KINDS: tuple[Kind, ...] = ("add", "remove", "replace")


@frozen
class ExpectedChange:
    """`value` is what has to be there afterwards, `was` what was there before; MISSING: anything.

    With a glob it stands for all changes that fit, of which there has to be one. `optional`: there need not be any.
    """

    kind: Kind
    place: PathPattern
    value: Any = MISSING
    was: Any = MISSING
    optional: bool = False
    options: MatchOptions = MatchOptions(mode="exact")

    def __str__(self) -> str:
        text = f"{SIGNS[self.kind]} {self.place.text}"
        if self.kind == "remove":
            return text if self.was is MISSING else f"{text}: {shown(self.was)}"
        if self.was is not MISSING:
            return f"{text}: {shown(self.was)} → {'anything' if self.value is MISSING else shown(self.value)}"
        if self.value is MISSING:
            return text
        return f"{text}: {shown(self.value)}" if self.kind == "add" else f"{text} → {shown(self.value)}"

    def is_met_by(self, place: Place) -> bool:
        """The place changed in this way, from and to fitting values."""
        return place.changed and self._kind_of(place) == self.kind and not self._misfit(place)

    def could_be_met_by(self, place: Place) -> bool:
        """It is not met because a value was cut when it was recorded."""
        return bool(place.why_unknown)

    def why_not(self, place: Place) -> str:
        """What is at the place instead."""
        if not place.changed:
            return f"unchanged: {shown(place.submitted)}"
        kind = self._kind_of(place)
        if kind != self.kind:
            instead = {"add": "it was not in the source", "remove": "it is gone", "replace": "it was in the source"}
            return instead[kind]
        return self._misfit(place)

    def _kind_of(self, place: Place) -> Kind:
        if place.source is MISSING:
            return "add"
        return "remove" if place.submitted is MISSING else "replace"

    def _misfit(self, place: Place) -> str:
        for wanted, found, side in ((self.value, place.submitted, ""), (self.was, place.source, "in the source, ")):
            if wanted is not MISSING and found is not MISSING:
                mismatches = match_value(wanted, found, self.options)
                if mismatches:
                    first = mismatches[0]
                    return f"{side}{first.text}" if first.path else f"{side}actual {shown(found)}"
        return ""


def read_changes(listed: Any, key: str) -> tuple[ExpectedChange, ...]:
    """Read `[{replace: path, value: v, was: v}, {add: path, value: v}, {remove: path}, …]`.

    Raises:
        ConfigError: no list, an unknown key, not exactly one kind of change, a wrong path or comparator.
    """
    if not isinstance(listed, list):
        raise ConfigError(key, f"{shown(listed)} is not allowed", "a list of changes")
    return tuple(_read_change(item, f"{key}/{index}") for index, item in enumerate(listed))


def renamings(changes: Sequence[ExpectedChange]) -> tuple[Renaming, ...]:
    """Where an expected change gives a list element another name, the old and the new one are the same element.

    `replace: /groups/[name=old]/name` with the value `new` is one change then, not an element gone and another added.
    """
    found: list[Renaming] = []
    for change in changes:
        segments = change.place.segments
        if change.kind != "replace" or len(segments) < 2 or change.value is MISSING:
            continue
        element, last, new = segments[-2], segments[-1], scalar_text(change.value)
        if element.key and element.key == last.text and not has_wildcard(element.text) and new is not None:
            found.append(Renaming(PathPattern(change.place.text, segments[:-2]), element.key, element.text, new))
    return tuple(found)


def _read_change(item: Any, key: str) -> ExpectedChange:
    if not isinstance(item, Mapping):
        raise ConfigError(key, f"{shown(item)} is no change", "an object with add, remove or replace")
    kinds = [kind for kind in KINDS if kind in item]
    if len(kinds) != 1:
        raise ConfigError(key, "names no change, or several", "one of add, remove, replace")
    kind = kinds[0]
    allowed = {"add": ("value",), "remove": ("was",), "replace": ("value", "was")}[kind]
    for name in item:
        if name not in (kind, *allowed, "optional", "match"):
            raise ConfigError(f"{key}/{name}", f"does not go with {kind}", (kind, *allowed, "optional", "match"))
    optional = item.get("optional", False)
    if not isinstance(optional, bool):
        raise ConfigError(f"{key}/optional", f"{shown(optional)} is not allowed", "true, false")
    match = item.get("match", {})
    if not isinstance(match, Mapping):
        raise ConfigError(f"{key}/match", f"{shown(match)} is not allowed", "an object")
    options = read_options({"mode": "exact", **match}, f"{key}/match")
    return ExpectedChange(
        kind=kind,
        place=parse_path(item[kind], f"{key}/{kind}"),
        value=_read_value(item, "value", options, key),
        was=_read_value(item, "was", options, key),
        optional=optional,
        options=options,
    )


def _read_value(item: Mapping[str, Any], name: str, options: MatchOptions, key: str) -> Any:
    if name not in item:
        return MISSING
    value = read_expected(item[name], f"{key}/{name}")
    if kind_of(value) in ("object", "list"):
        check_expected(value, options, f"{key}/{name}", f"{key}/match")
    return value
