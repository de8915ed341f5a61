"""JSON documents that a config names: given in the config itself, or in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assertions.evidence import Evidence
from assertions.verdict import ConfigError


def read_document(reference: Any, evidence: Evidence, key: str) -> Any:
    """A `reference` that is a text names a JSON or YAML file (with or without `file://`); anything else is returned.

    A relative file is looked for in the folder of the case's suite, then in the working folder.

    Raises:
        ConfigError: there is no such file, or it holds no JSON or YAML.
    """
    if not isinstance(reference, str):
        return reference
    path = find_file(reference, evidence, key)
    try:
        text = path.read_text(encoding="utf-8")
        return _parse(path, text)
    except (OSError, ValueError) as error:
        raise ConfigError(key, f"{path} can not be read: {error}") from None


def read_object(reference: Any, evidence: Evidence, key: str) -> Mapping[str, Any]:
    """As `read_document`, for a document that has to be an object."""
    document = read_document(reference, evidence, key)
    if not isinstance(document, Mapping):
        raise ConfigError(key, f"{reference!r} holds no object")
    return document


def find_file(reference: str, evidence: Evidence, key: str) -> Path:
    """Raises ConfigError when there is no such file; it names the folders that were looked in."""
    path = Path(reference.removeprefix("file://"))
    candidates = [path] if path.is_absolute() else [folder / path for folder in evidence.folders()]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ConfigError(key, f"there is no file {', nor '.join(str(candidate) for candidate in candidates)}")


def _parse(path: Path, text: str) -> Any:
    if path.suffix in (".yaml", ".yml"):
        import yaml

        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from None
    return json.loads(text)
