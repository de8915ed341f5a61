"""One question to the judge: prompt, structured reply, one repair, and a record of who judged by which prompt.

The order to the judge is one JSON object in the last user message: `task`, `criteria`, `question`, `answer`,
`context`, `expected`. What the judge replies is read and checked; a reply that can not be used is sent back once with
what is wrong, and then the check is NOT EVALUATED, with the raw reply kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from assertions.judging.replies import BadReply, Grade, Task, Verdicts, read_reply, reply_schema
from assertions.verdict import ConfigError, NotEvaluated
from episodes.canonical import canonical_json, digest_text
from episodes.frozen import frozen
from episodes.record import RoleUsage

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from assertions.evidence import Evidence
    from models.cassettes.cassette import Cassette
    from models.protocol import Model, ModelReply

DEFAULT_MODEL = "judge"
DEADLINE_S = 120.0
"""For one question, retries and the repair included."""
MAX_RAW = 4_000
"""So much of an unreadable reply is kept, in characters."""

_Read = TypeVar("_Read", Verdicts, Grade)


@frozen
class Order:
    """What is to be judged."""

    task: Task
    answer: str
    criteria: tuple[str, ...] = ()
    question: str = ""
    context: str = ""
    expected: str = ""

    def to_message(self) -> str:
        fields = {
            "task": self.task,
            "criteria": list(self.criteria),
            "question": self.question,
            "answer": self.answer,
            "context": self.context,
            "expected": self.expected,
        }
        return json.dumps(fields, ensure_ascii=False)


@frozen
class JudgeSettings:
    """Which model judges. `options` are those of `models.settings` (temperature, prices, capabilities …)."""

    model: str
    options: Mapping[str, Any]
    deadline_s: float = DEADLINE_S


class Judge(Protocol):
    """Answers one order. `accept` looks at a read reply and raises BadReply when it can not be used."""

    def ask(self, order: Order, kind: type[_Read], accept: Callable[[_Read], None]) -> tuple[_Read, dict[str, Any]]: ...


def read_settings(config: Mapping[str, Any]) -> JudgeSettings:
    """The judge of a check: its config's `judge` (a name, or the settings of a model), else EVALS_JUDGE_MODEL."""
    given = config.get("judge", {})
    options = {"model": given} if isinstance(given, str) else dict(given)
    deadline = float(options.pop("deadlineSeconds", DEADLINE_S))
    name = options.pop("model", None) or os.environ.get("EVALS_JUDGE_MODEL", "").strip() or DEFAULT_MODEL
    # A judge that is asked twice should say the same, as far as the service allows it.
    options.setdefault("temperature", 0)
    return JudgeSettings(str(name), options, deadline)


def prompt_of(task: Task) -> str:
    """The judge's instructions for a task."""
    from pathlib import Path

    return Path(__file__).with_name("prompts").joinpath(f"{task}.md").read_text(encoding="utf-8")


def prompt_hash(task: Task) -> str:
    """SHA-256 of the instructions and the reply's schema: what can change a verdict beside model and material."""
    return digest_text(prompt_of(task) + canonical_json(reply_schema(task)))


def refuse_placeholders(texts: Mapping[str, str]) -> None:
    """A judge that is shown `{{name}}` instead of a value may well find it fine.

    Raises:
        ConfigError: one of the texts, which are given by their place in the config, holds one.
    """
    for key, text in texts.items():
        start = text.find("{{")
        if start != -1:
            found = text[start : start + 60].split("}}")[0] + "}}"
            raise ConfigError(key, f"{found} was never filled in", "a name among the case's vars")


class ModelJudge:
    """A judge behind the run's model endpoint, or on the cassette of the episode that it judges."""

    def __init__(self, settings: JudgeSettings, evidence: Evidence | None = None) -> None:
        self._settings = settings
        self._evidence = evidence
        self._opened: Cassette | None = None

    def ask(self, order: Order, kind: type[_Read], accept: Callable[[_Read], None]) -> tuple[_Read, dict[str, Any]]:
        """The reply, and what is to be kept about how it came.

        Raises:
            NotEvaluated: there is no usable reply; its details hold the raw one.
            ConfigError: the model's settings are wrong.
        """
        # Late: only a check that really asks a model pays for the import of its client.
        import asyncio

        from models.config_values import ModelSettingsError
        from models.settings import parse_model_settings

        try:
            settings = parse_model_settings(self._settings.options, "judge.", default_model=self._settings.model)
        except ModelSettingsError as error:
            raise ConfigError("/judge", str(error)) from None
        if self._evidence is not None and self._evidence.cassette is not None:
            from assertions.judging.recorded import open_cassette

            self._opened = self._opened or open_cassette(self._evidence, self._evidence.cassette)
        return asyncio.run(self._ask(order, kind, accept, settings))

    async def _ask(
        self, order: Order, kind: type[_Read], accept: Callable[[_Read], None], settings: Any
    ) -> tuple[_Read, dict[str, Any]]:
        from contextlib import AsyncExitStack

        from models.deadline import Deadline
        from models.protocol import ModelFailure

        try:
            async with AsyncExitStack() as stack:
                model = await self._model(order.task, settings, stack)
                found = await converse(model, order, kind, accept, Deadline.after(self._settings.deadline_s))
            if self._opened is not None:
                from assertions.judging.recorded import keep

                keep(self._opened)
            return found
        except ModelFailure as failure:
            details = _details(order.task, self._settings.model, RoleUsage(), [])
            raise NotEvaluated(f"the judge gave no reply ({failure.kind}): {failure.problem}", details) from None

    async def _model(self, task: Task, settings: Any, stack: AsyncExitStack) -> Model:
        async def live() -> Model:
            from endpoints import resolve_model
            from endpoints.local_stack import StackError
            from models.plain_service import open_plain_model

            try:
                endpoint = resolve_model()
            except StackError as error:
                raise NotEvaluated(f"there is no model that could judge: {error}") from None
            return await stack.enter_async_context(open_plain_model(endpoint, settings))

        if self._opened is None:
            return await live()
        from models.cassettes.cassette import CHECK
        from models.cassettes.model import RecordedModel

        return RecordedModel(f"{CHECK}{task}", settings, self._opened, live)


async def converse(
    model: Model, order: Order, kind: type[_Read], accept: Callable[[_Read], None], deadline: Any
) -> tuple[_Read, dict[str, Any]]:
    """Ask, read, and ask once more when the reply can not be used.

    Raises:
        NotEvaluated: the second reply could not be used either.
        ModelFailure: the model gave no reply.
    """
    from models.protocol import ModelRequest

    messages: list[Mapping[str, Any]] = [
        {"role": "system", "content": prompt_of(order.task)},
        {"role": "user", "content": order.to_message()},
    ]
    usage = RoleUsage()
    raw: list[str] = []
    problem = ""
    for _ in range(2):
        request = ModelRequest(
            messages=tuple(messages),
            response_schema=reply_schema(order.task),
            response_schema_name=f"{order.task}_verdict",
        )
        reply = await model.complete(request, deadline)
        usage = usage.plus(reply.usage)
        raw.append(reply.text)
        try:
            read = _read(order.task, reply, kind)
            accept(read)
        except BadReply as error:
            problem = str(error)
            messages += [{"role": "assistant", "content": reply.text or "(nothing)"}, _repair(problem)]
            continue
        return read, _details(order.task, reply.model, usage, raw[:-1])
    shown = raw[-1] if len(raw[-1]) <= 300 else raw[-1][:300] + "…"
    details = _details(order.task, model.name, usage, raw)
    raise NotEvaluated(f"the judge's reply can not be used: {problem}. It said: {shown!r}", details)


def _read(task: Task, reply: ModelReply, kind: type[_Read]) -> _Read:
    if reply.refusal:
        raise BadReply(f"the model refused: {reply.refusal[:200]}")
    if reply.finish_reason == "length":
        raise BadReply("it was cut off")
    read = read_reply(task, reply.text)
    if not isinstance(read, kind):
        raise TypeError(f"the task {task} has no reply of the kind {kind.__name__}")
    return read


def _repair(problem: str) -> dict[str, Any]:
    # Not a user message: the order stays the last one of those.
    text = (
        f"That reply can not be used: {problem}. Reply again to the order above, with the JSON object and nothing else."
    )
    return {"role": "system", "content": text}


def _details(task: Task, model: str, usage: RoleUsage, unusable: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "task": task,
        "model": model,
        "promptSha256": prompt_hash(task),
        "usage": {
            "promptTokens": usage.prompt_tokens,
            "completionTokens": usage.completion_tokens,
            "requests": usage.requests,
            "cost": usage.cost,
        },
    }
    if unusable:
        kept["unusableReplies"] = [text[:MAX_RAW] for text in unusable]
    return kept
