"""What every provider entry shares: from promptfoo's three arguments to a result that always carries the record.

`run_episode` never raises. Whatever happens inside, it returns `{output, metadata, tokenUsage, cost?, error?}`; `error`
is there only when the machinery failed, because promptfoo runs no assertion on a row with an error.
"""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from endpoints.redaction import brief, redact_value
from endpoints.settings import home
from episodes.json_safe import in_utf8
from episodes.record import Episode, StopReason
from models.config_values import ModelSettingsError
from models.deadline import Deadline
from providers.agent_protocol import AgentSetup, ConfigurationProblem, EpisodeStopped
from providers.background_loop import WorkDidNotStop, background_loop
from providers.boundary import Boundary
from providers.config_keys import BOUNDARY_KEYS, ENVELOPE_KEYS, PROMPTFOO_KEYS
from providers.look_up import look_up_pull_requests
from providers.recorder import CaseIdentity, Recorder
from providers.run_fingerprint import note_run
from providers.side_files import SideFiles
from providers.stderr_log import get_logger
from providers.tracing import begin_trace
from providers.transcript import transcript
from providers.warm_up import WrongPython, ready

logger = get_logger()

MACHINERY = frozenset(reason for reason in StopReason if reason.broke_off)

MAX_OUTPUT = 1_000_000
"""Characters of an output; promptfoo and its viewer hold several copies of it."""

PROMPTFOO_TIMEOUT_S = 300.0
"""promptfoo's own limit for one provider call, unless `timeout` or REQUEST_TIMEOUT_MS says otherwise."""

MARGIN_S = 15.0
"""How long before promptfoo's limit an episode ends by itself, so that its record is still read."""

GRACE_S = 5.0
"""How long a cancelled episode may take to close its sessions; at most a third of the margin."""


@dataclass(frozen=True)
class ProviderCall:
    """One call by promptfoo.

    `prompt` is the rendered prompt. `variables` are the case's vars without those that begin with `__`. `setup` is what
    an agent factory gets.
    """

    prompt: str
    setup: AgentSetup
    identity: CaseIdentity

    @property
    def options(self) -> Mapping[str, Any]:
        return self.setup.options

    @property
    def variables(self) -> Mapping[str, Any]:
        return self.setup.variables

    @property
    def recorder(self) -> Recorder:
        return self.setup.recorder

    @property
    def deadline(self) -> Deadline:
        return self.setup.deadline


EpisodeBody = Callable[[ProviderCall], Awaitable[str | None]]
"""Runs one episode and returns the output's text; None means: the transcript. It tells `call.recorder.stop(...)` why
the episode ended, or raises `EpisodeStopped` or `ConfigurationProblem`."""


def run_episode(
    body: EpisodeBody,
    prompt: Any,
    options: Mapping[str, Any] | None,
    context: Mapping[str, Any] | None,
    *,
    entry_keys: Collection[str] = (),
    started: float | None = None,
) -> dict[str, Any]:
    """Run one episode on the worker's event loop, under a deadline below promptfoo's. Never raises.

    `entry_keys` are the keys of the provider's config that `body` reads itself, such as `user`. `started` is when
    promptfoo's call came in, by this machine's monotonic clock; now, when it is not given.
    """
    started = time.monotonic() if started is None else started
    recorder = Recorder(CaseIdentity("", "", "", ""))
    output: str | None = None
    try:
        recorder = Recorder(_identity(options or {}, context or {}), SideFiles(home()))
        ready()
        waited = time.monotonic() - started
        call = _provider_call(prompt, options or {}, context or {}, recorder, frozenset(entry_keys), waited)
        grace = min(GRACE_S, call.deadline.seconds / 4)
        output = background_loop().run(
            lambda: _within_deadline(body, call, context or {}), seconds=call.deadline.remaining() + grace, grace=grace
        )
    except EpisodeStopped as stopped:
        recorder.stop(stopped.reason, stopped.problem)
    except (ConfigurationProblem, ModelSettingsError, WrongPython) as problem:
        recorder.stop(StopReason.PROVIDER_ERROR, f"configuration: {problem}")
    except (TimeoutError, WorkDidNotStop) as problem:
        recorder.stop(StopReason.DEADLINE, str(problem) or "the episode did not end in time")
    except Exception as crash:
        logger.exception("an episode crashed")
        recorder.stop(StopReason.PROVIDER_ERROR, _describe_crash(crash))
    return _result(recorder, output)


async def _within_deadline(body: EpisodeBody, call: ProviderCall, context: Mapping[str, Any]) -> str | None:
    trace, problem = begin_trace(context)
    if problem:
        call.recorder.warn(problem)
    try:
        with nullcontext() if trace is None else trace.episode(call.identity.case_id):
            async with asyncio.timeout(call.deadline.remaining()):
                try:
                    async with call.setup.boundary:
                        output = await body(call)
                except asyncio.CancelledError:
                    raise  # The deadline leaves no time to ask anybody.
                except BaseException:
                    # What had been created until then is there, and is judged by nobody but a person.
                    await _ask_host(call)
                    raise
                await _ask_host(call)
                call.setup.boundary.settle()
                return output
    except TimeoutError:
        if not call.deadline.passed:
            raise RuntimeError("a time-out inside the episode that nobody handled") from None
        problem = f"the episode took longer than its {call.deadline.seconds:g} s (deadlineSeconds)"
        raise EpisodeStopped(StopReason.DEADLINE, problem) from None
    except SystemExit as leaving:
        # It would end the event loop, and with it every later episode of this worker.
        raise RuntimeError(f"the agent asked the process to exit with {leaving.code!r}") from leaving
    except KeyboardInterrupt as leaving:
        raise RuntimeError("the agent asked the process to exit (KeyboardInterrupt)") from leaving
    except BaseExceptionGroup as group:
        # With a cancellation among its parts it is no Exception, and would leave the row without a record.
        raise RuntimeError(f"the agent ended with {type(group).__name__}: {group}") from group


async def _ask_host(call: ProviderCall) -> None:
    call.recorder.conversation_ended()
    await look_up_pull_requests(call.recorder, call.deadline, call.setup.boundary.cassette)


def _identity(options: Mapping[str, Any], context: Mapping[str, Any]) -> CaseIdentity:
    """Which row this is. Of the test only its id, suite and description are read, never its assertions."""
    raw_vars = context.get("vars") or {}
    test = context.get("test") or {}
    metadata = test.get("metadata") or {}
    repeat = int(raw_vars.get("__repeatIndex") or context.get("repeatIndex") or 0)
    step_id = raw_vars.get("__evalStepId") or f"test-{context.get('testIdx', 0)}-prompt-0-repeat-{repeat}"
    return CaseIdentity(
        case_id=str(metadata.get("id") or test.get("description") or ""),
        step_id=str(step_id),
        eval_id=str(raw_vars.get("__evalId") or context.get("evaluationId") or ""),
        suite=str(metadata.get("suite") or _base_path(options).name),
        repeat=repeat,
    )


def _base_path(options: Mapping[str, Any]) -> Path:
    config = options.get("config")
    return Path(str((isinstance(config, Mapping) and config.get("basePath")) or Path.cwd()))


def _provider_call(
    prompt: Any,
    options: Mapping[str, Any],
    context: Mapping[str, Any],
    recorder: Recorder,
    entry_keys: frozenset[str],
    waited: float,
) -> ProviderCall:
    config = options.get("config") or {}
    if not isinstance(config, Mapping):
        raise ConfigurationProblem(f"the provider's config must be a mapping, found {type(config).__name__}")
    raw_vars = context.get("vars") or {}
    base_path = _base_path(options)
    variables = {key: value for key, value in raw_vars.items() if not str(key).startswith("__")}
    note_run(recorder, base_path, variables)
    own = {key: value for key, value in config.items() if key not in PROMPTFOO_KEYS}
    setup = AgentSetup(
        options=own,
        base_path=base_path,
        recorder=recorder,
        deadline=Deadline.after(_deadline_seconds(config, waited)),
        boundary=Boundary(own, base_path, recorder),
        variables=variables,
        entry_keys=entry_keys | ENVELOPE_KEYS | BOUNDARY_KEYS,
    )
    text = prompt if isinstance(prompt, str) else str(prompt)
    return ProviderCall(prompt=text, setup=setup, identity=recorder.identity)


def _deadline_seconds(config: Mapping[str, Any], waited: float) -> float:
    """`deadlineSeconds`, which must lie below the limit at which promptfoo gives the call up.

    `waited` are the seconds of that limit that went by before the episode could begin.
    """
    call_limit = _milliseconds(config.get("timeout")) or _milliseconds(os.environ.get("REQUEST_TIMEOUT_MS"))
    test_limit = _milliseconds(os.environ.get("PROMPTFOO_EVAL_TIMEOUT_MS"))
    limit = min(call_limit or PROMPTFOO_TIMEOUT_S, test_limit or float("inf"))
    longest = max(limit - MARGIN_S, limit / 2)
    wanted = config.get("deadlineSeconds")
    if wanted is None:
        return max(longest - waited, 1.0)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 < wanted <= longest:
        raise ConfigurationProblem(
            f"deadlineSeconds: expected a number above 0 and at most {longest:g} (promptfoo gives a call up after "
            f"{limit:g} s; raise the provider's `timeout` to allow more), found {wanted!r}"
        )
    return min(float(wanted), max(longest - waited, 1.0))


def _milliseconds(value: Any) -> float | None:
    """A time-out in milliseconds as seconds; None when it is unset or 0, which promptfoo reads as unset."""
    try:
        return float(value) / 1000 or None
    except (TypeError, ValueError):
        return None


def _describe_crash(crash: Exception) -> str:
    frames = traceback.extract_tb(crash.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"the provider crashed: {type(crash).__name__}: {crash}{place}"


def _result(recorder: Recorder, output: str | None) -> dict[str, Any]:
    episode = recorder.episode()
    text = output if output is not None else transcript(episode.messages)
    result: dict[str, Any] = {
        # promptfoo runs no assertion on an empty output, so an episode without a word says why it has none.
        "output": in_utf8(_short(text)) or f"(nothing was said; stop reason: {episode.stop_reason})",
        "metadata": episode.to_metadata(),
        "tokenUsage": _token_usage(episode),
    }
    cost = episode.usage.agent.plus(episode.usage.user).cost
    if cost is not None:
        result["cost"] = cost
    if episode.stop_reason in MACHINERY:
        problem = recorder.problem or "the episode did not say why it ended"
        result["error"] = in_utf8(f"{episode.stop_reason}: {problem}")
    masked: dict[str, Any] = redact_value(result)
    return masked


def _short(text: str) -> str:
    """What promptfoo gets as output. The record's messages say where the whole of a longer text is."""
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{brief(text, MAX_OUTPUT)}\n[cut: {MAX_OUTPUT} of {len(text)} characters]"


def _token_usage(episode: Episode) -> dict[str, int]:
    total = replace(episode.usage.agent).plus(episode.usage.user)
    return {
        "total": total.prompt_tokens + total.completion_tokens,
        "prompt": total.prompt_tokens,
        "completion": total.completion_tokens,
        "numRequests": total.requests,
    }
