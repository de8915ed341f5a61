"""Is what the agent handed in valid: by the schema, by an additional one, by its file name, and in the portal's eyes?

Parts, each with its own component and named score `schema_validation.<part>`: `schema`, `additional_schema`,
`file_name`, `portal`. Only the parts that the config asks for are judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from assertions.evidence import Evidence
from assertions.json_pointer import MISSING, find
from assertions.validation.submissions import Document, from_result, place, read_text, submitted
from assertions.verdict import (
    NOT_EVALUATED_PREFIX,
    CheckResult,
    ConfigError,
    NotEvaluated,
    Verdict,
    conjunction,
    failed,
    not_evaluated,
    passed,
)
from episodes.canonical import canonical_json
from episodes.record import ToolCall, ToolStatus

NAME = "schema_validation"
_WHEN = {"attempted": "was attempted", "executed": "was executed", "succeeded": "succeeded"}
MAX_LISTED = 10
"""How many problems a reason lists; it always says how many there are."""


def judge(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    """Judge what the agent handed in.

    Config: `submitted` (`{tool, path, occurrence, when}` or `{answer: true}`), `schema` (a file, a schema, or
    `{tool, path, otherwise}` for what a tool answered), `additionalSchema` (a file or a schema), `references` (files
    that `$ref` may name), `fileNameRules` (`{pattern, path}`, as in the agent's configuration) with `file` (where in
    the call's result or arguments the file's path stands), `portal_validation` (`{tool, path, expect}`).
    """
    if "submitted" not in config:
        return _judge_documents(evidence, [], config)
    wanted = config["submitted"]
    documents = submitted(evidence, wanted)
    if not documents:
        when = wanted.get("when", "succeeded")
        return _fail(NAME, f"nothing was submitted: no call of {wanted['tool']} {_WHEN[when]}")
    result = _judge_documents(evidence, documents, config)
    if result.verdict is not Verdict.PASS:
        return result
    possible = submitted(evidence, wanted, with_unanswered=True)
    unanswered = [one for one in possible if one.call is not None and one.call.status.executed is None]
    if unanswered and wanted.get("when") != "attempted":
        other = _judge_documents(evidence, possible, config)
        if other.verdict is not Verdict.PASS:
            reason = other.reason.removeprefix(NOT_EVALUATED_PREFIX).lstrip()
            unknown = f"whether {unanswered[0].where} ran is unknown, no answer came back"
            return not_evaluated(NAME, f"{unknown}; if it did: {reason}")
    return result


def _judge_documents(evidence: Evidence, documents: Sequence[Document], config: Mapping[str, Any]) -> CheckResult:
    parts: list[CheckResult] = []
    if documents:
        unread = [document for document in documents if document.problem]
        unread.sort(key=lambda document: document.cut)
        if unread:
            problem = f"{unread[0].where}: {unread[0].problem}"
            return not_evaluated(NAME, problem) if unread[0].cut else _fail(NAME, problem)
        parts += _by_schemas(evidence, documents, config)
        if "fileNameRules" in config:
            parts.append(_file_names(documents, config))
    if "portal_validation" in config:
        parts.append(_portal(evidence, config["portal_validation"], documents))
    if not parts:
        return _pass(NAME, "what was submitted is JSON")
    return conjunction(NAME, parts, "; ".join(part.reason for part in parts))


def read_config(config: Mapping[str, Any]) -> None:
    """Find what the config's own schema can not: patterns that do not compile, and schemas that are none.

    Raises:
        ConfigError: with the place.
    """
    if "pattern" in config.get("fileNameRules", {}):
        _compiled(config["fileNameRules"]["pattern"])
    for key in ("schema", "additionalSchema"):
        if isinstance(config.get(key), dict) and "tool" not in config[key] and not config.get("references"):
            from assertions.validation.schemas import check_schema

            check_schema(config[key], key=f"/{key}")
        if isinstance(config.get(key), dict | bool) and not _is_answered(config[key]):
            _demand_rule(config[key], f"/{key}")


def _is_answered(source: Any) -> bool:
    return isinstance(source, dict) and "tool" in source


def _demand_rule(schema: Any, key: str) -> None:
    # Late, as below: the validator is dear.
    from assertions.validation.schemas import has_rule

    if not has_rule(schema, key):
        allowed = "a schema with at least one rule of its draft, such as type, required or properties"
        raise ConfigError(key, "has no rule, so every document would pass", allowed)


def _by_schemas(evidence: Evidence, documents: Sequence[Document], config: Mapping[str, Any]) -> list[CheckResult]:
    references = {
        name: _file(evidence, name, f"/references/{index}") for index, name in enumerate(config.get("references", ()))
    }
    parts = []
    for key, part in (("schema", "schema"), ("additionalSchema", "additional_schema")):
        if key in config:
            name = f"{NAME}.{part}"
            try:
                schema = _schema(evidence, config[key], f"/{key}")
            except NotEvaluated as error:
                parts.append(not_evaluated(name, error.reason))
                continue
            parts.append(_by_schema(name, documents, schema, references, f"/{key}"))
    return parts


def _schema(evidence: Evidence, source: Any, key: str) -> Any:
    if isinstance(source, str):
        return _ruled(_file(evidence, source, key), key)
    if _is_answered(source):
        from assertions.validation.schemas import has_rule

        found = from_result(evidence, source["tool"], source.get("path", ""))
        if found is not None and not found.problem:
            if has_rule(found.value, key):
                return found.value
            found = Document(found.where, problem="it has no rule of JSON Schema, so every document would pass")
        if "otherwise" in source:
            return _ruled(_file(evidence, source["otherwise"], f"{key}/otherwise"), f"{key}/otherwise")
        problem = f"{found.where}: {found.problem}" if found is not None else f"no call of {source['tool']} succeeded"
        raise NotEvaluated(f"the schema is unknown: {problem}")
    return source


def _ruled(schema: Any, key: str) -> Any:
    _demand_rule(schema, key)
    return schema


def _file(evidence: Evidence, name: str, key: str) -> Any:
    # Late: most schemas come from the record, and reading files needs more imports.
    from assertions.matching.documents import read_document

    return read_document(name, evidence, key)


def _by_schema(
    name: str, documents: Sequence[Document], schema: Any, references: Mapping[str, Any], key: str
) -> CheckResult:
    # Late: the import of the validator is the dear part, and a case without a submission does not need it.
    from assertions.validation.schemas import validate

    lines: list[str] = []
    invalid = 0
    for document in documents:
        problems = validate(schema, document.value, references, key)
        invalid += bool(problems)
        lines += [f"{document.where}: {problem}" for problem in problems]
    scores = {name: 0.0 if lines else 1.0, f"{name}.errors": float(len(lines))}
    if not lines:
        return passed(
            name, "valid by the schema" if key == "/schema" else "valid by the additional schema", 1.0, scores
        )
    more = f"\n… and {len(lines) - MAX_LISTED} more" if len(lines) > MAX_LISTED else ""
    head = "1 error" if len(lines) == 1 else f"{len(lines)} errors"
    listed = "\n".join(lines[:MAX_LISTED])
    return failed(name, f"{head}: {listed}{more}", 1.0 - invalid / len(documents), scores)


def _file_names(documents: Sequence[Document], config: Mapping[str, Any]) -> CheckResult:
    name = f"{NAME}.file_name"
    rules, pointer = config["fileNameRules"], config.get("file", "/path")
    for document in documents:
        path = _path_of(document, pointer)
        if path is None:
            return not_evaluated(name, f"{document.where} does not tell the file's path at {pointer}")
        folder, _, file = path.lstrip("/").rpartition("/")
        if "path" in rules and not fnmatchcase(folder, rules["path"].strip("/")):
            return _fail(name, f"{path} lies in {folder or 'the root folder'!r}; expected {rules['path']!r}")
        if "pattern" in rules and not _compiled(rules["pattern"]).fullmatch(file):
            return _fail(name, f"the file name {file!r} does not match {rules['pattern']!r}")
    return _pass(name, "the file name follows the rules")


def _path_of(document: Document, pointer: str) -> str | None:
    """The call's result says where the file went; where it does not, its arguments may."""
    if document.call is None:
        return None
    for holder in (document.call.result, document.call.arguments):
        value = find(holder, pointer)
        if value is not MISSING and isinstance(value, str):
            return value
    return None


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError("/fileNameRules/pattern", f"{pattern!r} is no regular expression: {error}") from None


def _portal(evidence: Evidence, wanted: Mapping[str, Any], documents: Sequence[Document]) -> CheckResult:
    """What the portal's own validation said, about what was submitted where that is known, else last."""
    name = f"{NAME}.portal"
    tool, expect = wanted["tool"], wanted.get("expect", "valid")
    calls = [call for call in evidence.calls() if fnmatchcase(call.name, tool) and call.status is ToolStatus.OK]
    if not calls:
        return _fail(name, f"the portal was not asked: no call of {tool} succeeded")
    validated = wanted.get("validated", "/configuration")
    asked = [] if documents else [calls[-1]]
    for document in documents:
        about = [call for call in calls if _same(find(call.arguments, validated), document.value)]
        if not about:
            return _fail(name, f"{tool} was never asked about what {document.where} submitted")
        asked.append(about[-1])
    for call in asked:
        problem = _said(call, wanted.get("path", "/valid"), expect)
        if problem:
            return _fail(name, problem)
    return _pass(name, f"the portal said {expect}")


def _said(call: ToolCall, pointer: str, expect: str) -> str | None:
    """What is wrong with the portal's answer; None when it is as expected."""
    answer = read_text(call.result)
    said = find(answer, pointer)
    if not isinstance(said, bool):
        raise NotEvaluated(f"the result of {place(call)} says neither true nor false at {pointer}")
    if said is (expect == "valid"):
        return None
    errors = find(answer, "/errors")
    detail = _first_error(errors) if isinstance(errors, list) and errors else ""
    return f"{place(call)}: the portal said {'valid' if said else 'invalid'}, expected {expect}{detail}"


def _same(left: Any, right: Any) -> bool:
    return left is not MISSING and canonical_json(read_text(left)) == canonical_json(right)


def _first_error(errors: Sequence[Any]) -> str:
    first = errors[0]
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    if isinstance(first, dict):
        first = f"{first.get('pointer') or '/'}: {first.get('message', '')}"
    return f": {first}{more}"


def _pass(name: str, reason: str) -> CheckResult:
    return passed(name, reason, 1.0, {name: 1.0})


def _fail(name: str, reason: str) -> CheckResult:
    return failed(name, reason, 0.0, {name: 0.0})
