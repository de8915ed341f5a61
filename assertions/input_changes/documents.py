"""Where the two documents come from: what the portal answered, what the agent submitted, or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assertions.evidence import Evidence
from assertions.matching.call_pattern import CallPattern, read_call_pattern
from assertions.matching.json_values import MISSING, shown, why_unknown
from assertions.matching.paths import PathPattern, parse_path
from assertions.matching.raw_numbers import arguments_as_written
from assertions.matching.selection import Seen, When, sorted_by_status
from assertions.verdict import ConfigError, NotEvaluated
from episodes.frozen import frozen


@frozen
class FromCall:
    """A place in a call's answer, or in its arguments."""

    call: CallPattern
    path: PathPattern


@frozen
class FromFile:
    """A place in a JSON or YAML file (see `read_document`)."""

    file: str
    path: PathPattern


@frozen
class Document:
    """`origin` names where it comes from, for a reason."""

    value: Any
    origin: str


class SourceNeverRead(Exception):
    """The agent submitted without having read the source: `args[0]` says so."""


def read_from_call(config: Any, key: str, tool: str, extra_keys: Sequence[str] = ()) -> FromCall:
    """Read `{tool, args, match, path}`; by default `tool` and `/configuration`.

    Raises:
        ConfigError: anything else.
    """
    if not isinstance(config, Mapping):
        raise ConfigError(key, f"{shown(config)} is not allowed", "an object")
    path = parse_path(config.get("path", "/configuration"), f"{key}/path")
    call = {"tool": tool, **{name: value for name, value in config.items() if name != "path"}}
    return FromCall(read_call_pattern(call, key, extra_keys), path)


def read_source(config: Any, key: str) -> FromCall | FromFile:
    """As `read_from_call`, or `{file, path}`, whose path is by default the whole file."""
    if not isinstance(config, Mapping) or "file" not in config:
        return read_from_call(config, key, "get_spoke")
    for name in config:
        if name not in ("file", "path"):
            raise ConfigError(f"{key}/{name}", "does not go with 'file'", "file, path")
    file = config["file"]
    if not isinstance(file, str) or not file:
        raise ConfigError(f"{key}/file", f"{shown(file)} is no file name", "a text")
    return FromFile(file, parse_path(config.get("path", ""), f"{key}/path"))


def source_document(source: FromCall | FromFile, submission: Seen, evidence: Evidence) -> Document:
    """What the submission is compared with: of several answers, the last one before the submission.

    Raises:
        SourceNeverRead: the record proves that the agent did not read it before.
        NotEvaluated: it may have, but the answer is not in the record, or not whole.
        ConfigError: the file can not be read.
    """
    if isinstance(source, FromFile):
        from assertions.matching.documents import read_document

        document = read_document(source.file, evidence, "/source/file")
        found = _only(source.path, document)
        if found is MISSING:
            raise ConfigError("/source/path", f"{source.path.text!r} addresses nothing, or several places")
        return Document(found, source.file)
    earlier = [Seen(number, call) for number, call in enumerate(evidence.calls()[: submission.number - 1], 1)]
    answered = sorted_by_status(earlier, When.SUCCEEDED)
    fitting = [seen for seen in answered.counted if (match := source.call.match(seen.call)) and match.fits]
    if not fitting:
        undecided = [seen for seen in answered.counted if (match := source.call.match(seen.call)) and match.could_fit]
        if undecided:
            raise NotEvaluated(f"whether {undecided[0]} read the source is unknown: its arguments were cut")
        raise SourceNeverRead(f"the source was never read: no successful {source.call} before {submission}")
    return Document(_place_in_answer(source.path, fitting[-1]), str(fitting[-1]))


def submitted_document(submitted: FromCall, seen: Seen) -> Document | None:
    """What the call submitted; None when its arguments have nothing at that path.

    Raises:
        NotEvaluated: it was cut when it was recorded.
    """
    arguments = arguments_as_written(seen.call)
    found = MISSING if arguments is None else _only(submitted.path, arguments)
    if found is MISSING:
        return None
    if why := why_unknown(found):
        raise NotEvaluated(f"what {seen} submitted {why}")
    return Document(_as_data(found), str(seen))


def _as_data(value: Any) -> Any:
    """Many tools take a configuration as text: an object or a list that is written as JSON is read."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _place_in_answer(path: PathPattern, seen: Seen) -> Any:
    answer = seen.call.result
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            raise NotEvaluated(f"the answer of {seen} is no JSON, so the source can not be read from it") from None
    for depth in range(len(path.segments) + 1):
        for _, above in PathPattern(path.text, path.segments[:depth]).find(answer):
            if why := why_unknown(above):
                raise NotEvaluated(f"the answer of {seen} {why}, so the source is not known")
    found = _only(path, answer)
    if found is MISSING:
        raise NotEvaluated(f"the answer of {seen} has nothing at {path.text or '/'}, so the source is not known")
    return _as_data(found)


def _only(path: PathPattern, document: Any) -> Any:
    found = [value for _, value in path.find(document)]
    return found[0] if len(found) == 1 else MISSING
