"""What one customer demands of the files that the agent hands in, on top of what its tools demand.

    fileNameRules: {pattern: 'spoke-[a-z0-9-]+', path: spokes, file: /configuration/name}
    additionalSchema: customer.schema.json        # or {file: customer.schema.json, document: /configuration}

The agent is told these rules with its instructions, and each call of a creating tool is checked before it is sent: one
that breaks a rule is not executed, and the model is told why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from models.config_values import check_keys
from providers.agent.arguments import ArgumentCheck
from providers.agent_protocol import ConfigurationProblem

FILE_NAME_KEYS = ("pattern", "path", "file")
SCHEMA_KEYS = ("file", "document")
DEFAULT_FILE = "/path"
DEFAULT_DOCUMENT = "/configuration"


@dataclass(frozen=True)
class FileNameRules:
    """`pattern` is a regular expression for the whole name of the file, `path` a glob for its folder; empty is any.

    `file` is the JSON Pointer in a call's arguments to the file's path, or to its name alone.
    """

    pattern: str = ""
    path: str = ""
    file: str = DEFAULT_FILE

    def errors(self, arguments: Mapping[str, Any]) -> list[str]:
        value = _at(arguments, self.file)
        if not isinstance(value, str) or not value:
            return [f"{self.file}: expected the path of a file"]
        folder, slash, name = value.strip("/").rpartition("/")
        errors = []
        if self.path and slash and not fnmatchcase(folder, self.path.strip("/")):
            errors.append(f"{self.file}: the folder {folder!r} is not {self.path!r}")
        if self.pattern and not re.fullmatch(self.pattern, name):
            errors.append(f"{self.file}: the name {name!r} does not match {self.pattern!r}")
        return errors

    def in_words(self) -> str:
        parts = [f"its name matches the regular expression `{self.pattern}`"] if self.pattern else []
        parts += [f"its folder is `{self.path}`"] if self.path else []
        return f"The file that you submit (`{self.file}` of the call): {', and '.join(parts)}."


@dataclass(frozen=True)
class AdditionalSchema:
    """A JSON Schema that the document at `document` in a call's arguments has to satisfy. Formats are checked."""

    name: str
    schema: Mapping[str, Any]
    document: str = DEFAULT_DOCUMENT

    def errors(self, arguments: Mapping[str, Any]) -> list[str]:
        value = _at(arguments, self.document)
        if not isinstance(value, dict):
            return [f"{self.document}: expected an object"]
        check = ArgumentCheck(self.schema, formats=True)
        errors = [f"{self.document}{error}" for error in check.errors(value)]
        return [f"{self.name}: {check.problem}"] if check.problem else errors

    def in_words(self) -> str:
        text = json.dumps(self.schema, ensure_ascii=False, indent=1)
        return f"What you submit (`{self.document}` of the call) is also valid by this JSON Schema:\n{text}"


@dataclass(frozen=True)
class SubmissionRules:
    file_name: FileNameRules | None = None
    schema: AdditionalSchema | None = None

    def errors(self, arguments: Mapping[str, Any]) -> list[str]:
        """What a creating call breaks, as `<JSON Pointer>: <message>`; empty when it keeps all rules."""
        return [error for rule in (self.file_name, self.schema) if rule for error in rule.errors(arguments)]

    def in_words(self) -> str:
        """The rules as a part of the agent's instructions; empty without rules."""
        rules = [rule.in_words() for rule in (self.file_name, self.schema) if rule]
        return "\n\n".join(["# Rules for what you submit", *rules]) if rules else ""

    def fingerprint(self) -> Any:
        """What of the rules can change a result, as JSON data."""
        names, schema = self.file_name, self.schema
        return [
            names and [names.pattern, names.path, names.file],
            schema and [schema.document, schema.schema],
        ]


def read_file_name_rules(data: Any, where: str = "fileNameRules") -> FileNameRules | None:
    """Read `fileNameRules`; None when there are none.

    Raises:
        ConfigurationProblem: an unknown key, no rule, or a pattern that is no regular expression.
    """
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"{where}: expected a mapping with {', '.join(FILE_NAME_KEYS)}")
    check_keys(data, FILE_NAME_KEYS, f"{where}.")
    rules = FileNameRules(
        str(data.get("pattern") or ""), str(data.get("path") or ""), _pointer(data, "file", DEFAULT_FILE, where)
    )
    if not rules.pattern and not rules.path:
        raise ConfigurationProblem(f"{where}: demands nothing; expected pattern or path")
    try:
        re.compile(rules.pattern)
    except re.error as error:
        raise ConfigurationProblem(f"{where}.pattern: {rules.pattern!r} is no regular expression: {error}") from None
    return rules


def read_additional_schema(
    data: Any, find: Callable[[Any, str], Path], where: str = "additionalSchema"
) -> AdditionalSchema | None:
    """Read `additionalSchema`: a file, or a mapping with `file` and `document`; `find` finds the file.

    Raises:
        ConfigurationProblem: an unknown key, or a file that is not there or no JSON Schema.
    """
    if data is None:
        return None
    parts = data if isinstance(data, Mapping) else {"file": data}
    check_keys(parts, SCHEMA_KEYS, f"{where}.")
    path = find(parts.get("file"), where)
    try:
        schema = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ConfigurationProblem(f"{where}: {parts['file']} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise ConfigurationProblem(f"{where}: {parts['file']} holds no JSON Schema, which is an object")
    problem = ArgumentCheck(schema, formats=True).problem
    if problem:
        raise ConfigurationProblem(f"{where}: {parts['file']}: {problem}")
    return AdditionalSchema(str(parts["file"]), schema, _pointer(parts, "document", DEFAULT_DOCUMENT, where))


def _pointer(data: Mapping[str, Any], key: str, default: str, where: str) -> str:
    value = data.get(key, default)
    if not isinstance(value, str) or not value.startswith("/"):
        raise ConfigurationProblem(f"{where}.{key}: expected a JSON Pointer such as {default}, found {value!r}")
    return value


def _at(value: Any, pointer: str) -> Any:
    """What stands at a JSON Pointer through objects; None when nothing does."""
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
