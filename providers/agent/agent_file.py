"""The production agent's own configuration: `agent_config/agents/<name>/agent.yaml` and the texts that it names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from models.config_values import ModelSettingsError, check_keys, whole
from models.settings import MODEL_KEYS, ModelSettings, parse_model_settings
from providers.agent.server_settings import ServerSettings, parse_servers
from providers.agent.submission_rules import SubmissionRules, read_additional_schema, read_file_name_rules
from providers.agent_protocol import ConfigurationProblem

AGENTS_FOLDER = Path(__file__).resolve().parents[2] / "agent_config" / "agents"
FILE_NAME = "agent.yaml"
DEFAULT_MAX_STEPS = 24
MAX_MAX_STEPS = 200

OWN_KEYS = (
    "name",
    "description",
    "maxSteps",
    "parallelToolCalls",
    "instructions",
    "skills",
    "servers",
    "tools",
    "createsPullRequests",
    "fileNameRules",
    "additionalSchema",
)
AGENT_KEYS = (*OWN_KEYS, *MODEL_KEYS)


@dataclass(frozen=True)
class Document:
    """A text that the agent is given: its file's path as configured, and what is in it."""

    name: str
    text: str


@dataclass(frozen=True)
class AgentFile:
    """One agent as production knows it. `max_steps` counts model answers to one message of the user."""

    name: str
    description: str
    model: ModelSettings
    instructions: Document
    skills: tuple[Document, ...]
    servers: tuple[ServerSettings, ...]
    tools: tuple[str, ...]
    creating_tools: tuple[str, ...]
    max_steps: int = DEFAULT_MAX_STEPS
    parallel_tool_calls: bool | None = None
    rules: SubmissionRules = field(default_factory=SubmissionRules)
    folder: Path = field(default_factory=Path)

    @property
    def system_prompt(self) -> str:
        """The instructions, the skills, and the rules for what is submitted, with an empty line between two texts."""
        texts = [document.text.strip() for document in (self.instructions, *self.skills)]
        return "\n\n".join(filter(None, [*texts, self.rules.in_words()]))


def load_agent(name: str, base_path: Path | None = None) -> AgentFile:
    """Load `agent_config/agents/<name>/agent.yaml`, or that of the folder `./name`, which is relative to `base_path`.

    Raises:
        ConfigurationProblem: no such agent, or a mistake in its file: with file, key, what is wrong, what is allowed.
    """
    if name.startswith(("./", "../", "/")):
        folder = ((base_path or Path.cwd()) / name).resolve()
        name = folder.name
    else:
        folder = AGENTS_FOLDER / name
    path = folder / FILE_NAME
    if Path(name).name != name or not path.is_file():
        there = ", ".join(known_agents()) or "(none)"
        raise ConfigurationProblem(f"agent: there is no {os.path.relpath(path)}; agents: {there}, or a folder ./name")
    where = f"{os.path.relpath(path)}: "
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"{where}expected a mapping with {', '.join(AGENT_KEYS)}")
    try:
        return _agent(data, folder, name)
    except (ConfigurationProblem, ModelSettingsError) as problem:
        raise ConfigurationProblem(f"{where}{problem}") from None


def known_agents() -> list[str]:
    """Names of the agents in `agent_config/agents`."""
    return sorted(path.parent.name for path in AGENTS_FOLDER.glob(f"*/{FILE_NAME}"))


def _agent(data: Mapping[str, Any], folder: Path, name: str) -> AgentFile:
    check_keys(data, AGENT_KEYS, "")
    if data.get("name", name) != name:
        raise ConfigurationProblem(f"name: expected {name!r} like its folder, found {data['name']!r}")
    tools = texts(data, "tools")
    creating = texts(data, "createsPullRequests")
    unknown = [tool for tool in creating if tool not in tools]
    if unknown:
        raise ConfigurationProblem(f"createsPullRequests: {unknown[0]!r} is not in tools: {', '.join(tools)}")
    parallel = data.get("parallelToolCalls")
    if parallel is not None and not isinstance(parallel, bool):
        raise ConfigurationProblem(f"parallelToolCalls: expected true or false, found {parallel!r}")
    return AgentFile(
        name=name,
        description=str(data.get("description") or ""),
        model=parse_model_settings({key: data[key] for key in MODEL_KEYS if key in data}),
        instructions=read_document(data.get("instructions"), "instructions", (folder,)),
        skills=tuple(
            read_document(skill, f"skills[{index}]", (folder,)) for index, skill in enumerate(texts(data, "skills"))
        ),
        servers=parse_servers(data.get("servers"), "servers"),
        tools=tools,
        creating_tools=creating,
        max_steps=max_steps(data, DEFAULT_MAX_STEPS),
        parallel_tool_calls=parallel,
        rules=submission_rules(data, (folder,)),
        folder=folder,
    )


def submission_rules(
    data: Mapping[str, Any], folders: Sequence[Path], where: str = "", default: SubmissionRules | None = None
) -> SubmissionRules:
    """`fileNameRules` and `additionalSchema`, each that of `default` where `data` does not have it; null is none."""
    known = default or SubmissionRules()
    names, schema = f"{where}fileNameRules", f"{where}additionalSchema"
    return SubmissionRules(
        read_file_name_rules(data["fileNameRules"], names) if "fileNameRules" in data else known.file_name,
        read_additional_schema(data["additionalSchema"], lambda value, key: find_file(value, key, folders), schema)
        if "additionalSchema" in data
        else known.schema,
    )


def max_steps(data: Mapping[str, Any], default: int) -> int:
    """`maxSteps`, a whole number from 1 to 200."""
    steps = whole(data, "maxSteps", "", 1)
    if steps is not None and steps > MAX_MAX_STEPS:
        raise ConfigurationProblem(f"maxSteps: at most {MAX_MAX_STEPS}, found {steps}")
    return default if steps is None else steps


def read_document(value: Any, key: str, folders: Sequence[Path]) -> Document:
    """The text of the file that `key` names, relative to the first of `folders` that has it. It may not be empty."""
    path = find_file(value, key, folders)
    text = path.read_text(encoding="utf-8-sig")
    if not text.strip():
        raise ConfigurationProblem(f"{key}: the file {value} is empty")
    return Document(str(value), text)


def find_file(value: Any, key: str, folders: Sequence[Path]) -> Path:
    """The file that a configuration names.

    Raises:
        ConfigurationProblem: it is not a file, with the places where it was looked for.
    """
    if not isinstance(value, str) or not value:
        raise ConfigurationProblem(f"{key}: expected the name of a file, found {value!r}")
    relative = value.removeprefix("file://")
    for folder in folders:
        path = folder / relative
        if path.is_file():
            return path
    looked = " or ".join(os.path.relpath(folder / relative) for folder in folders)
    raise ConfigurationProblem(f"{key}: there is no file {looked}")


def read_yaml(path: Path) -> Any:
    """The YAML data of a file.

    Raises:
        ConfigurationProblem: it is not YAML, with line and column.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open(encoding="utf-8-sig") as handle:
            return yaml.load(handle, Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationProblem(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from None


def texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts, each once; missing is empty."""
    value = data.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ConfigurationProblem(f"{key}: expected a list of texts, found {value!r}")
    twice = next((item for item in value if value.count(item) > 1), None)
    if twice is not None:
        raise ConfigurationProblem(f"{key}: {twice!r} stands there twice")
    return tuple(value)
