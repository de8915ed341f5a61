"""What does the host say about the pull requests with these addresses? Reading only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from episodes.hosts import HostError, host_for
from episodes.pull_request_url import PullRequestUrl
from episodes.record import AtHost

if TYPE_CHECKING:
    from endpoints import PullRequestHost

_API_HOSTS = {"api.github.com": "github.com"}
_OLD_AZURE_SUFFIX = ".visualstudio.com"


def look_up(urls: Sequence[PullRequestUrl], host: PullRequestHost, *, budget_s: float = 60.0) -> list[AtHost]:
    """Ask `host` for each pull request and the paths that it changes; `exists` is False where it does not know one.

    Raises:
        HostError: an address is not on this host, or the host did not answer within `budget_s`.
    """
    client = host_for(host, budget_s=budget_s)
    found = []
    try:
        for url in urls:
            if not same_site(url, host):
                raise HostError(f"look up {url.text}", f"it is not on this run's pull-request host {site_of(host)}")
            repository = f"{url.owner[-1]}/{url.repository}"
            hosted = client.get(repository, url.id)
            now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            if hosted is None:
                found.append(AtHost(exists=False, asked_at=now))
                continue
            paths = client.changed_paths(repository, url.id)
            found.append(
                AtHost(
                    exists=True,
                    asked_at=now,
                    status=hosted.status,
                    title=hosted.title,
                    source_branch=hosted.source_branch,
                    target_branch=hosted.target_branch,
                    changed_paths=paths,
                )
            )
    finally:
        client.close()
    return found


def same_site(url: PullRequestUrl, host: PullRequestHost) -> bool:
    """Whether an address that people see belongs to a host that is known by its API's address."""
    name, folders = _site(host.api_url)
    if url.host != name or url.kind != host.kind:
        return False
    # Two organisations of Azure DevOps share a host, and a pull request of one may have its number in the other too.
    return host.kind != "azure_devops" or tuple(part.casefold() for part in url.owner[:-1]) == folders


def site_of(host: PullRequestHost) -> str:
    """The host name, with its port, that people see."""
    return _site(host.api_url)[0]


def _site(api_url: str) -> tuple[str, tuple[str, ...]]:
    """The host that people see, and what stands before the project there, for an API's address."""
    parts = urlsplit(api_url)
    host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    folders = tuple(unquote(part).casefold() for part in parts.path.split("/") if part)
    if host.endswith(_OLD_AZURE_SUFFIX):
        return "dev.azure.com", (host.removesuffix(_OLD_AZURE_SUFFIX),)
    return _API_HOSTS.get(host, host), folders
