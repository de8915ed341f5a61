"""Two JSON documents laid over each other, place by place.

Objects are aligned by their keys. A list is aligned by a key of its elements (`name`, say) when each element has one of
its own, and a list of different scalars by the scalars themselves, so that one inserted element is one change. Other
lists are aligned by position, after what is equal at both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assertions.matching.json_values import MISSING, json_equal, kind_of, why_unknown
from assertions.matching.paths import Item, Path, PathPattern, Segment, Step, scalar_text
from episodes.frozen import frozen

DEFAULT_LIST_KEYS = ("name", "id")

ABSENT = -1
"""Index of an element on the side where it is not."""


@frozen
class Renaming:
    """An element that is to be taken for the same although its key was changed from `old` to `new`."""

    list_path: PathPattern
    key: str
    old: str
    new: str


@frozen
class AlignmentRules:
    """`unordered`: lists whose order does not matter. `ignore`: places that are left out altogether."""

    list_keys: tuple[str, ...] = DEFAULT_LIST_KEYS
    unordered: tuple[PathPattern, ...] = ()
    ignore: tuple[PathPattern, ...] = ()
    renamings: tuple[Renaming, ...] = ()


class Place:
    """One place in both documents; `source` or `submitted` is MISSING where it is only in the other.

    `children` are the places below it. `new_order` is set for a list whose common elements stand in another order: for
    each of them, in the order of the submission, its index in the source.
    """

    __slots__ = ("changed", "children", "new_order", "path", "source", "submitted")

    def __init__(self, path: Path, source: Any, submitted: Any) -> None:
        self.path = path
        self.source = source
        self.submitted = submitted
        self.children: list[Place] = []
        self.new_order: tuple[int, ...] = ()
        self.changed = not json_equal(source, submitted)

    @property
    def one_sided(self) -> bool:
        return self.source is MISSING or self.submitted is MISSING

    @property
    def why_unknown(self) -> str:
        """Why one of the values is no evidence; empty when both are."""
        return why_unknown(self.source) or why_unknown(self.submitted)

    def walk(self) -> Iterator[Place]:
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, pattern: PathPattern) -> list[Place]:
        """The places that the pattern matches on either side."""
        return [place for place in self._reachable(pattern.segments) if pattern.matches(place.path)]

    def _reachable(self, segments: Sequence[Segment]) -> Iterator[Place]:
        depth = len(self.path)
        if depth <= len(segments) or any(segment.any_depth for segment in segments):
            yield self
            for child in self.children:
                if any(segment.any_depth for segment in segments) or (
                    depth < len(segments) and segments[depth].fits(child.path[-1])
                ):
                    yield from child._reachable(segments)


def align(source: Any, submitted: Any, rules: AlignmentRules) -> Place:
    """Lay `submitted` over `source`. Ignored places are not in the result."""
    return _align((), source, submitted, rules)


def _align(path: Path, source: Any, submitted: Any, rules: AlignmentRules) -> Place:
    place = Place(path, source, submitted)
    if not place.changed or place.why_unknown:
        return place
    kinds = {kind_of(value) for value in (source, submitted) if value is not MISSING}
    if kinds == {"object"}:
        pairs = _object_pairs(source, submitted)
    elif kinds == {"list"}:
        left, right = ([] if side is MISSING else side for side in (source, submitted))
        pairs = _list_pairs(place, left, right, rules)
    else:
        return place
    for step, old, new in pairs:
        below = (*path, step)
        if not any(pattern.matches(below) for pattern in rules.ignore):
            place.children.append(_align(below, old, new, rules))
    if not place.one_sided:
        # What is ignored, and an order that does not matter, are no change.
        place.changed = bool(place.new_order) or any(child.changed for child in place.children)
    return place


Pair = tuple[Step, Any, Any]


def _object_pairs(source: Any, submitted: Any) -> list[Pair]:
    left = source if isinstance(source, Mapping) else {}
    right = submitted if isinstance(submitted, Mapping) else {}
    return [(key, left.get(key, MISSING), right.get(key, MISSING)) for key in dict.fromkeys((*left, *right))]


def _list_pairs(place: Place, source: Sequence[Any], submitted: Sequence[Any], rules: AlignmentRules) -> list[Pair]:
    unordered = any(pattern.matches(place.path) for pattern in rules.unordered)
    for key in ("", *rules.list_keys):
        left, right = _texts(source, key), _texts(submitted, key)
        if left is not None and right is not None:
            return _keyed_pairs(
                place, source, submitted, key, left, _renamed(place, key, left, right, rules), unordered
            )
    if unordered:
        return _multiset_pairs(source, submitted)
    return _positional_pairs(source, submitted)


def _texts(elements: Sequence[Any], key: str) -> list[str] | None:
    """What each element is called by; None if one has no name, or two have the same."""
    texts: list[str] = []
    for element in elements:
        if key:
            if not isinstance(element, Mapping) or key not in element:
                return None
            element = element[key]
        text = scalar_text(element)
        if text is None:
            return None
        texts.append(text)
    return texts if len(set(texts)) == len(texts) else None


def _renamed(place: Place, key: str, left: list[str], right: list[str], rules: AlignmentRules) -> list[str]:
    """The submission's names, with the old name where a renaming was announced."""
    for renaming in rules.renamings:
        if renaming.key == key and renaming.list_path.matches(place.path):
            old, new = renaming.old, renaming.new
            if old in left and old not in right and new in right and new not in left:
                right = [old if text == new else text for text in right]
    return right


def _keyed_pairs(
    place: Place,
    source: Sequence[Any],
    submitted: Sequence[Any],
    key: str,
    left: list[str],
    right: list[str],
    unordered: bool,
) -> list[Pair]:
    at_left = {text: index for index, text in enumerate(left)}
    at_right = {text: index for index, text in enumerate(right)}
    pairs: list[Pair] = []
    for text in dict.fromkeys((*left, *right)):
        old, new = at_left.get(text, ABSENT), at_right.get(text, ABSENT)
        pairs.append(_pair(source, submitted, old, new, f"[{key}={text}]"))
    common = [at_left[text] for text in right if text in at_left]
    if common != sorted(common) and not unordered:
        place.new_order = tuple(common)
    return pairs


def _multiset_pairs(source: Sequence[Any], submitted: Sequence[Any]) -> list[Pair]:
    left_over = list(range(len(submitted)))
    pairs: list[Pair] = []
    for old, element in enumerate(source):
        twin = next((new for new in left_over if json_equal(element, submitted[new])), None)
        if twin is None:
            pairs.append(_pair(source, submitted, old, ABSENT))
        else:
            left_over.remove(twin)
    return pairs + [_pair(source, submitted, ABSENT, new) for new in left_over]


def _positional_pairs(source: Sequence[Any], submitted: Sequence[Any]) -> list[Pair]:
    shorter = min(len(source), len(submitted))
    front = 0
    while front < shorter and json_equal(source[front], submitted[front]):
        front += 1
    back = 0
    while back < shorter - front and json_equal(source[-1 - back], submitted[-1 - back]):
        back += 1
    old_end, new_end = len(source) - back, len(submitted) - back
    pairs: list[Pair] = []
    for offset in range(max(old_end, new_end) - front):
        old = front + offset if front + offset < old_end else ABSENT
        new = front + offset if front + offset < new_end else ABSENT
        pairs.append(_pair(source, submitted, old, new))
    return pairs


def _pair(source: Sequence[Any], submitted: Sequence[Any], old: int, new: int, label: str = "") -> Pair:
    left = MISSING if old == ABSENT else source[old]
    right = MISSING if new == ABSENT else submitted[new]
    values = tuple(value for value in (left, right) if value is not MISSING)
    return Item((old, new), values, label or str(new if old == ABSENT else old)), left, right
