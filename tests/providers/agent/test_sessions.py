"""MCP servers with sessions: pages, expiry, refusals, and answers of every shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.agent.rig import Result, Rig, make_rig
from tests.support.scripted_model import Say, Step, scripted_model
from tests.support.session_server import SessionServer, session_server


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": content}], **more}


@pytest.fixture
def server() -> Iterator[SessionServer]:
    with session_server() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, pytest.MonkeyPatch]:
    return tmp_path, monkeypatch


def run(
    place: tuple[Path, pytest.MonkeyPatch], server: SessionServer, *script: Step, entry: Any = None, **config: Any
) -> tuple[Result, list[dict[str, Any]], Rig]:
    with scripted_model(*script) as model:
        servers = [{"name": "portal", "url": server.url, "connectSeconds": 5, **(entry or {})}]
        rig = make_rig(place[0], place[1], model, servers=servers, tools=tuple(server.answers))
        result = rig.run(**config)
    return result, [asked.body for asked in model.asked], rig


def test_all_pages_of_the_tool_list_are_read(place: Any, server: SessionServer) -> None:
    server.answers = {name: text(name) for name in ("a", "b", "c", "d", "e")}
    result, asked, _ = run(place, server, Say(calls=[("e", {})]), Say("done"))
    assert [tool["function"]["name"] for tool in asked[0]["tools"]] == ["a", "b", "c", "d", "e"]
    assert result.statuses == [("e", "ok")]


def test_the_session_is_closed_at_the_end(place: Any, server: SessionServer) -> None:
    server.answers = {"a": text("a")}
    run(place, server, Say(calls=[("a", {})]), Say("done"))
    assert (server.opened, server.closed, server.sessions) == (1, 1, set())


def test_an_expired_session_is_replaced_and_the_call_is_made_once(place: Any, server: SessionServer) -> None:
    server.answers = {"a": text("fine")}

    def expire(_: dict[str, Any]) -> Say:
        server.expire_sessions()
        return Say(calls=[("a", {})])

    result, _, _ = run(place, server, expire, Say("done"))
    assert result.statuses == [("a", "ok")]
    assert (server.opened, server.called) == (2, ["a"])


@pytest.mark.parametrize(
    ("answer", "status", "problem"),
    [
        (text("quota used up", isError=True), "tool_error", "quota used up"),
        (500, "transport_error", "The tool call failed: HTTP 500; whether it ran is unknown"),
        (403, "tool_error", "The tool call failed: the server refused our sign-in (HTTP 403)"),
        ({"content": "not a list"}, "transport_error", "The tool call failed: its answer does not follow the protocol"),
        (None, "tool_error", "The tool call failed: the server refused the call: Method not found (-32601)"),
    ],
)
def test_a_call_that_fails_says_what_is_known(
    place: Any, server: SessionServer, answer: Any, status: str, problem: str
) -> None:
    server.answers = {"a": answer, "b": text("fine")}
    result, asked, _ = run(place, server, Say(calls=[("a", {}), ("b", {})]), Say("done"))
    assert result.statuses == [("a", status), ("b", "ok")]
    assert (result.episode.tool_calls or ())[0].problem.startswith(problem)
    assert asked[1]["messages"][-2]["content"].startswith(problem)
    assert result.error == ""


def test_structured_content_is_the_result_and_what_the_model_reads(place: Any, server: SessionServer) -> None:
    server.answers = {"a": text("ignored", structuredContent={"name": "spoke", "n": 1})}
    result, asked, _ = run(place, server, Say(calls=[("a", {})]), Say("done"))
    assert (result.episode.tool_calls or ())[0].result == {"name": "spoke", "n": 1}
    assert json.loads(asked[1]["messages"][-1]["content"]) == {"name": "spoke", "n": 1}


def test_blocks_that_are_no_text_are_described_to_the_model(place: Any, server: SessionServer) -> None:
    blocks = [
        {"type": "text", "text": "first"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "https://portal.test/doc", "name": "doc"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAA"}},
    ]
    server.answers = {"a": {"content": blocks}}
    result, _, _ = run(place, server, Say(calls=[("a", {})]), Say("done"))
    assert (result.episode.tool_calls or ())[0].result == (
        "first\n[image, image/png, 3 bytes]\n[resource doc: https://portal.test/doc]\ninside\n"
        "[resource file:///b.bin, unknown type]"
    )


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_sign_in_is_named_and_not_tried_again_and_again(
    place: Any, server: SessionServer, status: int
) -> None:
    server.answers = {"a": text("a")}
    server.reject_all = status
    result, asked, _ = run(place, server, Say("hi"))
    assert result.error == (
        f"tool_unavailable: the server portal can not be used: the server refused our sign-in (HTTP {status})"
    )
    assert asked == []


def test_the_portals_token_goes_to_the_portal_and_to_nobody_else(
    place: Any, server: SessionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = {"a": text("a")}
    run(place, server, Say("hi"))
    assert server.authorization == {""}
    with scripted_model(Say("hi")) as model:
        entry = [{"name": "portal", "url": "${EVALS_PORTAL_URL}/mcp"}]
        rig = make_rig(place[0], place[1], model, servers=entry, tools=("a",))
        monkeypatch.setenv("EVALS_PORTAL_URL", server.url.removesuffix("/mcp"))
        assert rig.run().error == ""
    assert server.authorization == {"", "Bearer portal-token-of-the-test"}


def test_headers_of_a_server_are_filled_in_from_the_environment(
    place: Any, server: SessionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_OF_THIS_TEST", "abc")
    server.answers = {"a": text("a")}
    run(place, server, Say("hi"), entry={"headers": {"Authorization": "Bearer ${TOKEN_OF_THIS_TEST}"}})
    assert server.authorization == {"Bearer abc"}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"url": "https://github.com/o/spokes/pull/12", "number": 12, "head": {"ref": "b"}}, ("12", "spokes", "")),
        (
            {"pullRequest": {"url": "https://dev.azure.com/o/p/_git/r/pullrequest/3", "pullRequestId": 3}},
            ("3", "r", ""),
        ),
        ({"url": "https://dev.azure.com/o/p/_git/r/pullrequest/3", "pullRequestId": 4}, None),
        ({"message": "see https://github.com/o/spokes/pull/12"}, None),
        ({"url": "https://github.com/o/spokes/issues/12"}, None),
        ([{"url": "https://github.com/o/spokes/pull/12"}], None),
    ],
)
def test_only_an_object_with_the_address_of_a_pull_request_proves_one(
    place: Any, server: SessionServer, answer: Any, found: tuple[str, str, str] | None
) -> None:
    server.answers = {"create_pull_request": text(json.dumps(answer))}
    result, _, rig = run(place, server, Say(calls=[("create_pull_request", {})]), Say("done"))
    assert [(pull.id, pull.repository, pull.source_branch) for pull in result.episode.pull_requests] == (
        [] if found is None else [found]
    )
    assert ("pullRequest" in rig.ledger()[1]) == (found is not None)


def test_frozen_time_and_seed_reach_the_prompt_the_model_and_the_tools(place: Any, server: SessionServer) -> None:
    server.answers = {"a": text("a")}
    with scripted_model(Say(calls=[("a", {})]), Say("done")) as model:
        entry = [{"name": "portal", "url": server.url}]
        rig = make_rig(place[0], place[1], model, servers=entry, tools=("a",))
        (rig.folder / "agent" / "instructions.md").write_text("Now: {{now}}. Seed: {{seed}}.", encoding="utf-8")
        result = rig.run(now="2026-03-01T12:00:00Z", seed=7)
    assert result.error == ""
    body = model.asked[0].body
    assert body["messages"][0]["content"].startswith("Now: 2026-03-01T12:00:00Z. Seed: 7.")
    assert body["seed"] == 7
    assert server.meta[0]["agent-evals/now"] == "2026-03-01T12:00:00Z"
    assert server.meta[0]["agent-evals/seed"] == 7


@pytest.mark.parametrize("now", ["yesterday", "2026-03-01T12:00:00", 5])
def test_a_time_without_offset_is_no_frozen_time(place: Any, server: SessionServer, now: Any) -> None:
    server.answers = {"a": text("a")}
    result, _, _ = run(place, server, Say("hi"), now=now)
    assert "config.now: expected a time such as 2026-03-01T12:00:00Z" in result.error


def test_without_frozen_time_the_tools_are_told_nothing(place: Any, server: SessionServer) -> None:
    server.answers = {"a": text("a")}
    run(place, server, Say(calls=[("a", {})]), Say("done"))
    assert not [key for key in server.meta[0] if key.startswith("agent-evals")]
