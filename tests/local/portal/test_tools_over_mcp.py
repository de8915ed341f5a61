"""The tools as a real client of the official SDK sees them."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import mcp_types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from local.portal.schema_check import bare_spoke_schema, spoke_schema
from tests.support.portal_process import PortalProcess

NAMES = [
    "list_spokes",
    "get_spoke",
    "get_spoke_schema",
    "search_docs",
    "read_doc",
    "validate_spoke",
    "create_spoke_pull_request",
    "get_pull_request",
    "complete_pull_request",
]


class Session:
    """One MCP session; `ask` returns the structured answer, `refused` the sentence of an error result."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def result(self, tool: str, **arguments: Any) -> mcp_types.CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.result(tool, **arguments)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        [block] = result.content
        assert isinstance(block, mcp_types.TextContent)
        assert json.loads(block.text) == answer, "text and data say the same"
        return answer

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.result(tool, **arguments)
        assert result.is_error
        [block] = result.content
        assert isinstance(block, mcp_types.TextContent)
        return block.text

    async def spoke(self, name: str = "spoke-crm-test") -> dict[str, Any]:
        return copy.deepcopy((await self.ask("get_spoke", name=name))["configuration"])


def in_session(portal: PortalProcess, work: Callable[[Session], Awaitable[None]]) -> None:
    async def run() -> None:
        headers = {"Authorization": f"Bearer {portal.portal_token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(portal.mcp_url, http_client=http)) as client,
        ):
            await work(Session(client))

    asyncio.run(run())


def test_the_tools_have_their_names_and_good_schemas(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        tools = (await session.client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.input_schema["additionalProperties"] is False
            assert tool.description
            for name, part in tool.input_schema["properties"].items():
                assert part["description"], f"{tool.name}.{name}"
        by_name = {tool.name: tool for tool in tools}
        for name in ("validate_spoke", "create_spoke_pull_request"):
            assert by_name[name].input_schema["properties"]["configuration"]["type"] == "object"
        created = by_name["create_spoke_pull_request"].input_schema
        assert created["required"] == ["configuration", "title", "description"]
        assert set(created["properties"]) == {*created["required"], "source_spoke", "branch_prefix"}
        writing = [tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint]
        assert writing == ["create_spoke_pull_request", "complete_pull_request"]

    in_session(portal, work)


def test_the_server_says_how_to_use_it(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        assert "validate_spoke" in (session.client.instructions or "")

    in_session(portal, work)


def test_spokes_are_listed_and_filtered(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        everything = (await session.ask("list_spokes"))["spokes"]
        assert len(everything) >= 12
        production = (await session.ask("list_spokes", environment="production"))["spokes"]
        assert {spoke["environment"] for spoke in production} == {"production"}
        both = (await session.ask("list_spokes", environment="test", region="northeurope"))["spokes"]
        assert both == [
            {
                "name": "spoke-payments-test",
                "environment": "test",
                "region": "northeurope",
                "dataClassification": "confidential",
                "addressSpace": ["10.80.12.0/24"],
                "path": "spokes/spoke-payments-test.json",
            }
        ]

    in_session(portal, work)


def test_a_spoke_is_read_with_its_path_and_commit(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        answer = await session.ask("get_spoke", name="spoke-crm-prod")
        assert set(answer) == {"name", "path", "commit", "configuration"}
        assert answer["path"] == "spokes/spoke-crm-prod.json"
        assert re.fullmatch("[0-9a-f]{40}", answer["commit"])
        assert answer["configuration"]["costCenter"] == "CC-6025"

    in_session(portal, work)


def test_the_schema_comes_with_and_without_descriptions(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        assert (await session.ask("get_spoke_schema"))["schema"] == bare_spoke_schema()
        assert (await session.ask("get_spoke_schema", descriptions=False))["schema"] == bare_spoke_schema()
        assert (await session.ask("get_spoke_schema", descriptions=True))["schema"] == spoke_schema()

    in_session(portal, work)


def test_the_documentation_is_searched_and_read(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        hits = (await session.ask("search_docs", query="private link subnets", limit=2))["hits"]
        assert len(hits) == 2
        assert set(hits[0]) == {"id", "title", "excerpt"}
        page = await session.ask("read_doc", id=hits[0]["id"])
        assert set(page) == {"id", "title", "text"}
        assert page["title"] == hits[0]["title"]
        assert (await session.ask("search_docs", query="zebra"))["hits"] == []

    in_session(portal, work)


def test_validation_says_what_is_wrong_and_where(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke()
        assert await session.ask("validate_spoke", configuration=spoke, source_spoke="spoke-crm-test") == {
            "valid": True,
            "errors": [],
        }
        spoke["virtualNetwork"]["subnets"][1]["privateEndpointNetworkPolicies"] = "Enabled"
        answer = await session.ask("validate_spoke", configuration=spoke, source_spoke="spoke-crm-test")
        assert answer == {
            "valid": False,
            "errors": [
                {
                    "pointer": "/virtualNetwork/subnets/1/privateEndpointNetworkPolicies",
                    "rule": "privateLink.policies",
                    "message": "a subnet with purpose privateLink has privateEndpointNetworkPolicies Disabled",
                }
            ],
        }

    in_session(portal, work)


def test_a_pull_request_is_opened_and_read(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke()
        spoke["costCenter"] = "CC-1234"
        opened = await session.ask(
            "create_spoke_pull_request",
            configuration=spoke,
            title="Charge CRM test to CC-1234",
            description="As agreed.",
            source_spoke="spoke-crm-test",
        )
        number = opened["pullRequestId"]
        branch = opened["sourceBranch"]
        assert re.fullmatch("agent/spoke-crm-test-[0-9a-f]{8}", branch)
        assert opened == {
            "pullRequestId": number,
            "url": f"{portal.web_url}/landing-zones/platform/_git/spokes/pullrequest/{number}",
            "status": "active",
            "repository": "platform/spokes",
            "sourceBranch": branch,
            "targetBranch": "main",
            "path": "spokes/spoke-crm-test.json",
        }
        read = await session.ask("get_pull_request", pull_request_id=number)
        assert read["title"] == "Charge CRM test to CC-1234"
        assert read["description"] == "As agreed."
        assert read["mergeStatus"] == "succeeded"
        assert read["changes"] == [{"path": "spokes/spoke-crm-test.json", "change": "edit"}]

    in_session(portal, work)


def test_the_branch_begins_with_the_given_prefix(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke()
        for number, (prefix, start) in enumerate([("evals/3f9c", "evals/3f9c/"), ("team-", "team-"), ("a/b/", "a/b/")]):
            spoke["costCenter"] = f"CC-777{number}"
            opened = await session.ask(
                "create_spoke_pull_request", configuration=spoke, title="T", description="", branch_prefix=prefix
            )
            assert opened["sourceBranch"].startswith(f"{start}spoke-crm-test-")

    in_session(portal, work)


@pytest.mark.parametrize("prefix", ["../x", "-x", "a b", "x..y", "x\ny", "refs/heads/~", "x.lock/", "ä/"])
def test_a_prefix_that_can_not_begin_a_branch_is_refused(portal: PortalProcess, prefix: str) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke() | {"costCenter": "CC-0001"}
        words = await session.refused(
            "create_spoke_pull_request", configuration=spoke, title="T", description="", branch_prefix=prefix
        )
        assert "can not begin the name of a branch" in words

    in_session(portal, work)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../../etc/passwd"},
        {"name": "webshop"},
        {"name": "spoke-x-dev/../../y"},
        {"name": "spoke-" + "x" * 60 + "-dev"},
        {"name": 5},
        {"name": None},
    ],
)
def test_what_is_no_spoke_at_all_is_refused(portal: PortalProcess, change: dict[str, Any]) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke() | change
        words = await session.refused("create_spoke_pull_request", configuration=spoke, title="T", description="")
        assert "is not the name of a spoke" in words

    in_session(portal, work)


def test_creating_does_not_validate(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        broken = {"name": "spoke-broken-dev", "environment": "production"}
        assert not (await session.ask("validate_spoke", configuration=broken))["valid"]
        opened = await session.ask("create_spoke_pull_request", configuration=broken, title="T", description="")
        assert opened["status"] == "active"
        read = await session.ask("get_pull_request", pull_request_id=opened["pullRequestId"])
        assert read["changes"] == [{"path": "spokes/spoke-broken-dev.json", "change": "add"}]

    in_session(portal, work)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (
            "get_spoke",
            {"name": "spoke-ghost-dev"},
            "There is no spoke named 'spoke-ghost-dev'. list_spokes tells which",
        ),
        ("get_spoke", {}, "get_spoke can not be called like this: name is missing."),
        ("get_spoke", {"name": 5}, "name must be a text"),
        ("get_spoke", {"name": "x", "colour": 1}, "'colour' is not an argument (allowed: name)"),
        ("list_spokes", {"environment": "prod"}, "environment must be one of dev, test, acceptance, production"),
        ("read_doc", {"id": "../spoke.schema"}, "There is no page '../spoke.schema'. search_docs tells"),
        ("search_docs", {"query": "x", "limit": 0}, "limit must be at least 1"),
        ("search_docs", {"query": "x", "limit": "5"}, "limit must be a whole number"),
        ("get_spoke_schema", {"descriptions": "yes"}, "descriptions must be true or false"),
        ("validate_spoke", {"configuration": "{}"}, "configuration must be a JSON object"),
        ("validate_spoke", {"configuration": []}, "configuration must be a JSON object"),
        ("get_pull_request", {"pull_request_id": 999_999}, "There is no pull request 999999."),
        ("get_pull_request", {"pull_request_id": True}, "pull_request_id must be a whole number"),
        ("complete_pull_request", {"pull_request_id": 999_999}, "There is no pull request 999999."),
        ("delete_spoke", {}, "There is no tool 'delete_spoke'. The tools are list_spokes, get_spoke"),
    ],
)
def test_an_error_is_a_result_with_a_sentence(
    portal: PortalProcess, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def work(session: Session) -> None:
        assert words in await session.refused(tool, **arguments)

    in_session(portal, work)


def test_a_branch_that_git_refuses_is_an_error_with_a_sentence(portal: PortalProcess) -> None:
    portal.open_pull("blocked")

    async def work(session: Session) -> None:
        spoke = await session.spoke() | {"costCenter": "CC-0003"}
        words = await session.refused(
            "create_spoke_pull_request", configuration=spoke, title="T", description="", branch_prefix="blocked/"
        )
        assert "Another branch_prefix may help." in words

    in_session(portal, work)


def test_nothing_of_the_server_shows_in_an_error(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke() | {"costCenter": "CC-0002"}
        for title in ("", "x" * 401, "two\nlines", "nul \0"):
            words = await session.refused("create_spoke_pull_request", configuration=spoke, title=title, description="")
            assert "Traceback" not in words
            assert str(portal.data) not in words

    in_session(portal, work)


def test_many_calls_at_once_are_all_answered(portal: PortalProcess) -> None:
    async def work(session: Session) -> None:
        spoke = await session.spoke("spoke-tender-acc")
        changed = [spoke | {"costCenter": f"CC-55{number:02}"} for number in range(12)]
        opened = await asyncio.gather(
            *(
                session.ask("create_spoke_pull_request", configuration=one, title=f"T{number}", description="")
                for number, one in enumerate(changed)
            )
        )
        assert len({one["pullRequestId"] for one in opened}) == 12
        read = await asyncio.gather(
            *(session.ask("get_pull_request", pull_request_id=one["pullRequestId"]) for one in opened)
        )
        assert [one["title"] for one in read] == [f"T{number}" for number in range(12)]

    in_session(portal, work)
