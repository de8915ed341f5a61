"""Calls that create something: into the ledger before and after, with a marker, and proven by the tool's own answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from episodes.ledger import Ledger
from episodes.pull_request_url import PullRequestUrl, parse
from episodes.record import PullRequest
from providers.agent.tool_server import ToolAnswer, ToolInfo

BRANCH_PARAMETER = "branch_prefix"
DESCRIPTION_PARAMETER = "description"

URL_KEYS = ("url", "webUrl", "web_url", "html_url", "htmlUrl", "pullRequestUrl", "pull_request_url")
BRANCH_KEYS = ("sourceBranch", "source_branch", "sourceRefName")
ID_KEYS = ("pullRequestId", "pull_request_id", "number", "iid")
"""Not `id`: on GitHub and GitLab that is another number."""


class CreationLedger:
    """The ledger of this episode's creating calls. Opened when the first such call is made."""

    def __init__(self, ledger: Ledger, step_id: str) -> None:
        self._ledger = ledger
        self._step_id = step_id

    def intend(self, call_id: str, server: str, tool: str, marker: str) -> None:
        """Raises `LedgerError`: then the call must not be sent."""
        self._ledger.intent(self._step_id, call_id, server, tool, marker)

    def settle(
        self, call_id: str, created: PullRequest | None, problem: str, *, answered: bool, sent: bool = True
    ) -> None:
        self._ledger.result(self._step_id, call_id, created, problem, answered=answered, sent=sent)


def marked_arguments(
    tool: ToolInfo, arguments: Mapping[str, Any], marker: str
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The arguments to send, what was added to them, and the marker; that is empty when there was no place for it.

    A branch prefix of the agent's own is left alone. The marker is a line of its own in the description, where a sweep
    finds it when the branch does not carry it.
    """
    properties = tool.input_schema.get("properties") or {}
    added: dict[str, Any] = {}
    if BRANCH_PARAMETER in properties and BRANCH_PARAMETER not in arguments:
        added[BRANCH_PARAMETER] = marker
    if DESCRIPTION_PARAMETER in properties:
        own = arguments.get(DESCRIPTION_PARAMETER, "")
        if isinstance(own, str):
            added[DESCRIPTION_PARAMETER] = f"{own}\n\n{marker}".lstrip()
    return {**arguments, **added}, added, marker if added else ""


def created_pull_request(answer: ToolAnswer) -> PullRequest | None:
    """The pull request that a creating tool's own answer proves: an object with the address of one, not a sentence.

    None when the answer is an error or a fake, or when no part of it is such an object. One from a recording was
    created when that was made, and says so.
    """
    if answer.is_error or answer.faked:
        return None
    for item in _objects(answer.structured if answer.structured is not None else _json(answer.text)):
        url = next((found for key in URL_KEYS if (found := parse(str(item.get(key) or "")))), None)
        if url is not None and _id_agrees(item, url):
            branch = next((str(item[key]) for key in BRANCH_KEYS if item.get(key)), "")
            return PullRequest(
                url=url.text,
                id=url.id,
                repository=_repository(item, url),
                source_branch=branch.removeprefix("refs/heads/"),
                status=str(item.get("status") or item.get("state") or "active"),
                replayed=answer.replayed,
            )
    return None


def _repository(item: Mapping[str, Any], url: PullRequestUrl) -> str:
    named = item.get("repository")
    if isinstance(named, Mapping):
        named = named.get("full_name") or named.get("name")
    return named if isinstance(named, str) and named else url.repository


def _id_agrees(item: Mapping[str, Any], url: PullRequestUrl) -> bool:
    """False when the object names another number than its address: then neither is proof."""
    said = next((item[key] for key in ID_KEYS if item.get(key) is not None), url.id)
    return str(said) == url.id


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The answer itself, and objects one level below: tools like to wrap what they return."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            if isinstance(inner, Mapping):
                yield inner


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
