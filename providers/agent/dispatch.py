"""From a call that the model asks for to a recorded call and a message back: one bad call never hurts its siblings."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from endpoints.redaction import brief
from episodes.ledger import LedgerError, new_marker
from episodes.record import PullRequest, StopReason, ToolCall, ToolStatus
from models.cassettes.volatile import MARKER_STAND_IN
from models.deadline import Deadline
from models.protocol import RequestedCall
from providers.agent.arguments import UnreadableArguments, read_arguments
from providers.agent.created import CreationLedger, created_pull_request, marked_arguments
from providers.agent.dispatch_settings import DispatchSettings
from providers.agent.tool_server import ToolAnswer, ToolFailure
from providers.agent.toolbox import Tool, Toolbox
from providers.agent_protocol import EpisodeStopped
from providers.recorder import Recorder, utc_now
from providers.side_files import CutText, SideFiles

STATUS_OF_FAILURE = {
    "unreachable": ToolStatus.NOT_EXECUTED,
    "not_sent": ToolStatus.NOT_EXECUTED,
    "no_answer": ToolStatus.TRANSPORT_ERROR,
    "refused": ToolStatus.TOOL_ERROR,
    "no_recording": ToolStatus.NOT_EXECUTED,
}


@dataclass(frozen=True)
class _Outcome:
    """A finished call, and what the model is told."""

    call: ToolCall
    message: str
    pull_request: PullRequest | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    stop: EpisodeStopped | None = None
    """Why the episode can not go on, if it can not."""


class Dispatcher:
    """Runs the tool calls of one episode."""

    def __init__(
        self,
        toolbox: Toolbox,
        recorder: Recorder,
        ledger: CreationLedger,
        side_files: SideFiles,
        deadline: Deadline,
        settings: DispatchSettings,
    ) -> None:
        self._toolbox = toolbox
        self._recorder = recorder
        self._ledger = ledger
        self._side_files = side_files
        self._deadline = deadline
        self._settings = settings

    async def run(self, calls: Sequence[RequestedCall], *, cut_off: bool, refuse: str = "") -> list[dict[str, Any]]:
        """Run the calls of one model answer side by side; returns one tool message for each, in their order.

        `refuse` is set when no call may be made any more: each is recorded as not executed, with that reason.

        Raises:
            EpisodeStopped: a server is gone for good, or the ledger can not be written. All calls are recorded.
        """
        batch = self._recorder.begin_batch()
        tasks = [asyncio.create_task(self._one(call, batch, cut_off, refuse)) for call in calls]
        try:
            await asyncio.gather(*tasks)
        finally:
            # When the episode is cancelled in the middle, the calls under way belong in the record all the same.
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            outcomes = [self._outcome(call, batch, task) for call, task in zip(calls, tasks, strict=True)]
            messages = [self._record(outcome) for outcome in outcomes]
        for outcome in outcomes:
            if outcome.stop is not None:
                raise outcome.stop
        return messages

    def _record(self, outcome: _Outcome) -> dict[str, Any]:
        message = {"role": "tool", "tool_call_id": outcome.call.id, "content": outcome.message}
        self._recorder.tool_call(outcome.call)
        self._recorder.message(message)
        if outcome.pull_request is not None:
            self._recorder.pull_request(outcome.pull_request)
        for name, value in outcome.variables.items():
            self._recorder.variable(name, value, outcome.call.id)
        return message

    async def _one(self, requested: RequestedCall, batch: int, cut_off: bool, refuse: str) -> _Outcome:
        call = self._begin(requested, batch)
        tool = self._toolbox.find(requested.name)
        if tool is None:
            return _refused(call, ToolStatus.NOT_EXECUTED, self._toolbox.refusal(requested.name))
        call = replace(call, server=tool.server.name, name=tool.info.name)
        try:
            arguments = read_arguments(requested.arguments_raw, tool.info.input_schema, cut_off=cut_off)
        except UnreadableArguments as problem:
            return _refused(call, ToolStatus.PARSE_ERROR, f"Not called: {problem}. Send the call again, complete.")
        call = replace(call, arguments=arguments)
        if refuse:
            return _refused(call, ToolStatus.NOT_EXECUTED, refuse)
        errors = [*tool.check.errors(arguments), *(self._settings.rules.errors(arguments) if tool.creates else ())]
        if errors:
            return _refused(call, ToolStatus.SCHEMA_ERROR, f"Not called: the arguments do not fit: {'; '.join(errors)}")
        return await (self._create(tool, call, arguments) if tool.creates else self._call(tool, call, arguments))

    async def _call(self, tool: Tool, call: ToolCall, arguments: dict[str, Any]) -> _Outcome:
        started = time.monotonic()
        idle = self._settings.tool_idle_s
        try:
            answer = await tool.server.call(tool.info.name, arguments, idle_s=idle, deadline=self._deadline)
        except ToolFailure as failure:
            call = replace(call, latency_ms=_since(started))
            failed = _refused(call, STATUS_OF_FAILURE[failure.reason], f"The tool call failed: {failure.problem}")
            return replace(failed, stop=_stop(tool, failure))
        return self._answered(tool, replace(call, latency_ms=_since(started)), answer)

    async def _create(self, tool: Tool, call: ToolCall, arguments: dict[str, Any]) -> _Outcome:
        """A call that may leave something behind: the ledger knows of it before the server does."""
        marker = ""
        added: dict[str, Any] = {}
        if self._settings.marker:
            # A replay creates nothing that a sweep would have to find, and is the same every time.
            chosen = new_marker() if tool.server.live else MARKER_STAND_IN
            arguments, added, marker = marked_arguments(tool.info, arguments, chosen)
        call = replace(call, added_arguments=added)
        if not tool.server.live:
            return await self._call(tool, call, arguments)
        try:
            self._ledger.intend(call.id, tool.server.name, tool.info.name, marker)
        except LedgerError as error:
            refused = _refused(call, ToolStatus.NOT_EXECUTED, "Not called: the ledger could not be written.")
            stop = EpisodeStopped(StopReason.PROVIDER_ERROR, f"the ledger could not be written: {error}")
            return replace(refused, stop=stop)
        try:
            outcome = await self._call(tool, call, arguments)
        except asyncio.CancelledError:
            under_way = replace(call, status=ToolStatus.TRANSPORT_ERROR)
            self._settle(under_way, None, "the episode ended while the call was under way", answered=False)
            raise
        answered = outcome.call.status in (ToolStatus.OK, ToolStatus.TOOL_ERROR)
        created = None if outcome.call.replayed else outcome.pull_request
        problem = outcome.call.problem
        # A result that is neither an error nor names a pull request is written without a problem: the sweep then asks
        # the host, instead of taking it for a call that did nothing.
        if answered and created is None and not problem:
            what = "a replayed answer" if outcome.call.replayed else "the answer names no pull request"
            self._recorder.warn(f"{tool.info.name}: {what}")
        self._settle(outcome.call, created, problem, answered=answered)
        return outcome

    def _settle(self, call: ToolCall, created: PullRequest | None, problem: str, *, answered: bool) -> None:
        sent = not call.replayed and call.status is not ToolStatus.NOT_EXECUTED
        try:
            self._ledger.settle(call.id, created, problem, answered=answered, sent=sent)
        except LedgerError as error:
            # The intent is on disk, so a sweep still finds what was created.
            self._recorder.warn(f"the ledger lacks the result of {call.name}: {error}")

    def _answered(self, tool: Tool, call: ToolCall, answer: ToolAnswer) -> _Outcome:
        shown = answer.text if answer.structured is None else _compact(answer.structured)
        result: Any = answer.text if answer.structured is None else answer.structured
        cut = self._cut(call, "a result", shown)
        if cut is not None:
            shown, result = cut.shown, cut.as_json()
        for note in answer.notes:
            self._recorder.warn(f"{call.name}: {note}")
        status = ToolStatus.TOOL_ERROR if answer.is_error else ToolStatus.OK
        problem = brief(answer.text or shown, 500) if answer.is_error else ""
        call = replace(call, status=status, result=result, problem=problem, replayed=answer.replayed)
        created = created_pull_request(answer) if tool.creates else None
        return _Outcome(call, shown, created, self._variables(call, answer))

    def _variables(self, call: ToolCall, answer: ToolAnswer) -> dict[str, Any]:
        """The session variables that the answer sets; what is too long for a record is cut, as a result would be."""
        variables: dict[str, Any] = {}
        for name, value in answer.variables.items():
            cut = self._cut(call, f"the variable {name}", _compact(value))
            variables[name] = value if cut is None else cut.as_json()
        return variables

    def _cut(self, call: ToolCall, what: str, text: str) -> CutText | None:
        try:
            cut = self._side_files.cut(text, self._settings.max_result)
        except OSError as error:
            raise EpisodeStopped(StopReason.PROVIDER_ERROR, f"{what} can not be kept aside: {error}") from None
        if cut is not None:
            self._recorder.warn(f"{call.name}: {what} of {cut.length} characters was cut; the whole is {cut.file}")
        return cut

    def _begin(self, requested: RequestedCall, batch: int) -> ToolCall:
        return ToolCall(
            id=requested.id,
            turn=self._recorder.turn,
            step=self._recorder.step,
            batch=batch,
            server="",
            name=requested.name,
            arguments=None,
            arguments_raw=requested.arguments_raw,
            status=ToolStatus.NOT_EXECUTED,
            started_at=utc_now(),
        )

    def _outcome(self, requested: RequestedCall, batch: int, task: asyncio.Task[_Outcome]) -> _Outcome:
        """What a finished task returned, or what is known of a call that was cancelled or crashed."""
        error = None if task.cancelled() else task.exception()
        if not task.cancelled() and error is None:
            return task.result()
        call = self._begin(requested, batch)
        tool = self._toolbox.find(requested.name)
        if tool is not None:
            call = replace(call, server=tool.server.name, name=tool.info.name)
        what = "the episode ended" if error is None else f"a {type(error).__name__} came"
        return _refused(
            call, ToolStatus.TRANSPORT_ERROR, f"{what} while the call was under way; whether it ran is unknown"
        )


def _refused(call: ToolCall, status: ToolStatus, problem: str) -> _Outcome:
    return _Outcome(replace(call, status=status, problem=problem), problem)


def _stop(tool: Tool, failure: ToolFailure) -> EpisodeStopped | None:
    """A server that is gone, and a replay that has no answer, end the episode: the agent can not be judged further."""
    match failure.reason:
        case "unreachable" | "not_sent":
            problem = f"the server {tool.server.name} is gone: {failure.problem}"
            return EpisodeStopped(StopReason.TOOL_UNAVAILABLE, problem)
        case "no_recording":
            return EpisodeStopped(StopReason.PROVIDER_ERROR, failure.problem)
    return None


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 1)
