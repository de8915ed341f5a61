"""One conversation that touches every place where something can go wrong, with a fault in exactly one of them.

The developer asks for a change (word for word), the agent looks something up, opens a pull request and says so, a judge
checks that step, the simulated developer says thanks, the agent answers, the judge checks that, and the host is asked
for the pull request. Where the fault is in a tool server or at the host, the conversation ends before the thanks. All
of it goes through the real provider entry, over real HTTP and real MCP.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from episodes.record import Episode
from providers.background_loop import background_loop
from providers.simulated_user import call_api
from tests.providers.agent.rig import make_rig
from tests.providers.faults.faults import MOST_BYTES, Fault
from tests.support.scripted_model import ScriptedModel
from tests.support.session_server import SessionServer
from tests.support.troubled_http import App, Door, Fate, Reply, Request, Trouble

OpenDoor = Callable[[App, Fate], Door]

TOOL_S = 0.4
"""Longer than the other time-outs: the second tool of the conversation must keep it too."""

ONCE_S = 0.7
"""The same for a fault that comes once: the next try must be answered within it."""

LOOK, CREATE = "look_up", "create_pull_request"
OPENED, NOT_OPENED = "I opened the pull request.", "I could not open a pull request."
WELCOME = "You are welcome."
THANKS = "Thanks, that is all I need."
STEPS: list[dict[str, Any]] = [
    {"static_utterance": "Copy the spoke.", "success_criteria": f"The agent says: {OPENED}"},
    {"goal": "Thank the agent.", "success_criteria": f"The agent says: {WELCOME}", "max_turns": 1},
]
ROLES = {"scripted": "agent", "developer": "user", "judge": "judge"}
"""Model names as the requests carry them."""
MODELS = "models"
"""All three places at once."""


@dataclass(frozen=True)
class Played:
    """What came back, what the ledger holds, and how many model requests were answered well, by role.

    `steps` is how many steps the conversation was to have.
    """

    raw: dict[str, Any]
    episode: Episode
    ledger: list[dict[str, Any]]
    answered: Counter[str]
    steps: int
    reached: list[str]
    """Tools whose calls arrived at the MCP server over HTTP."""
    secrets: tuple[str, ...]
    """Addresses that no error and no warning may name."""


@dataclass
class Stage:
    """Plays the conversation. `first_calls` are what the agent asks for first, instead of its one look-up."""

    open_door: OpenDoor
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    calls: list[tuple[str, str]] = field(default_factory=lambda: [(LOOK, "{}")])
    schemas: dict[str, Any] = field(default_factory=dict)

    def play(self, fault: Fault, place: str, *, once: bool = False) -> Played:
        """The conversation with `fault` at `place`, every time or only the first time."""
        self._make_haste(fault)
        return _Play(self, fault, place, once).run()

    def _make_haste(self, fault: Fault) -> None:
        """Shorter pauses and a smaller limit: how many tries there are, and what ends them, stays as it is."""
        for constant, value in {
            "models.retry.FIRST_WAIT_S": 0.02,
            "episodes.hosts.rest.FIRST_WAIT_SECONDS": 0.02,
            "episodes.hosts.rest.SHORTEST_SECONDS": 0.2,
            "providers.look_up.BUDGET_S": 0.3 if fault.seconds else 20.0,
            "models.transport.MAX_ANSWER_BYTES": MOST_BYTES,
            "episodes.hosts.transport.MAX_ANSWER_BYTES": MOST_BYTES,
            "providers.agent.mcp_session.CLOSE_HTTP_S": 0.1,
            "providers.agent.mcp_server.CONNECT_WAITS_S": (0.0, 0.1, 0.5, 1.0) if fault.comes_back else (0.0, 0.02),
        }.items():
            self.monkeypatch.setattr(constant, value)


class _Play:
    def __init__(self, stage: Stage, fault: Fault, place: str, once: bool) -> None:
        self.stage = stage
        self.fault = fault
        self.place = place
        self.struck: Counter[str] = Counter()
        self.once = once
        self.answered: Counter[str] = Counter()
        self.tools = SessionServer()
        self.model: Door = stage.open_door(self._model, self._model_fate)
        self.mcp: Door = stage.open_door(self._mcp, self._mcp_fate)
        self.host: Door = stage.open_door(self._host, lambda _: self._strike("host"))

    def run(self) -> Played:
        try:
            return self._run()
        finally:
            for door in (self.model, self.mcp, self.host):
                door.close()

    def _run(self) -> Played:
        pull = f"{self.host.url}/landing-zones/platform/_git/spokes/pullrequest/7"
        self.tools.answers = {name: _text("here it is") for name, _ in self.stage.calls}
        self.tools.answers[CREATE] = _text(
            json.dumps(
                {"pullRequestId": 7, "url": pull, "repository": "spokes", "sourceBranch": "b", "status": "active"}
            )
        )
        self.tools.schemas = self.stage.schemas
        answers = dict(self.tools.answers)
        if self.place in ("mcp look", "mcp create"):
            changed = self.fault.tool_answer(answers[self._tool()])
            self.tools.answers[self._tool()] = changed
        self.tools.page_size = 1 if self.fault.name == "tool list in pages" else 50
        self.tools.endless_list = self.fault.name == "tool list unending" and self.place == "mcp open"
        service = ScriptedModel(())
        service.url = f"{self.model.url}/v1"
        server = {"name": "portal", "url": f"{self.mcp.url}/mcp", "connectSeconds": 20}
        if self.place.startswith("stdio"):
            server = {"name": "portal", **self.fault.stdio(self._stdio_at(), answers), "connectSeconds": 20}
        if self.place.endswith("open"):
            server["connectSeconds"] = self.fault.seconds or 20
        rig = make_rig(
            self.stage.folder, self.stage.monkeypatch, service, servers=[server], tools=tuple(self.tools.answers)
        )
        self.stage.monkeypatch.setenv("EVALS_PULL_REQUEST_API", f"{self.host.url}/landing-zones")
        for name in ("EVALS_USER_MODEL", "EVALS_JUDGE_MODEL"):
            self.stage.monkeypatch.setenv(name, "")
        if self.place in ("agent", "mcp open"):
            self._before(self.place)
        steps = STEPS if self.place in ROLES.values() or self.place == MODELS else STEPS[:1]
        raw = call_api("", {"config": self._config(rig.folder)}, _context(steps))
        json.dumps(raw, allow_nan=False)
        episode = Episode.from_metadata(raw["metadata"])
        addresses = tuple(door.url.removeprefix("http://") for door in (self.model, self.mcp))
        return Played(raw, episode, rig.ledger(), self.answered, len(steps), self.tools.called, addresses)

    def _config(self, folder: Path) -> dict[str, Any]:
        settings: dict[str, dict[str, Any]] = {role: {"retries": 1} for role in ("agent", "user", "judge")}
        if self.place in settings and self.fault.seconds:
            settings[self.place]["readTimeoutSeconds"] = self.fault.seconds
        if self.place == MODELS and self.fault.seconds:
            for role in settings.values():
                role["readTimeoutSeconds"] = ONCE_S
        own = {"agent": "./agent", "basePath": str(folder), "deadlineSeconds": self.fault.deadline_s}
        if self.place.endswith(("look", "create")) and self.fault.seconds:
            own["toolTimeoutSeconds"] = max(self.fault.seconds, TOOL_S)
        return {**own, **settings.pop("agent"), **settings}

    def _tool(self) -> str:
        return CREATE if self.place.endswith("create") else LOOK

    def _stdio_at(self) -> str:
        return self.fault.method or "initialize" if self.place.endswith("open") else self._tool()

    def _strike(self, place: str) -> Trouble | None:
        here = place == self.place or (self.place == MODELS and place in ROLES.values())
        if not here or self.fault.at_door or (self.once and self.struck[place]):
            return None
        self.struck[place] += 1
        return self.fault.trouble(place)

    def _before(self, place: str) -> None:
        """The next request goes to `place`: a fault of the connection itself begins now."""
        door = {"agent": self.model, "user": self.model, "judge": self.model, "host": self.host}.get(place, self.mcp)
        if place == self.place and self.fault.at_door:
            door.call(self.fault.at_door)

    def _model_fate(self, request: Request) -> Trouble | None:
        role = ROLES[json.loads(request.body)["model"]]
        trouble = self._strike(role)
        if trouble is None or trouble.kind == "slow":
            self.answered[role] += 1
        return trouble

    def _model(self, request: Request) -> Reply:
        body = json.loads(request.body)
        role = ROLES[body["model"]]
        if role == "judge":
            self._before("user")
            return _said(_verdict(json.loads(body["messages"][-1]["content"])))
        if role == "user":
            return _said(THANKS)
        return self._agent(body["messages"])

    def _agent(self, messages: list[dict[str, Any]]) -> Reply:
        told = [message for message in messages if message["role"] == "tool"]
        asked = sum(message["role"] == "user" for message in messages)
        if asked == 2:
            return _said(WELCOME)
        if not told:
            self._before(f"{self.place.split()[0]} look")
            return _asks(self.stage.calls)
        if len(told) == len(self.stage.calls):
            self._before(f"{self.place.split()[0]} create")
            return _asks([(CREATE, "{}")])
        self._before("judge")
        if "pullRequestId" not in told[-1]["content"]:
            return _said(NOT_OPENED)
        self._before("host")
        return _said(OPENED)

    def _mcp_fate(self, request: Request) -> Trouble | None:
        if request.method != "POST":
            return None
        message = json.loads(request.body)
        method = message["method"]
        if method == "tools/call":
            tool = "create" if message["params"]["name"] == CREATE else "look"
            return self._strike_mcp(f"mcp {tool}", request)
        opening = method == self.fault.method if self.fault.method else method in ("server/discover", "initialize")
        return self._strike_mcp("mcp open", request) if opening else None

    def _strike_mcp(self, place: str, request: Request) -> Trouble | None:
        if place == self.place and self.fault.name == "session expired" and not self.struck[place]:
            self.struck[place] += 1
            self.tools.expire_sessions()
        trouble = self._strike(place)
        return None if trouble is None else self.fault.filled_in(trouble, request)

    def _mcp(self, request: Request) -> Reply:
        session = request.headers.get("mcp-session-id")
        if request.method == "DELETE":
            self.tools.end(session or "")
            return Reply()
        if request.method != "POST":
            return Reply(405)
        status, body, session = self.tools.post(json.loads(request.body), session, "")
        headers = {"Mcp-Session-Id": session} if session else {}
        return Reply(status, b"" if body is None else json.dumps(body).encode(), headers)

    def _host(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        if path.endswith("/changes"):
            return _json({"changeEntries": [{"item": {"path": "/spokes/b.json"}}]})
        if path.endswith("/iterations"):
            return _json({"value": [{"id": 1}]})
        pull = {"pullRequestId": 7, "status": "active", "title": "t", "creationDate": "2026-03-01T12:00:00Z"}
        return _json({**pull, "sourceRefName": "refs/heads/b", "targetRefName": "refs/heads/main"})


def _context(steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "vars": {"simulation": {"steps": steps}, "__evalId": "eval-1", "__evalStepId": "test-0-prompt-0-repeat-0"},
        "test": {"metadata": {"id": "C01"}},
    }


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _json(body: Any) -> Reply:
    return Reply(body=json.dumps(body).encode())


def _said(text: str) -> Reply:
    return _completion({"role": "assistant", "content": text}, "stop")


def _asks(calls: list[tuple[str, str]]) -> Reply:
    asked = [
        {"id": f"{name}_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return _completion({"role": "assistant", "content": None, "tool_calls": asked}, "tool_calls")


def _completion(message: dict[str, Any], reason: str) -> Reply:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return _json({"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})


def _verdict(order: dict[str, Any]) -> str:
    wanted = order["criteria"][0].removeprefix("The agent says: ")
    met = wanted in order["answer"]
    entry = {"criterion": order["criteria"][0], "met": met, "evidence": wanted if met else ""}
    return json.dumps({"criteria": [entry], "reason": f"The agent did not say: {wanted}"})


@dataclass(frozen=True)
class Open:
    """What this process has open: tasks of the episodes' loop, files and sockets, child processes."""

    tasks: int
    files: tuple[str, ...]
    children: tuple[int, ...]

    def more_than(self, before: Open) -> str:
        """In words, what is open now and was not before; empty when nothing is."""
        files = list((Counter(map(_kind, self.files)) - Counter(map(_kind, before.files))).elements())
        children = sorted(set(self.children) - set(before.children))
        left = [f"{self.tasks} tasks"] if self.tasks else []
        return ", ".join([*left, *files, *(f"process {pid}" for pid in children)])


def open_now() -> Open:
    async def tasks() -> int:
        return len(asyncio.all_tasks()) - 1

    links = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except OSError:
            # The descriptor of this very listing.
            continue
    children = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    running = background_loop().run(tasks, seconds=10, grace=1)
    return Open(running, tuple(links), tuple(map(int, children)))


def what_stays_open(before: Open) -> str:
    """What the last conversation left open for good; what is still being closed gets a few seconds."""
    for _ in range(200):
        left = open_now().more_than(before)
        if not left:
            return ""
        gc.collect()
        time.sleep(0.02)
    return left


def _kind(link: str) -> str:
    return link.partition(":")[0] if ":[" in link else link
