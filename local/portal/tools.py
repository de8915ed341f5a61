"""The portal's tools over MCP (official SDK, streamable HTTP, one JSON answer per request, no sessions)."""

from __future__ import annotations

import functools
import json
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations

from local.portal.address_rules import address_space
from local.portal.addresses import FULL_NAME
from local.portal.documents import documents, search
from local.portal.git_process import GitError
from local.portal.identity import PORTAL
from local.portal.pull_request_table import Row
from local.portal.pull_requests import PullRequestError
from local.portal.repository import is_ref
from local.portal.schema_check import bare_spoke_schema, spoke_schema
from local.portal.spoke_catalogue import spoke_path, spoke_text
from local.portal.state import PortalState
from local.portal.tool_table import INSTRUCTIONS, TOOL_TEXTS, argument_problems
from local.portal.validation import validate

_LOG = logging.getLogger(__name__)

DEFAULT_BRANCH_PREFIX = "agent/"

_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")

Answer = dict[str, Any]


class PortalTools:
    """What the tools do. Every method may be called from any thread; it raises ToolError with a sentence."""

    def __init__(self, state: PortalState) -> None:
        self._state = state

    def list_spokes(self, environment: str | None = None, region: str | None = None) -> Answer:
        spokes = []
        for spoke in self._state.catalogue.snapshot().spokes.values():
            configuration = spoke.configuration
            if environment not in (None, configuration.get("environment")):
                continue
            if region not in (None, configuration.get("region")):
                continue
            spokes.append(
                {
                    "name": spoke.name,
                    "environment": configuration.get("environment"),
                    "region": configuration.get("region"),
                    "dataClassification": configuration.get("dataClassification"),
                    "addressSpace": address_space(configuration),
                    "path": spoke.path,
                }
            )
        return {"spokes": spokes}

    def get_spoke(self, name: str) -> Answer:
        snapshot = self._state.catalogue.snapshot()
        spoke = snapshot.spokes.get(name)
        if spoke is None:
            raise ToolError(f"There is no spoke named {name!r}. list_spokes tells which there are.")
        return {
            "name": spoke.name,
            "path": spoke.path,
            "commit": snapshot.commit,
            "configuration": spoke.configuration,
        }

    def get_spoke_schema(self, descriptions: bool = False) -> Answer:
        return {"schema": spoke_schema() if descriptions else bare_spoke_schema()}

    def search_docs(self, query: str, limit: int = 5) -> Answer:
        hits = search(query, limit)
        return {"hits": [{"id": hit.id, "title": hit.title, "excerpt": hit.excerpt} for hit in hits]}

    def read_doc(self, id: str) -> Answer:
        page = documents().get(id)
        if page is None:
            raise ToolError(f"There is no page {id!r}. search_docs tells the ids of pages.")
        return {"id": page.id, "title": page.title, "text": page.text}

    def validate_spoke(self, configuration: dict[str, Any], source_spoke: str | None = None) -> Answer:
        problems = validate(configuration, source_spoke, self._state.catalogue.snapshot())
        return {"valid": not problems, "errors": [problem.as_json() for problem in problems]}

    def create_spoke_pull_request(
        self,
        configuration: dict[str, Any],
        title: str,
        description: str,
        source_spoke: str | None = None,
        branch_prefix: str = DEFAULT_BRANCH_PREFIX,
    ) -> Answer:
        # `source_spoke` is the caller's statement about itself; whether it is true is the validation's business.
        del source_spoke
        name = configuration.get("name")
        try:
            path = spoke_path(name if isinstance(name, str) else "")
            content = spoke_text(configuration)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"This is not a spoke configuration: {error}.") from error
        branch = _branch(branch_prefix, path.removeprefix("spokes/").removesuffix(".json"))
        row = self._pull_request(
            lambda: self._state.pull_requests.open_with_file(PORTAL, title, description, branch, path, content)
        )
        return self._summary(row) | {"path": path}

    def get_pull_request(self, pull_request_id: int) -> Answer:
        row = self._pull_request(lambda: self._state.pull_requests.get(pull_request_id))
        changes = self._state.pull_requests.changes(row)
        return self._summary(row) | {
            "title": row.title,
            "description": row.description,
            "createdBy": row.created_by,
            "creationDate": row.created_at,
            "mergeStatus": self._state.pull_requests.merge_status(row),
            "changes": [{"path": change.path, "change": change.kind} for change in changes],
        }

    def complete_pull_request(self, pull_request_id: int) -> Answer:
        row = self._pull_request(lambda: self._state.pull_requests.complete(pull_request_id, PORTAL))
        return self._summary(row)

    def _summary(self, row: Row) -> Answer:
        return {
            "pullRequestId": row.id,
            "url": self._state.addresses.pull_request_page(row.id),
            "status": row.status,
            "repository": FULL_NAME,
            "sourceBranch": row.source_ref.removeprefix("refs/heads/"),
            "targetBranch": row.target_ref.removeprefix("refs/heads/"),
        }

    def _pull_request(self, action: Callable[[], Row]) -> Row:
        try:
            return action()
        except PullRequestError as error:
            sentence = str(error)
            raise ToolError(f"{sentence[:1].upper()}{sentence[1:]}.") from error
        except GitError as error:
            _LOG.error("%s", error)
            raise ToolError("The repository refused the change. Another branch_prefix may help.") from error


def _branch(prefix: str, name: str) -> str:
    """The new branch: the prefix, parted by a slash unless it ends in one or in a hyphen, the name and a random end."""
    joined = prefix if prefix.endswith(("/", "-")) else f"{prefix}/"
    branch = f"{joined}{name}-{secrets.token_hex(4)}"
    if not _PREFIX.fullmatch(prefix) or not is_ref(f"refs/heads/{branch}"):
        raise ToolError(
            f"{prefix!r} can not begin the name of a branch; use letters, digits, hyphens, dots and slashes, such as "
            f"{DEFAULT_BRANCH_PREFIX}."
        )
    return branch


class PortalServer(MCPServer[Any]):
    """The SDK's server, with arguments checked against the schema exactly as it is advertised."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        text = TOOL_TEXTS.get(name)
        if text is None:
            raise ToolError(f"There is no tool {name[:100]!r}. The tools are {', '.join(TOOL_TEXTS)}.")
        problems = argument_problems(text.parameters, arguments)
        if problems:
            raise ToolError(f"{name} can not be called like this: {'; '.join(problems)}.")
        return await super().call_tool(name, arguments, context)


def build_server(state: PortalState) -> PortalServer:
    """The MCP server with all tools of the table."""
    tools = PortalTools(state)
    actions: Mapping[str, Callable[..., Answer]] = {
        "list_spokes": tools.list_spokes,
        "get_spoke": tools.get_spoke,
        "get_spoke_schema": tools.get_spoke_schema,
        "search_docs": tools.search_docs,
        "read_doc": tools.read_doc,
        "validate_spoke": tools.validate_spoke,
        "create_spoke_pull_request": tools.create_spoke_pull_request,
        "get_pull_request": tools.get_pull_request,
        "complete_pull_request": tools.complete_pull_request,
    }
    return PortalServer(
        name="landing-zone-portal",
        title="Landing-zone portal",
        version="1.0.0",
        instructions=INSTRUCTIONS,
        tools=[_tool(name, actions[name]) for name in TOOL_TEXTS],
        log_level="ERROR",
    )


def _tool(name: str, action: Callable[..., Answer]) -> Tool:
    text = TOOL_TEXTS[name]

    @functools.wraps(action)
    def in_thread(**arguments: Any) -> CallToolResult:
        return _result(action(**arguments))

    # A read takes a fraction of a millisecond; changing threads twice for it would take longer than the read.
    @functools.wraps(action)
    async def at_once(**arguments: Any) -> CallToolResult:
        return _result(action(**arguments))

    hints = ToolAnnotations(
        read_only_hint=text.read_only,
        destructive_hint=False,
        idempotent_hint=text.read_only,
        open_world_hint=False,
    )
    tool = Tool.from_function(
        in_thread if text.slow else at_once,
        name=name,
        title=text.title,
        description=text.description,
        annotations=hints,
        structured_output=False,
    )
    return tool.model_copy(update={"parameters": dict(text.parameters)})


def _result(answer: Answer) -> CallToolResult:
    # Compact, because the text is what a model pays for. Programs find the same answer as data beside it.
    compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=compact)], structured_content=answer)
