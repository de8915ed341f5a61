"""Which pull requests does the record prove, and what does the agent say about them?

A pull request is proven by the *result* of a tool call that ran. What the agent writes is a claim: its address may have
been copied from the developer, from a document, or made up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from episodes.frozen import frozen
from episodes.pull_request_url import PullRequestUrl, find_all, find_in_value, parse
from episodes.record import AtHost, Episode, ToolCall, ToolStatus


@frozen
class Created:
    """A pull request, its address read, and the call whose result proves it (None: the record names no such call).

    `at_host` is what its host said when the episode had ended; None when nobody asked then.
    """

    url: PullRequestUrl
    call: ToolCall | None
    at_host: AtHost | None = None

    @property
    def replayed(self) -> bool:
        """The result came from a recording, so no host is asked about this pull request."""
        return self.call is not None and self.call.replayed


@frozen
class Claim:
    """An address in the agent's own words. `origin` says where it stood before, and is empty when it stood nowhere."""

    url: PullRequestUrl
    turn: int
    origin: str


def created_pull_requests(
    episode: Episode, calls: Sequence[ToolCall], creating_tools: Sequence[str]
) -> tuple[Created, ...]:
    """The pull requests that this episode created, each once, in the order of their calls.

    They are the record's own list where the provider made one; with `creating_tools` (names or globs) they are instead
    read from the results of those tools, which serves records that other programs wrote.
    """
    found: dict[object, Created] = {}
    listed = [(read, pull.at_host) for pull in episode.pull_requests if (read := parse(pull.url)) is not None]
    if creating_tools:
        answers = {read.key: at_host for read, at_host in listed}
        for call in calls:
            if call.status is ToolStatus.OK and any(fnmatchcase(call.name, pattern) for pattern in creating_tools):
                for url in find_in_value(call.result):
                    found.setdefault(url.key, Created(url, call, answers.get(url.key)))
        return tuple(found.values())
    for read, at_host in listed:
        found.setdefault(read.key, Created(read, _proof(read, calls), at_host))
    return tuple(found.values())


READING_TOOLS = (
    "get_*", "list_*", "read_*", "search_*", "find_*", "fetch_*", "query_*", "describe_*", "show_*", "view_*",
    "validate_*", "check_*",
)  # fmt: skip
"""Tools that create nothing, by their names."""


def unproven_creation(episode: Episode, calls: Sequence[ToolCall], creating_tools: Sequence[str]) -> str:
    """Why a pull request may exist that the record does not prove; empty when there is no sign of one.

    Without `creating_tools`, every tool that does not just read by its name may have created one. A record of ours (it
    has a `step_id`) lists what the answers proved; in another one an address in an answer may be a new one.
    """
    for call in calls:
        if creating_tools:
            if not _any_fits(creating_tools, call.name):
                continue
        elif _any_fits(READING_TOOLS, call.name):
            continue
        where = f"{call.name} in turn {call.turn}"
        if call.status.executed is None:
            return f"{where} never answered, so it may have created one"
        if call.status is not ToolStatus.OK:
            continue
        if creating_tools:
            return f"{where} went well, and its result in the record shows no pull request that is known"
        if not episode.step_id and (shown := next(find_in_value(call.result), None)) is not None:
            return f"{where} answered with {shown.text}, which it may have created; say so with `created_by`"
    return ""


def _any_fits(patterns: Sequence[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def claims(episode: Episode, calls: Sequence[ToolCall], output: str) -> tuple[Claim, ...]:
    """Every address that the agent wrote, each once. A record without messages is read from the plain `output`."""
    written = _written(episode.messages) if episode.messages else [(url, 0, "") for url in find_all(output)]
    if any(not origin for _, _, origin in written):
        # Foreign records may lack the tool messages; looking through all results is only worth it when one is missing.
        answered = {
            url.key: f"the result of {call.name} in turn {call.turn}"
            for call in reversed(calls)
            for url in find_in_value(call.result)
        }
        written = [(url, turn, origin or answered.get(url.key, "")) for url, turn, origin in written]
    return tuple(Claim(url, turn, origin) for url, turn, origin in written)


def _written(messages: Sequence[Mapping[str, Any]]) -> list[tuple[PullRequestUrl, int, str]]:
    """Address, turn and origin of each pull request that the assistant speaks of, each once."""
    found: dict[object, tuple[PullRequestUrl, int, str]] = {}
    origins: dict[object, str] = {}
    for message in messages:
        role, turn = message.get("role"), _turn(message)
        for url in find_all(message_text(message)):
            if role == "assistant":
                found.setdefault(url.key, (url, turn, origins.get(url.key, "")))
            else:
                origins.setdefault(url.key, f"{_SPEAKERS.get(str(role), str(role))} in turn {turn}")
    return list(found.values())


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a Chat Completions message, whether its content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


_SPEAKERS = {"user": "the developer's message", "tool": "a tool result", "system": "the instructions"}


def _turn(message: Mapping[str, Any]) -> int:
    turn = message.get("turn")
    return turn if isinstance(turn, int) else 0


def _proof(url: PullRequestUrl, calls: Sequence[ToolCall]) -> ToolCall | None:
    """The first call that ran well and whose result shows the address."""
    for call in calls:
        if call.status is ToolStatus.OK and any(url.same_as(shown) for shown in find_in_value(call.result)):
            return call
    return None
