"""`evals propose-scenarios`: let a model propose scenarios for an agent, from its instructions and its tools.

They are written into a case file of their own, for review. No suite runs them until a person has moved them there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endpoints import Endpoints, SettingsError, resolve
from endpoints.local_stack import StackError
from evals.case_yaml import write_new
from evals.command_line import CommandError, parser
from evals.exit_codes import Exit
from evals.scenario_proposals import (
    INSTRUCTIONS,
    RESPONSE_SCHEMA,
    Proposals,
    UnreadableProposals,
    case_block,
    order,
    read_proposals,
)
from evals.sign_in.session import signed_in

if TYPE_CHECKING:
    from providers.agent.agent_file import AgentFile

EXAMPLES = """\
  npm run evals -- propose-scenarios spoke
  npm run evals -- propose-scenarios spoke --count 10 --model gpt-4.1 --out review/spoke.yaml"""

LOCAL_MODEL = "scenario-writer"
MOST = 50
SECONDS = 300.0


def main(arguments: list[str]) -> int:
    """Ask, check, and write. 0: written; 2: nothing usable came back; 5: wrong command line, set-up or address."""
    options = parser("propose-scenarios", __doc__ or "", EXAMPLES)
    options.add_argument("agent", help="the agent's name: a folder in agent_config/agents")
    options.add_argument("--count", type=int, default=5, help=f"how many to ask for, 1 to {MOST}; default 5")
    options.add_argument("--model", help=f"model or deployment; default EVALS_JUDGE_MODEL, else {LOCAL_MODEL}")
    options.add_argument("--out", type=Path, help="the file to write; default scenarios-<agent>.yaml")
    options.add_argument("--device", action="store_true", help="sign in by a code that is typed in any browser")
    chosen = options.parse_args(arguments)
    if not 1 <= chosen.count <= MOST:
        raise CommandError(f"--count {chosen.count}: a number from 1 to {MOST} is allowed.")
    file = chosen.out or Path(f"scenarios-{chosen.agent}.yaml")
    if file.exists():
        raise CommandError(f"{file} is there already; name another file, or move it away.")
    model = chosen.model or os.environ.get("EVALS_JUDGE_MODEL", "").strip() or LOCAL_MODEL
    with signed_in(device=chosen.device):
        proposals = asyncio.run(_propose(chosen.agent, chosen.count, model))
    for refused in proposals.refused:
        print(f"Not usable: {refused}")
    if not proposals.usable:
        raise CommandError(f"{model} proposed no scenario that could be used.", Exit.NOT_EVALUATED)
    blocks = [case_block(one, f"S{number:02}", file) for number, one in enumerate(proposals.usable, 1)]
    write_new(file, _header(chosen.agent, model), blocks)
    print(f"{len(blocks)} {'scenario' if len(blocks) == 1 else 'scenarios'} for review: {file}")
    return Exit.PASSED


def _header(agent: str, model: str) -> list[str]:
    return [
        f"Scenarios that {model} proposed for the agent {agent} on {datetime.now(UTC):%Y-%m-%d}. FOR REVIEW:",
        "nobody has checked them, and no suite runs them. Read each one: is it a request that developers make, is",
        "what it expects really required, and does its goal give nothing away? Then move it to a suite's cases.yaml,",
        "with an id of its own, and correct the path of its assertion.",
    ]


async def _propose(agent: str, count: int, model: str) -> Proposals:
    # Late: the model and MCP libraries take a while to import, and a wrong command line should not wait for them.
    from models.deadline import Deadline
    from models.protocol import ModelFailure, ModelRequest
    from models.service import open_model
    from models.settings import ModelSettings
    from providers.agent.agent_file import load_agent
    from providers.agent_protocol import ConfigurationProblem, EpisodeStopped

    try:
        configured = load_agent(agent)
        where = await asyncio.to_thread(resolve)
        tools = await _tools(configured, where)
        async with open_model(where.model, ModelSettings(model)) as writer:
            request = ModelRequest(
                [
                    {"role": "system", "content": INSTRUCTIONS},
                    {"role": "user", "content": order(configured.system_prompt, tools, count)},
                ],
                response_schema=RESPONSE_SCHEMA,
                response_schema_name="scenarios",
            )
            reply = await writer.complete(request, Deadline.after(SECONDS))
    except (ConfigurationProblem, SettingsError, StackError, EpisodeStopped) as problem:
        raise CommandError(str(problem)) from problem
    except ModelFailure as failure:
        raise CommandError(f"{model}: {failure.problem}") from failure
    try:
        return read_proposals(reply.text, tools, count)
    except UnreadableProposals as problem:
        raise CommandError(f"{model}: its reply cannot be read: {problem}.", Exit.NOT_EVALUATED) from problem


async def _tools(agent: AgentFile, where: Endpoints) -> list[Mapping[str, Any]]:
    """The tools that the agent may call, as its servers describe them."""
    from providers.agent.mcp_server import open_mcp_server
    from providers.agent.server_settings import fill_in
    from providers.agent.toolbox import fill_toolbox

    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(open_mcp_server(fill_in(server, where.portal))) for server in agent.servers
        ]
        toolbox, _ = await fill_toolbox(servers, agent.tools, agent.creating_tools)
        return list(toolbox.as_functions())
