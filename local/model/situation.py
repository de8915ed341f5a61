"""The state of a conversation, read afresh from its messages: what was said, and what the tools proved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .changes import Findings, Said, find_changes
from .evidence import CREATE, SCHEMA, Evidence, Made, gather
from .intent import Intent, intent_of, is_question
from .policy import Policy
from .properties import Catalogue, catalogue
from .protocol import Call, ChatRequest, Message, Reply
from .questions import Topic, says_keep, says_unknown, topics_in

_THANKS = re.compile(
    r"^\W*(?:thank|thanks|thx|great|perfect|cheers|ok\b|okay|good|bye|fine|got it|understood|never ?mind|"
    r"that(?:'s| is) all|no,? that)",
    re.IGNORECASE,
)
PULL_REQUEST = re.compile(r"https?://\S+/(?:pullrequests?|pull|merge_requests)/\d+", re.IGNORECASE)
_MOST_TRIES = 3


@dataclass(frozen=True)
class Turn:
    """One message of the developer in the current task, and the topics that the agent had asked for just before."""

    text: str
    asked: tuple[Topic, ...]


class Situation:
    """Everything that the agent can know when it has to say something."""

    def __init__(self, request: ChatRequest, policy: Policy) -> None:
        self.policy = policy
        self.system = request.system
        self.offered = frozenset(tool.name for tool in request.tools)
        messages = [message for message in request.messages if message.role != "system"]
        self._task = messages[_task_start(messages) :]
        self.done = _finished(self._task)
        self.evidence: Evidence = gather(messages)
        self.task_evidence: Evidence = gather(self._task)

    @cached_property
    def last(self) -> str:
        """The developer's latest message."""
        return next((m.content for m in reversed(self._task) if m.role == "user"), "")

    @property
    def own_words(self) -> list[str]:
        """The agent's own messages in this task."""
        return [m.content for m in self._task if m.role == "assistant" and m.content]

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The developer's messages in this task."""
        turns: list[Turn] = []
        before = ""
        for message in self._task:
            if message.role == "assistant" and message.content:
                before = message.content
            elif message.role == "user":
                turns.append(Turn(message.content, tuple(topics_in(before, self._any_catalogue))))
                before = ""
        return tuple(turns)

    @cached_property
    def intent(self) -> Intent:
        """What the task is about: told by the first message that is about something."""
        kinds = [intent_of(turn.text) for turn in self.turns]
        if kinds and kinds[-1] == "question" and not self.pending:
            return "question"
        return next((kind for kind in kinds if kind not in ("talk", "question")), kinds[-1] if kinds else "talk")

    @cached_property
    def pending(self) -> bool:
        """True when an earlier message asked for something that is still open."""
        return any(intent_of(turn.text) not in ("talk", "question") for turn in self.turns[:-1])

    @property
    def asks_back(self) -> bool:
        """The developer answers a question with a question."""
        last = self.turns[-1] if self.turns else None
        return last is not None and bool(last.asked) and is_question(last.text)

    @property
    def closing(self) -> bool:
        """The latest message only ends the conversation."""
        return _THANKS.match(self.last) is not None and len(self.last.split()) <= 12

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(turn.text for turn in self.turns)

    def asked(self, topic: Topic) -> int:
        """How often the developer was asked for a topic in this task."""
        return sum(topic in turn.asked for turn in self.turns)

    def unknown(self, topic: Topic) -> bool:
        """The developer was asked for a topic and can not tell, or has let two questions for it pass."""
        return self.asked(topic) >= 2 or any(topic in t.asked and says_unknown(t.text) for t in self.turns)

    def keeps(self, topic: Topic) -> bool:
        """The developer was asked for a topic and wants what the source has."""
        return any(topic in turn.asked and says_keep(turn.text) for turn in self.turns)

    @cached_property
    def _any_catalogue(self) -> Catalogue | None:
        schema = self.evidence.schema(described=True) or self.evidence.schema(described=False)
        return catalogue(schema) if schema is not None else None

    def catalogue(self, *, described: bool) -> Catalogue | None:
        """The schema that was read, with or without descriptions, as a catalogue of properties."""
        schema = self.evidence.schema(described=described)
        return catalogue(schema) if schema is not None else None

    @property
    def best_catalogue(self) -> Catalogue | None:
        """The one with descriptions if it was read, else the other one."""
        return self._any_catalogue

    def findings(self, known: Catalogue, configuration: Mapping[str, Any] | None) -> Findings:
        """The changes that all messages of the task ask for."""
        said = [Said(turn.text, turn.asked[0] if len(turn.asked) == 1 else None) for turn in self.turns]
        return find_changes(said, known, configuration)

    @property
    def created(self) -> Made | None:
        """The pull request of this task."""
        return next((call for call in self.task_evidence.of(CREATE) if not call.failed), None)

    def can(self, tool: str) -> bool:
        return tool in self.offered

    def call(self, *wanted: Call) -> Reply | None:
        """Call those of the tools that are on offer and have not failed too often; None when none is left."""
        calls = tuple(call for call in wanted if self.can(call.name) and self.tries(call) < _MOST_TRIES)
        return Reply(calls=calls) if calls else None

    def tries(self, call: Call) -> int:
        """How often this very call has failed in a row of tries. Calls that arrived damaged count for their tool."""
        return sum(
            made.failed and (made.arguments == call.arguments or not made.arguments)
            for made in self.task_evidence.of(call.name)
        )

    def schema_call(self, *, described: bool) -> Call:
        return Call(SCHEMA, {"descriptions": True} if described else {})


def _task_start(messages: list[Message]) -> int:
    """Where the current task begins: after the last one that ended with a pull request."""
    start = 0
    calls: dict[str, str] = {}
    opened = False
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            calls[call.id] = call.name
        if message.role == "tool" and calls.get(message.tool_call_id) == CREATE:
            opened = opened or PULL_REQUEST.search(message.content) is not None
        answered = bool(index) and messages[index - 1].role == "assistant"
        if message.role == "user" and opened and answered and not _is_closing(message.content):
            start, opened = index, False
    return start


def _is_closing(text: str) -> bool:
    return _THANKS.match(text) is not None and len(text.split()) <= 12


def _finished(task: Iterable[Message]) -> bool:
    """True when the task's pull request was reported to the developer already."""
    return any(message.role == "assistant" and PULL_REQUEST.search(message.content) for message in task)
