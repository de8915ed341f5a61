"""Does an actual value fit an expected one? And if not: what is different, where, and in how many parameters?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assertions.matching.argument_fit import NOTHING_WRONG, ArgumentMatch, Mismatch
from assertions.matching.assignment import largest_matching
from assertions.matching.comparators import TEXT_FORMS, Expect, near, read_as
from assertions.matching.differences import different, extra, missing, unexpected, unknown
from assertions.matching.globs import has_wildcard
from assertions.matching.json_values import (
    MISSING,
    NO_TWIN,
    Missing,
    Twins,
    json_equal,
    kind_of,
    shown,
    why_unknown,
    why_unknown_within,
)
from assertions.matching.options import PLAIN, MatchOptions, Patterns
from assertions.matching.paths import Item, Path, PathPattern, pointer
from assertions.matching.tool_schema import ToolSchema

_SIMPLE = (str, int, bool, type(None))
"""Types of which two values of the same type need no closer look."""


def match_arguments(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    options: MatchOptions = PLAIN,
    schema: Mapping[str, Any] | None = None,
    twins: Twins | None = None,
) -> ArgumentMatch:
    """Compare a call's arguments. `expected` was read by `read_expected`; `schema` is the tool's, where options ask.

    `twins` are those of `expected`, for plain options: they spare the walk through parts that are equal.
    """
    if options.mode == "name_only":
        return NOTHING_WRONG
    comparison = Comparison(options, schema, twins)
    comparison.compare(expected, actual, ())
    comparison.compare_paths(actual)

    def compared() -> set[str]:
        return {name for name in (*expected, *comparison.paths_from_top) if not comparison.ignores((name,))}

    return ArgumentMatch(compared, comparison.mismatches, tuple(dict.fromkeys(comparison.notes)))


def match_value(expected: Any, actual: Any, options: MatchOptions = PLAIN) -> tuple[Mismatch, ...]:
    """Compare two values of any kind; empty when they fit."""
    comparison = Comparison(options, None)
    comparison.compare(expected, actual, ())
    comparison.compare_paths(actual)
    return tuple(comparison.mismatches)


class Comparison:
    """One walk over an expected and an actual value. Collects mismatches in the order of the expected value."""

    def __init__(self, options: MatchOptions, schema: Mapping[str, Any] | None, twins: Twins | None = None) -> None:
        self.options = options
        self.twin_of = None if twins is None else twins.by_identity.get
        self.plain = options.is_plain
        self.schema = ToolSchema(schema) if schema is not None else None
        self.mismatches: list[Mismatch] = []
        self.notes: list[str] = []

    @property
    def paths_from_top(self) -> set[str]:
        """The top-level names that `compare` speaks of."""
        return {
            pattern.segments[0].text
            for pattern, _ in self.options.compare
            if pattern.segments and not has_wildcard(pattern.segments[0].text)
        }

    def ignores(self, path: Path) -> bool:
        return _any(self.options.ignore, path)

    def compare(self, expected: Any, actual: Any, path: Path, read: bool = True) -> None:
        """`read` is False for a value that was already read out of a text (JSON in a string)."""
        if self.plain:
            kind = type(expected)
            if kind is type(actual):
                if kind in _SIMPLE:
                    if expected != actual:
                        self.mismatches.append(different(path, expected, actual))
                    return
                if kind is list:
                    self._compare_lists(expected, actual, path)
                    return
                if kind is dict and "truncated" not in actual:
                    self._compare_objects(expected, actual, path)
                    return
        else:
            if self.ignores(path):
                return
            if _any(self.options.optional, path) and (actual is MISSING or actual is None):
                return
            if read and self._compared_by_rule(expected, actual, path):
                return
        if isinstance(expected, Expect):
            self._expect(expected, actual, path)
        elif actual is MISSING:
            default = self._default(path)
            if default is MISSING or not json_equal(expected, default):
                self.mismatches.append(missing(path, expected))
        elif why := why_unknown(actual):
            self.mismatches.append(unknown(path, why))
        else:
            self._compare_known(expected, self._coerced(expected, actual, path), path)

    def compare_paths(self, actual: Any) -> None:
        """Judge the paths of `compare`: a place that is not there is judged too, a glob must find at least one."""
        for pattern, expect in self.options.compare:
            found = list(pattern.find(actual))
            for path, value in found:
                if not self.ignores(path):
                    self._expect(expect, value, path)
            if not found:
                path = pattern.as_path()
                why = _why_unknown_above(pattern, actual)
                if why:
                    self.mismatches.append(unknown(path, why))
                elif not expect.holds(MISSING):
                    self.mismatches.append(missing(path, expect))

    def _compare_known(self, expected: Any, actual: Any, path: Path) -> None:
        kind = kind_of(actual)
        if kind is None or kind != kind_of(expected):
            self.mismatches.append(different(path, expected, actual))
        elif kind == "object":
            self._compare_objects(expected, actual, path)
        elif kind == "list":
            if not self.plain and _any(self.options.unordered, path):
                self._compare_multisets(expected, actual, path)
            else:
                self._compare_lists(expected, actual, path)
        elif expected != actual or (self.options.strict_numbers and type(expected) is not type(actual)):
            self.mismatches.append(different(path, expected, actual))

    def _compare_objects(self, expected: Mapping[str, Any], actual: Mapping[str, Any], path: Path) -> None:
        for key in self._to_compare(expected, actual):
            self.compare(expected[key], actual.get(key, MISSING), (*path, key))
        if self.options.mode == "exact" and not actual.keys() <= expected.keys():
            for key, item in actual.items():
                if key not in expected:
                    self._compare_unlisted(item, (*path, key))

    def _to_compare(self, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterable[str]:
        """The keys whose values are not known to be equal."""
        if self.twin_of is None:
            return expected
        twin = self.twin_of(id(expected))
        if twin is None:
            return [
                key for key, item in expected.items() if self.twin_of(id(item), NO_TWIN) != actual.get(key, MISSING)
            ]
        return [key for key, wanted in twin.items() if wanted != actual.get(key, MISSING)]

    def _compare_unlisted(self, actual: Any, path: Path) -> None:
        """A key that the expected value does not name, where every key has to be named."""
        if not self.plain:
            if self.ignores(path) or (actual is None and _any(self.options.optional, path)):
                return
            if any(pattern.matches(path) for pattern, _ in self.options.compare):
                return
            if any(pattern.reaches(path) for pattern, _ in self.options.compare):
                if isinstance(actual, Mapping):
                    self._compare_objects({}, actual, path)
                    return
                if isinstance(actual, list):
                    for index, item in enumerate(actual):
                        self._compare_unlisted(item, (*path, Item((index,), (item,))))
                    return
            default = self._default(path)
            if default is not MISSING and json_equal(default, actual):
                return
        self.mismatches.append(unexpected(path, actual))

    def _compare_lists(self, expected: Sequence[Any], actual: Sequence[Any], path: Path) -> None:
        twin_of = self.twin_of
        for index, (wanted, item) in enumerate(zip(expected, actual, strict=False)):
            if twin_of is None or twin_of(id(wanted), NO_TWIN) != item:
                self.compare(wanted, item, (*path, index if self.plain else Item((index,), (item,))))
        for index in range(len(actual), len(expected)):
            self.mismatches.append(missing((*path, index), expected[index]))
        for index in range(len(expected), len(actual)):
            self.mismatches.append(extra((*path, index), actual[index]))

    def _compare_multisets(self, expected: Sequence[Any], actual: Sequence[Any], path: Path) -> None:
        lost: set[tuple[int, int]] = set()

        def fits(left: int, right: int) -> bool:
            inner = Comparison(self.options, self.schema.document if self.schema else None)
            inner.compare(expected[left], actual[right], (*path, Item((right,), (actual[right],))))
            if inner.mismatches and all(mismatch.unknown for mismatch in inner.mismatches):
                lost.add((left, right))
            return not inner.mismatches

        partners = largest_matching(len(expected), len(actual), fits)
        taken = set(partners)
        alone = [left for left, right in enumerate(partners) if right is None]
        left_over = [right for right in range(len(actual)) if right not in taken]
        if alone and lost and len(expected) == len(actual):
            self.mismatches.append(unknown(path, "has an element that was cut when it was recorded"))
            return
        for left in alone:
            self.mismatches.append(missing(path, expected[left], element=True))
        for right in left_over:
            self.mismatches.append(extra(path, actual[right]))

    def _expect(self, expect: Expect, actual: Any, path: Path) -> None:
        if why := why_unknown(actual):
            self.mismatches.append(unknown(path, why))
        elif not expect.holds(actual):
            if expect.turns_on_parts(actual) and (why := why_unknown_within(actual)):
                self.mismatches.append(unknown(path, why))
            else:
                self.mismatches.append(missing(path, expect) if actual is MISSING else different(path, expect, actual))

    def _compared_by_rule(self, expected: Any, actual: Any, path: Path) -> bool:
        """Whether a rule for this path has judged the value."""
        if isinstance(expected, Expect) or isinstance(actual, Missing) or why_unknown(actual):
            return False
        options = self.options
        if _any(options.int_as_text, path):
            if kind_of(actual) == "string" or (isinstance(actual, int) and not isinstance(actual, bool)):
                if str(expected) != str(actual):
                    self.mismatches.append(different(path, expected, actual, "compared digit by digit"))
            else:
                self.mismatches.append(different(path, expected, actual))
            return True
        for pattern, within in options.approx:
            if pattern.matches(path):
                if not near(expected, actual, within):
                    self.mismatches.append(different(path, expected, actual, f"± {within:g}"))
                return True
        for name, patterns in options.readings:
            if _any(patterns, path):
                self._compare_readings(name, expected, actual, path)
                return True
        if isinstance(expected, str) and isinstance(actual, str):
            return self._compare_texts(expected, actual, path)
        return False

    def _compare_readings(self, name: str, expected: Any, actual: Any, path: Path) -> None:
        if name == "json_string":
            wanted = read_as(name, expected) if isinstance(expected, str) else expected
            value = read_as(name, actual)
            if value is MISSING:
                self.mismatches.append(different(path, expected, actual, "no JSON text"))
            else:
                self.compare(wanted, value, path, read=False)
        else:
            wanted, value = read_as(name, expected), read_as(name, actual)
            if wanted is MISSING or value is MISSING or wanted != value:
                self.mismatches.append(different(path, expected, actual, f"compared as {name}"))

    def _compare_texts(self, expected: str, actual: str, path: Path) -> bool:
        forms = [name for name, patterns in self.options.text_forms if _any(patterns, path)]
        if not forms:
            return False
        wanted, text = expected, actual
        for name in forms:
            wanted, text = TEXT_FORMS[name](wanted), TEXT_FORMS[name](text)
        if wanted != text:
            self.mismatches.append(different(path, expected, actual))
        return True

    def _default(self, path: Path) -> Any:
        for pattern, value in self.options.defaults:
            if pattern.matches(path):
                return value
        if self.options.schema_defaults and self.schema is not None:
            return self.schema.default_at(path)
        return MISSING

    def _coerced(self, expected: Any, actual: Any, path: Path) -> Any:
        """A text that the tool's schema wants as a number or boolean, and that spells one, as that value."""
        if not self.options.coerce or not isinstance(actual, str) or isinstance(expected, str) or self.schema is None:
            return actual
        value = read_as("json_string", actual) if actual == actual.strip() else MISSING
        wanted = {"boolean": ("boolean",), "number": ("integer", "number")}.get(str(kind_of(value)), ())
        for name in self.schema.types_at(path):
            if name in wanted and (name != "integer" or isinstance(value, int)):
                self.notes.append(f"coerced {pointer(path)} from {shown(actual)}")
                return value
        return actual


def _any(patterns: Patterns, path: Path) -> bool:
    return any(pattern.matches(path) for pattern in patterns)


def _why_unknown_above(pattern: PathPattern, value: Any) -> str:
    """Why the evidence above the pattern's place is lost, if it is."""
    for depth in range(len(pattern.segments)):
        above = PathPattern(pattern.text, pattern.segments[:depth])
        for _, found in above.find(value):
            if why := why_unknown(found):
                return why
    return ""
