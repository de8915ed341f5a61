"""The production loop: ask the model, run the tools that it asks for, give it the results, until it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from episodes.record import StopReason, ToolStatus
from models.deadline import Deadline
from models.protocol import Model, ModelFailure, ModelReply, ModelRequest
from models.responses_api import ITEMS_KEY
from providers.agent.agent_file import AgentFile
from providers.agent.budget import Budget
from providers.agent.dispatch import Dispatcher
from providers.agent.frozen_world import FrozenWorld
from providers.agent.toolbox import Toolbox
from providers.agent_protocol import AgentAnswer, EpisodeStopped
from providers.recorder import Recorder

MAX_REPAIRS = 2
"""How often in one turn the model may send arguments that are no JSON object and still gets another chance."""

TRUNCATED = "length"
FILTERED = "content_filter"


class LoopAgent:
    """One agent in one episode, with its message history in memory."""

    def __init__(
        self,
        agent: AgentFile,
        model: Model,
        toolbox: Toolbox,
        dispatcher: Dispatcher,
        recorder: Recorder,
        deadline: Deadline,
        budget: Budget,
        world: FrozenWorld,
    ) -> None:
        self._agent = agent
        self._system_prompt = world.fill_in(agent.system_prompt)
        self._model = model
        self._toolbox = toolbox
        self._dispatcher = dispatcher
        self._recorder = recorder
        self._deadline = deadline
        self._budget = budget
        self._functions = toolbox.as_functions()
        self._history: list[dict[str, Any]] = []
        self.begin(())

    @property
    def name(self) -> str:
        return self._agent.name

    def begin(self, history: Sequence[Mapping[str, Any]]) -> None:
        """See `Agent.begin`. The system prompt stays the agent's own; one in `history` comes behind it."""
        self._history = [{"role": "system", "content": self._system_prompt}, *map(dict, history)]

    async def answer(self, message: str) -> AgentAnswer:
        """See `Agent.answer`."""
        self._history.append({"role": "user", "content": message})
        repairs = 0
        for _ in range(self._agent.max_steps):
            over = self._budget.exceeded(self._recorder)
            if over:
                return AgentAnswer("", StopReason.BUDGET, over)
            reply = await self._ask()
            if reply is None or reply.finish_reason == FILTERED:
                return self._filtered(reply)
            if not reply.calls:
                return self._final(reply)
            self._record(reply)
            known = len(self._recorder.tool_calls)
            results = await self._dispatcher.run(reply.calls, cut_off=reply.finish_reason == TRUNCATED)
            self._history.extend(results)
            if any(call.status is ToolStatus.PARSE_ERROR for call in self._recorder.tool_calls[known:]):
                repairs += 1
                if repairs > MAX_REPAIRS:
                    problem = f"tool arguments were no JSON object in {repairs} answers of one turn"
                    return AgentAnswer(
                        reply.text, StopReason.MAX_STEPS, f"{problem}; {MAX_REPAIRS} repairs are allowed"
                    )
        return AgentAnswer("", StopReason.MAX_STEPS, f"no answer after {self._agent.max_steps} steps (maxSteps)")

    async def _ask(self) -> ModelReply | None:
        """The model's next reply; None when the service's content filter refused the conversation."""
        request = ModelRequest(
            messages=self._history,
            tools=self._functions,
            parallel_tool_calls=self._agent.parallel_tool_calls if self._functions else None,
        )
        try:
            reply = await self._model.complete(request, self._deadline)
        except ModelFailure as failure:
            if failure.kind == "content_filter":
                self._recorder.warn(f"model {self._model.name}: {failure.problem}")
                return None
            reason = StopReason.DEADLINE if failure.kind == "deadline" else StopReason.PROVIDER_ERROR
            raise EpisodeStopped(reason, f"model {self._model.name}: {failure.problem}") from None
        self._recorder.begin_step()
        self._recorder.model_call("agent", reply.usage, reply.latency_ms)
        for note in reply.notes:
            self._recorder.warn(note)
        return reply

    def _record(self, reply: ModelReply) -> None:
        self._history.append(reply.message)
        self._recorder.message({key: value for key, value in reply.message.items() if key != ITEMS_KEY})

    def _final(self, reply: ModelReply) -> AgentAnswer:
        self._record(reply)
        text = reply.text or reply.refusal
        if reply.finish_reason == TRUNCATED:
            self._recorder.warn(f"step {self._recorder.step}: the agent's answer was cut off at its token limit")
        if not text.strip():
            self._recorder.warn(f"step {self._recorder.step}: the agent's answer is empty")
        return AgentAnswer(text)

    def _filtered(self, reply: ModelReply | None) -> AgentAnswer:
        text = ""
        if reply is not None:
            self._record(reply)
            text = reply.text
        return AgentAnswer(text, StopReason.CONTENT_FILTER, "the service's content filter ended the answer")
