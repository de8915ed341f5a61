"""A golden: a conversation with fixed user turns, replayed against the agent.

*Naive* replay is one session: the agent goes on from its own earlier answers. *Stable* replay gives the agent, before
each turn, the expected history instead, so that one odd answer does not spoil the turns after it. What is expected of a
turn is never shown before the agent has answered that turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from episodes.record import StopReason
from providers.agent_protocol import Agent, AgentAnswer, ConfigurationProblem
from providers.conversation.case_parts import read_map
from providers.conversation.open_talk import WELCOME
from providers.conversation.turn_taking import MOST_TURNS, Ending, UserMove

Replay = Literal["naive", "stable"]
_GOLDEN_KEYS = ("replay", "turns")
_TURN_KEYS = ("user", "agent", "tool_calls")
_CALL_KEYS = ("name", "arguments", "output")
NO_OUTPUT = "(no output was kept)"


@dataclass(frozen=True)
class GoldenCall:
    """A tool call that belongs to the expected history. `output` is JSON data or text; None: none was kept."""

    name: str
    arguments: Mapping[str, Any]
    output: Any = None


@dataclass(frozen=True)
class GoldenTurn:
    """One turn: the user's message, and what the expected history holds as the agent's answer to it."""

    user: str
    agent: str = ""
    tool_calls: tuple[GoldenCall, ...] = ()


@dataclass(frozen=True)
class Golden:
    replay: Replay
    turns: tuple[GoldenTurn, ...]

    def history(self, turns: int) -> list[dict[str, Any]]:
        """The first `turns` expected turns as Chat Completions messages, tool messages included."""
        messages: list[dict[str, Any]] = []
        for number, turn in enumerate(self.turns[:turns], start=1):
            messages.append({"role": "user", "content": turn.user})
            if turn.tool_calls:
                messages += _tool_messages(turn, number)
            messages.append({"role": "assistant", "content": turn.agent})
        return messages


def read_golden(value: Any, *, most_turns: int = MOST_TURNS, where: str = "vars.golden") -> Golden:
    """A golden from a mapping: `replay` (`naive` or `stable`, default naive) and `turns`.

    A turn has `user` (text; null is the welcome event), `agent` (text or list of texts) and `tool_calls` (`name`,
    `arguments`, `output`).

    Raises:
        ConfigurationProblem: an unknown key or mode, no turn or too many, or a stable replay whose history has a turn
            without the agent's answer.
    """
    data = read_map(value, _GOLDEN_KEYS, where)
    replay = data.get("replay", "naive")
    if replay not in ("naive", "stable"):
        raise ConfigurationProblem(f"{where}.replay is {replay!r}; allowed: naive, stable.")
    items = data.get("turns")
    if not isinstance(items, list) or not 1 <= len(items) <= most_turns:
        raise ConfigurationProblem(f"{where}.turns must be a list with 1 to {most_turns} turns.")
    turns = tuple(_read_turn(item, f"{where}.turns[{index}]") for index, item in enumerate(items))
    if replay == "stable":
        for index, turn in enumerate(turns[:-1]):
            if not turn.agent:
                raise ConfigurationProblem(
                    f"{where}.turns[{index}].agent is missing: stable replay needs the expected answer of every turn "
                    "but the last."
                )
    return Golden("stable" if replay == "stable" else "naive", turns)


class GoldenTalk:
    """A `User` that says the golden's lines in order.

    `preface` is what the agent has before the first word of each session.
    """

    def __init__(self, golden: Golden, agent: Agent, preface: Sequence[Mapping[str, Any]] = ()) -> None:
        self._golden = golden
        self._agent = agent
        self._preface = preface
        self._turns_over = 0

    async def move(self) -> UserMove:
        turn = self._golden.turns[self._turns_over]
        if self._golden.replay == "stable":
            self._agent.begin([*self._preface, *self._golden.history(self._turns_over)])
        self._turns_over += 1
        return UserMove(turn.user, "event" if turn.user == WELCOME else "static")

    async def hear(self, _: AgentAnswer) -> Ending | None:
        return Ending(StopReason.USER_STOP) if self._turns_over == len(self._golden.turns) else None


def _tool_messages(turn: GoldenTurn, number: int) -> list[dict[str, Any]]:
    ids = [f"golden_{number}_{index}" for index in range(len(turn.tool_calls))]
    asked = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for call_id, call in zip(ids, turn.tool_calls, strict=True)
    ]
    answers = [
        {"role": "tool", "tool_call_id": call_id, "content": _output_text(call.output)}
        for call_id, call in zip(ids, turn.tool_calls, strict=True)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]


def _output_text(output: Any) -> str:
    if output is None:
        return NO_OUTPUT
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _read_turn(item: Any, where: str) -> GoldenTurn:
    data = read_map(item, _TURN_KEYS, where)
    if "user" not in data:
        raise ConfigurationProblem(f"{where}.user is missing; allowed: text, or null for the welcome event.")
    user = WELCOME if data["user"] is None else data["user"]
    if not isinstance(user, str) or not user.strip():
        raise ConfigurationProblem(f"{where}.user must be text that is not blank, or null for the welcome event.")
    agent = data.get("agent") or ""
    if isinstance(agent, list) and all(isinstance(part, str) for part in agent):
        agent = "\n\n".join(agent)
    if not isinstance(agent, str):
        raise ConfigurationProblem(f"{where}.agent is a {type(agent).__name__}; allowed: text or a list of texts.")
    calls = data.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ConfigurationProblem(f"{where}.tool_calls is a {type(calls).__name__}; allowed: a list.")
    return GoldenTurn(
        user, agent, tuple(_read_call(call, f"{where}.tool_calls[{index}]") for index, call in enumerate(calls))
    )


def _read_call(item: Any, where: str) -> GoldenCall:
    data = read_map(item, _CALL_KEYS, where)
    name = data.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigurationProblem(f"{where}.name must be the name of a tool.")
    return GoldenCall(name, read_map(data.get("arguments") or {}, None, f"{where}.arguments"), data.get("output"))
