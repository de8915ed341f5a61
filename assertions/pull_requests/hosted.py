"""What has become of a pull request? Its host tells, or, where no host can know it, the creating tool's result.

Only reading happens here. `requests` is imported by the host's client, so nothing is imported before something has to
be looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from assertions.pull_requests.proof import Created
from assertions.verdict import NotEvaluated
from episodes.frozen import frozen


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


def from_host(pulls: Sequence[Created], *, paths: bool) -> dict[str, State | None]:
    """Ask the host for each pull request, by its address; None where the host does not know it.

    Raises:
        NotEvaluated: the run's host can not be reached or did not answer, or is not the one in the address.
    """
    # Late: a case whose agent created nothing never needs the endpoints.
    from endpoints import resolve_pull_request_host
    from endpoints.local_stack import StackError
    from episodes.hosts import HostError, host_for

    try:
        host = resolve_pull_request_host()
    except StackError as error:
        raise NotEvaluated(f"the pull-request host is not known: {error}") from error
    found: dict[str, State | None] = {}
    client = host_for(host)
    try:
        for pull in pulls:
            if not _same_site(pull, host.kind, host.api_url):
                raise NotEvaluated(f"{pull.url.text} is not on this run's pull-request host {_site(host.api_url)[0]}")
            repository = f"{pull.url.owner[-1]}/{pull.url.repository}"
            hosted = client.get(repository, pull.url.id)
            if hosted is None:
                found[pull.url.text] = None
                continue
            changed = client.changed_paths(repository, pull.url.id) if paths else None
            found[pull.url.text] = State(
                "its host", hosted.status, hosted.target_branch, hosted.source_branch, hosted.title, changed
            )
    except HostError as error:
        raise NotEvaluated(f"the pull-request host did not answer: {error}") from error
    finally:
        client.close()
    return found


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
_API_HOSTS = {"api.github.com": "github.com"}
_OLD_AZURE_SUFFIX = ".visualstudio.com"


def _site(api_url: str) -> tuple[str, tuple[str, ...]]:
    """The host that people see, and what stands before the project there, for an API's address."""
    parts = urlsplit(api_url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    folders = tuple(unquote(part).casefold() for part in parts.path.split("/") if part)
    if host.endswith(_OLD_AZURE_SUFFIX):
        return "dev.azure.com", (host.removesuffix(_OLD_AZURE_SUFFIX),)
    return _API_HOSTS.get(host, host), folders


def _same_site(pull: Created, kind: str, api_url: str) -> bool:
    host, folders = _site(api_url)
    if pull.url.host != host or pull.url.kind != kind:
        return False
    # Two organisations of Azure DevOps share a host, and a pull request of one may have its number in the other too.
    return kind != "azure_devops" or tuple(part.casefold() for part in pull.url.owner[:-1]) == folders
