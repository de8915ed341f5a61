"""A YAML file as plain JSON values, with the line of every one of them.

Scalars are read as YAML 1.2 has them, as promptfoo does: `no` is a word, `22:00` is a text and so is `2026-03-01`. What
JSON cannot hold (NaN, a tag of its own, a key twice) is a problem with a line number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Step = str | int
"""One step of a path into a document: a key, or an index from 0."""

_TAG = "tag:yaml.org,2002:"


class YamlProblem(ValueError):
    """The file cannot be read, or holds what JSON cannot. `line` counts from 1."""

    def __init__(self, file: Path, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


class _Loader(yaml.CSafeLoader):
    """The library's fast loader, with the scalars of YAML 1.2 instead of 1.1."""


_Loader.yaml_implicit_resolvers = {}


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", list("-+.")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(f"^(?:{_pattern})$"), _first)


@dataclass(frozen=True)
class Document:
    """A file's content: `value` is plain JSON; `line` finds the place of a part of it."""

    file: Path
    value: Any
    root: yaml.Node

    def line(self, path: Sequence[Step] = ()) -> int:
        """The line, from 1, of the part at `path`; of the innermost part that exists when `path` leads nowhere."""
        node = self.root
        line = node.start_mark.line
        for step in path:
            if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
            elif isinstance(node, yaml.MappingNode) and isinstance(step, str):
                pair = next((pair for pair in _pairs(node) if pair[0].value == step), None)
                if pair is None:
                    break
                key, node = pair
                line = key.start_mark.line
            else:
                break
        return line + 1


def read_yaml(file: Path) -> Document:
    """Read a file with one YAML document.

    Raises:
        YamlProblem: it does not exist, is not YAML, is empty, or holds what JSON cannot.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise YamlProblem(file, 1, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise YamlProblem(file, 1, "is not a text in UTF-8") from error
    try:
        root = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(part for part in (error.context, error.problem) if part)
        raise YamlProblem(file, mark.line + 1 if mark else 1, f"is not YAML: {words}") from error
    except yaml.YAMLError as error:
        raise YamlProblem(file, 1, f"is not YAML: {error}") from error
    if root is None:
        raise YamlProblem(file, 1, "is empty")
    return Document(file, _Reader(file).value(root), root)


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """A mapping's own pairs, then those that it merges in with `<<`."""
    merged: list[yaml.MappingNode] = []
    for key, value in node.value:
        if key.tag != _TAG + "merge":
            yield key, value
        else:
            merged += [one for one in _merged(value) if isinstance(one, yaml.MappingNode)]
    for other in merged:
        yield from _pairs(other)


def _merged(value: yaml.Node) -> list[yaml.Node]:
    return list(value.value) if isinstance(value, yaml.SequenceNode) else [value]


class _Reader:
    """Turns nodes into values, and complains with the node's line."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open: list[yaml.Node] = []

    def value(self, node: yaml.Node) -> Any:
        if any(node is outer for outer in self._open):
            raise self._problem(node, "contains itself by an alias")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self._open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
                return [self.value(item) for item in node.value]
            if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
                return self._mapping(node)
        finally:
            self._open.pop()
        raise self._problem(node, f"has the tag {node.tag}; allowed are plain values, lists and mappings")

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        own: set[str] = set()
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                wrong = next((one for one in _merged(value) if not isinstance(one, yaml.MappingNode)), None)
                if wrong is not None:
                    raise self._problem(wrong, "is merged with << and is not a mapping")
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self._problem(key, "is a key that is not a word; allowed are texts")
            if key.value in own:
                raise self._problem(key, f"the key {key.value!r} stands here a second time")
            own.add(key.value)
        result: dict[str, Any] = {}
        for key, value in _pairs(node):
            if key.value not in result:
                result[key.value] = self.value(value)
        return result

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        match node.tag.removeprefix(_TAG):
            case "str" | "merge":
                return text
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return _integer(text)
            case "float":
                if text.lower().lstrip("+-") in (".inf", ".nan"):
                    raise self._problem(
                        node, f"{text} is no number that JSON can hold; write it in quotes if it is a text"
                    )
                return float(text)
        raise self._problem(node, f"has the tag {node.tag}; allowed are texts, numbers, true, false and null")

    def _problem(self, node: yaml.Node, message: str) -> YamlProblem:
        return YamlProblem(self._file, node.start_mark.line + 1, message)


def _integer(text: str) -> int:
    if text.startswith("0o"):
        return int(text[2:], 8)
    return int(text, 16) if text.startswith("0x") else int(text)
