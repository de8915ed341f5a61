"""What has become of a pull request? Its host tells, or, where no host can know it, the creating tool's result.

Only reading happens here. `requests` is imported by the host's client, so nothing is imported before something has to
be looked up.
"""

from __future__ import annotations

from collections.abc import Sequence

from assertions.pull_requests.proof import Created
from assertions.verdict import NotEvaluated
from episodes.frozen import frozen
from episodes.record import AtHost


@frozen
class State:
    """A pull request as it is now. A part is None where the source does not tell it.

    `source` is put into reasons: who says so. `status` is `active`, `abandoned` or `completed`; branches are short
    names; paths have no leading slash.
    """

    source: str
    status: str | None
    target_branch: str | None
    source_branch: str | None
    title: str | None
    changed_paths: tuple[str, ...] | None


def from_host(pulls: Sequence[Created]) -> dict[str, State | None]:
    """What the host said, by address; None where the host does not know a pull request.

    A provider of ours asks when the episode has ended and writes the answer into the record; for any other record the
    host is asked now. A replayed record holds what the host said when the recording was made.

    Raises:
        NotEvaluated: the run's host can not be reached or did not answer, or is not the one in the address.
    """
    unasked = [pull for pull in pulls if pull.at_host is None]
    answers = {pull.url.text: pull.at_host for pull in pulls if pull.at_host is not None} | _ask(unasked)
    replayed = {pull.url.text for pull in pulls if pull.replayed}
    return {
        url: _state(answer, "its host, when it was recorded" if url in replayed else "its host")
        for url, answer in answers.items()
    }


def _ask(pulls: Sequence[Created]) -> dict[str, AtHost]:
    if not pulls:
        return {}
    # Late: a record that holds the host's answer needs neither the endpoints nor a client.
    from endpoints import resolve_pull_request_host
    from endpoints.local_stack import StackError
    from episodes.hosts import HostError
    from episodes.hosts.look_up import look_up

    try:
        host = resolve_pull_request_host()
        answers = look_up([pull.url for pull in pulls], host)
    except StackError as error:
        raise NotEvaluated(f"the pull-request host is not known: {error}") from error
    except HostError as error:
        raise NotEvaluated(f"the pull-request host could not be asked: {error}") from error
    return dict(zip((pull.url.text for pull in pulls), answers, strict=True))


def _state(answer: AtHost, source: str) -> State | None:
    if not answer.exists:
        return None
    return State(
        source,
        answer.status,
        answer.target_branch,
        answer.source_branch,
        answer.title,
        answer.changed_paths,
    )


def from_result(pull: Created) -> State:
    """What the creating tool itself said: its result, and for the title also its arguments."""
    result = pull.call.result if pull.call is not None and isinstance(pull.call.result, dict) else {}
    arguments = (pull.call.arguments or {}) if pull.call is not None else {}

    def text(*names: str) -> str | None:
        return next((result[name] for name in names if isinstance(result.get(name), str)), None)

    paths = result.get("paths", [result["path"]] if "path" in result else None)
    target, source = (text(*names) for names in (_TARGET_NAMES, _SOURCE_NAMES))
    title = text("title") or arguments.get("title")
    return State(
        source="the creating tool",
        status=_STATUS_WORDS.get((text("status", "state") or "").casefold()),
        target_branch=target.removeprefix("refs/heads/") if target else None,
        source_branch=source.removeprefix("refs/heads/") if source else None,
        title=title if isinstance(title, str) else None,
        changed_paths=tuple(str(path).lstrip("/") for path in paths) if isinstance(paths, list) else None,
    )


_TARGET_NAMES = ("targetBranch", "target_branch", "targetRefName", "base")
_SOURCE_NAMES = ("sourceBranch", "source_branch", "sourceRefName", "head")
_STATUS_WORDS = {
    "active": "active",
    "open": "active",
    "abandoned": "abandoned",
    "closed": "abandoned",
    "completed": "completed",
    "merged": "completed",
}
