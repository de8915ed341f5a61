"""The agent's own configuration: what is read from it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from providers.agent.agent_file import AgentFile, known_agents, load_agent
from providers.agent_protocol import ConfigurationProblem


def write(folder: Path, **changes: Any) -> None:
    """An agent named `mini` in `folder`, with `changes` to its file; None takes a key out."""
    agent = folder / "mini"
    agent.mkdir(parents=True)
    (agent / "instructions.md").write_text("\ufeffBe careful.\n\n", encoding="utf-8")
    (agent / "empty.md").write_text(" \n", encoding="utf-8")
    data: dict[str, Any] = {"model": "m", "instructions": "instructions.md", "tools": ["read"], **changes}
    kept = {key: value for key, value in data.items() if value is not None}
    (agent / "agent.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")


def load(folder: Path, **changes: Any) -> AgentFile:
    write(folder, **changes)
    return load_agent("./mini", folder)


def test_the_production_agents_load_and_name_what_they_create() -> None:
    assert "spoke" in known_agents()
    for name in known_agents():
        agent = load_agent(name)
        assert agent.system_prompt.startswith(agent.instructions.text.strip()[:40])
        assert set(agent.creating_tools) <= set(agent.tools)
        assert agent.servers
    spoke = load_agent("spoke")
    assert "create_spoke_pull_request" in spoke.creating_tools
    assert "complete_pull_request" not in spoke.tools


def test_instructions_and_skills_make_the_system_prompt_in_order(tmp_path: Path) -> None:
    write(tmp_path, skills=["a.md", "b.md"])
    for name in ("a", "b"):
        (tmp_path / "mini" / f"{name}.md").write_text(f"Skill {name}.\n", encoding="utf-8")
    assert load_agent("./mini", tmp_path).system_prompt == "Be careful.\n\nSkill a.\n\nSkill b."


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"modle": "x"}, "modle: unknown key; allowed: name, description"),
        ({"model": None}, "model: expected the name of a model or deployment, found None"),
        ({"name": "maxi"}, "name: expected 'mini' like its folder, found 'maxi'"),
        ({"instructions": None}, "instructions: expected the name of a file, found None"),
        ({"instructions": "empty.md"}, "instructions: the file empty.md is empty"),
        ({"skills": ["none.md"]}, "skills[0]: there is no file"),
        ({"tools": "read"}, "tools: expected a list of texts, found 'read'"),
        ({"tools": ["read", "read"]}, "tools: 'read' stands there twice"),
        ({"createsPullRequests": ["write"]}, "createsPullRequests: 'write' is not in tools: read"),
        ({"maxSteps": 1000}, "maxSteps: at most 200, found 1000"),
        ({"temperature": 3}, "temperature: expected a number of at least 0 and at most 2, found 3"),
        ({"parallelToolCalls": "no"}, "parallelToolCalls: expected true or false, found 'no'"),
        ({"servers": {"name": "x"}}, "servers: expected a list of servers, found dict"),
        ({"servers": [{"name": "a b", "url": "http://x"}]}, "servers[0].name: expected letters, digits, - and _"),
        ({"servers": [{"name": "a", "url": "ftp://x"}]}, "servers[0].url: expected an address that begins with"),
        ({"servers": [{"name": "a", "url": "http://x", "command": "y"}]}, "servers[0]: expected either url"),
        ({"servers": [{"name": "a", "url": "http://x"}] * 2}, "servers: two servers are called 'a'"),
        ({"fileNameRules": {"patern": "x"}}, "fileNameRules.patern: unknown key; allowed: pattern, path, file"),
        ({"fileNameRules": {"file": "/name"}}, "fileNameRules: demands nothing; expected pattern or path"),
        ({"fileNameRules": {"pattern": "("}}, "fileNameRules.pattern: '(' is no regular expression"),
        ({"fileNameRules": {"path": "a", "file": "name"}}, "fileNameRules.file: expected a JSON Pointer such as /path"),
        ({"additionalSchema": "none.json"}, "additionalSchema: there is no file"),
        ({"additionalSchema": {"document": "/a"}}, "additionalSchema: expected the name of a file, found None"),
        ({"additionalSchema": "instructions.md"}, "additionalSchema: instructions.md is not JSON"),
    ],
)
def test_a_mistake_in_an_agent_file_is_named_with_file_key_and_what_is_allowed(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationProblem) as raised:
        load(tmp_path, **changes)
    assert "agent.yaml: " in str(raised.value)
    assert problem in str(raised.value)


@pytest.mark.parametrize("name", ["../../../etc", "nobody", "a/b", ".."])
def test_an_agent_that_is_not_there_is_named_with_those_that_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationProblem, match=r"agents: .*spoke.*, or a folder \./name"):
        load_agent(name, tmp_path)


def test_a_file_that_is_no_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "mini" / "agent.yaml").write_text("model: [\n", encoding="utf-8")
    with pytest.raises(ConfigurationProblem, match=r"not readable as YAML.*line 2"):
        load_agent("./mini", tmp_path)
