"""Places inside a JSON value: JSON Pointers, with globs, and with list elements addressed by a key of theirs.

| written | addresses |
|---|---|
| `/virtualNetwork/name` or, for a top-level key, `name` | that place (RFC 6901, with `~0` and `~1`) |
| `/subnets/0` | the first element of a list |
| `/subnets/[name=snet-app]/addressPrefix` | the same in the element whose `name` is `snet-app`, wherever it stands |
| `/dnsServers/[=10.0.0.4]` | the element with this value |
| `/subnets/*/name`, `/tags/cost*`, `/subnets/[name=snet-*]` | every place that fits (`*` any text, `?` one character) |
| `/**/name` | the same at any depth |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from assertions.matching.globs import glob_fits, has_wildcard
from assertions.verdict import ConfigError
from episodes.frozen import frozen


@frozen
class Item:
    """An element of a list, as one step of a path. A diff knows it at two places, one index for each side."""

    indexes: tuple[int, ...]
    values: tuple[Any, ...]
    label: str = ""
    """How the step is written (`[name=snet-app]`); empty: its index."""

    def __str__(self) -> str:
        return self.label or str(self.indexes[0])


Step = str | int | Item
"""One step of a concrete path: the key of an object, or an element of a list (as a number where only a reason needs it,
so that no pattern is asked about it)."""

Path = tuple[Step, ...]


def pointer(path: Sequence[Step]) -> str:
    """The path as it is written in a config and in a reason; `/` for the whole value."""
    return "".join(f"/{escaped(step) if isinstance(step, str) else step}" for step in path) or "/"


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


@frozen
class Segment:
    """One step of a pattern. `key` is None for a plain step, else the key by which a list element is addressed."""

    text: str
    key: str | None = None

    @property
    def any_depth(self) -> bool:
        return self.key is None and self.text == "**"

    def as_step(self) -> Step:
        return self.text if self.key is None else Item((), (), f"[{self.key}={self.text}]")

    def fits(self, step: Step) -> bool:
        if isinstance(step, str):
            return self.key is None and self._says(step)
        if isinstance(step, int):
            return self.key is None and self._says(str(step))
        if self.key is None:
            return any(self._says(str(index)) for index in step.indexes)
        return any(
            self._says(text) for text in (_key_text(value, self.key) for value in step.values) if text is not None
        )

    def _says(self, text: str) -> bool:
        return glob_fits(self.text, text)


@frozen
class PathPattern:
    """A place or, with globs, places. `text` is what the config says."""

    text: str
    segments: tuple[Segment, ...] = ()

    @property
    def is_literal(self) -> bool:
        """It can address one place only."""
        return not any(has_wildcard(segment.text) for segment in self.segments)

    def as_path(self) -> Path:
        """The place as written, for a reason about a place that is not there."""
        return tuple(segment.as_step() for segment in self.segments)

    def matches(self, path: Sequence[Step]) -> bool:
        return _matches(self.segments, path, 0, 0, prefix=False)

    def covers(self, path: Sequence[Step]) -> bool:
        """It matches `path` or a place above it."""
        return _matches(self.segments, path, 0, 0, prefix=True)

    def reaches(self, path: Sequence[Step]) -> bool:
        """A place below `path` can match it."""
        return any(
            PathPattern(self.text, self.segments[:length]).matches(path) for length in range(len(self.segments))
        ) or any(segment.any_depth for segment in self.segments)

    def find(self, value: Any) -> Iterator[tuple[Path, Any]]:
        """All places in `value` that match, with what stands there, in document order."""
        yield from _find(self.segments, 0, value, ())


def parse_path(text: Any, key: str) -> PathPattern:
    """Read a pattern out of a config; `key` is its place there.

    Raises:
        ConfigError: it is no text, or a bracket is not closed or holds no `=`.
    """
    if not isinstance(text, str):
        raise ConfigError(key, f"{text!r} is no path", "a JSON Pointer such as /subnets/[name=snet-app]/addressPrefix")
    try:
        return _parse(text)
    except ValueError as error:
        raise ConfigError(key, str(error), "[key=value] or [=value]") from None


@lru_cache(maxsize=1024)
def _parse(text: str) -> PathPattern:
    if not text:
        return PathPattern(text)
    rest = text if text.startswith("/") else f"/{text}"
    segments: list[Segment] = []
    while rest:
        rest = rest[1:]
        if rest.startswith("["):
            # A value in brackets may hold slashes (an address range does), so the bracket ends the segment.
            end = re.search(r"\](?=/|$)", rest)
            if end is None:
                raise ValueError(f"the bracket in {text!r} is not closed")
            key, equals, wanted = rest[1 : end.start()].partition("=")
            if not equals:
                raise ValueError(f"the bracket in {text!r} has no '='")
            segments.append(Segment(wanted, key))
            rest = rest[end.end() :]
        else:
            plain, slash, after = rest.partition("/")
            plain = plain.replace("~1", "/").replace("~0", "~")
            segments.append(Segment(plain))
            rest = slash + after
    return PathPattern(text, tuple(segments))


def _matches(segments: Sequence[Segment], path: Sequence[Step], at: int, depth: int, prefix: bool) -> bool:
    while at < len(segments):
        segment = segments[at]
        if segment.any_depth:
            return any(_matches(segments, path, at + 1, below, prefix) for below in range(depth, len(path) + 1))
        if depth == len(path) or not segment.fits(path[depth]):
            return False
        at, depth = at + 1, depth + 1
    return prefix or depth == len(path)


def _find(segments: Sequence[Segment], at: int, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if at == len(segments):
        yield path, value
        return
    segment = segments[at]
    if segment.any_depth:
        yield from _find(segments, at + 1, value, path)
    for step, inner in _children(value):
        if segment.any_depth:
            yield from _find(segments, at, inner, (*path, step))
        elif segment.fits(step):
            yield from _find(segments, at + 1, inner, (*path, step))


def _children(value: Any) -> Iterator[tuple[Step, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield Item((index,), (inner,)), inner


def _key_text(value: Any, key: str) -> str | None:
    """The text by which an element is addressed; None when it has no such key, or something composite there."""
    if key:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return scalar_text(value)


def scalar_text(value: Any) -> str | None:
    """A text as it is, another scalar as JSON, None for a list or an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return None
