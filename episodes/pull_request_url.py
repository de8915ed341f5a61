"""Which texts are the address of a pull request, and of which one?

Hosts and forms (any scheme-and-host prefix, encoded spaces, and a trailing part such as `/files` or `?_a=files`):

- Azure DevOps Services  `dev.azure.com/{organisation}/{project}/_git/{repository}/pullrequest/{id}`
- its older host style   `{organisation}.visualstudio.com[/DefaultCollection]/{project}/_git/…/pullrequest/{id}`
- Azure DevOps Server    `{host}[/{virtual directory}]/{collection}/{project}/_git/{repository}/pullrequest/{id}`
  (a repository that carries its project's name may leave the project out)
- GitHub and Enterprise  `{host}/{owner}/{repository}/pull/{number}`
- GitLab                 `{host}/{group}[/{subgroup}…]/{project}[/-]/merge_requests/{number}`

Two spellings of one pull request are equal (`PullRequestUrl.same_as`): upper and lower case, the two host styles,
encoded characters, the scheme, and whatever stands behind the number make no difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from episodes.frozen import frozen

HostKind = Literal["azure_devops", "github", "gitlab"]
HOST_KINDS: tuple[HostKind, ...] = ("azure_devops", "github", "gitlab")

WELL_KNOWN_HOSTS = ("dev.azure.com", "github.com", "gitlab.com")
"""Public hosts, with `*.visualstudio.com` and `*.ghe.com` beside them. Any other host is somebody's own server."""

MAX_URL_LENGTH = 2_000
"""Longer texts are not looked at: no host makes them, and a hostile answer may hold megabytes."""

_OLD_AZURE_SUFFIX = ".visualstudio.com"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_CANDIDATE = re.compile(r"https?://[^\s<>\"`|\\^{}\u3001\u3002\uff0c\uff08\uff09\u300b\u300d\u3011]+", re.IGNORECASE)
_ANGLED = re.compile(r"<(https?://[^<>\"\n]{1,2000})>", re.IGNORECASE)
_TELLING = re.compile(r"pullrequest/|/pull/|merge_requests/|%", re.IGNORECASE)
"""One of these stands in every address of a pull request; `%` because any letter may be encoded."""
_TRAILING = ".,;:!?'*_~"
_PAIRS = {")": "(", "]": "["}


@frozen
class PullRequestUrl:
    """One pull request, as its address names it.

    `owner` is what stands before the repository: organisation and project for Azure DevOps (a server's collection
    included), the owner for GitHub, groups for GitLab. `host` is lower-case and carries a port that is not the
    scheme's own. `text` is the address as it was found.
    """

    kind: HostKind
    host: str
    owner: tuple[str, ...]
    repository: str
    id: str
    text: str

    def same_as(self, other: PullRequestUrl) -> bool:
        """True when both name one pull request."""
        return self.key == other.key

    @property
    def key(self) -> tuple[str, str, tuple[str, ...], str, str]:
        """What two spellings of one pull request have in common."""
        owner = tuple(part.casefold() for part in self.owner)
        return self.kind, self.host, owner, self.repository.casefold(), self.id

    @property
    def well_known(self) -> bool:
        """True when the host is a public one, whose addresses always have its own kind's form."""
        return self.host in WELL_KNOWN_HOSTS or self.host.endswith((_OLD_AZURE_SUFFIX, ".ghe.com"))


def parse(text: str) -> PullRequestUrl | None:
    """Read one address; None when it is not a pull request's.

    An address with a password, a control character, a `.` or `..` segment or an encoded slash is refused, because
    what it points at depends on who reads it.
    """
    text = text.strip()
    if len(text) > MAX_URL_LENGTH:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not host or parts.password is not None:
        return None
    if port is not None and port != (443 if parts.scheme == "https" else 80):
        host = f"{host}:{port}"
    segments = _segments(parts.path)
    if segments is None:
        return None
    return _azure_devops(host, segments, text) or _gitlab(host, segments, text) or _github(host, segments, text)


def find_all(text: str) -> list[PullRequestUrl]:
    """Every pull request whose address stands in `text`, each once, in the order of appearance.

    Markdown around an address (`[…](…)`, `<…>`, `**…**`, back-quotes) and punctuation behind it do not belong to it.
    Inside `<…>` a space may stand unencoded, as people copy it from Azure DevOps.
    """
    if not may_show_one(text):
        return []
    found: list[tuple[int, PullRequestUrl]] = []
    for match in _ANGLED.finditer(text):
        url = parse(match.group(1))
        if url is not None:
            found.append((match.start(1), url))
    for match in _CANDIDATE.finditer(text):
        if len(match.group()) > MAX_URL_LENGTH:
            continue
        url = parse(_trimmed(match.group()))
        if url is not None:
            found.append((match.start(), url))
    unique: dict[object, PullRequestUrl] = {}
    for _, url in sorted(found, key=lambda item: item[0]):
        unique.setdefault(url.key, url)
    return list(unique.values())


def may_show_one(text: str) -> bool:
    """A quick look: False when no address of a pull request can stand in `text`.

    Most texts of a record hold none, and a record holds thousands of texts.
    """
    return "://" in text and _TELLING.search(text) is not None


def find_in_value(value: Any) -> Iterator[PullRequestUrl]:
    """Every pull request whose address stands in a text anywhere inside JSON data."""
    if not isinstance(value, str) and not may_show_one(json.dumps(value, default=str)):
        return
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if "://" in item:
                yield from find_all(item)
        elif isinstance(item, dict):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            pending.extend(reversed(item))


def _segments(path: str) -> list[str] | None:
    segments = []
    for raw in path.split("/"):
        segment = unquote(raw, errors="replace")
        if segment in (".", "..") or "/" in segment or any(ord(char) < 32 or char == "\x7f" for char in segment):
            return None
        if segment:
            segments.append(segment)
    return segments


def _azure_devops(host: str, segments: list[str], text: str) -> PullRequestUrl | None:
    folded = [segment.casefold() for segment in segments]
    if "_git" not in folded or host in ("github.com", "gitlab.com"):
        return None
    at = folded.index("_git")
    owner, rest = segments[:at], segments[at + 1 :]
    if len(rest) < 3 or rest[1].casefold() != "pullrequest" or not _NUMBER.fullmatch(rest[2]):
        return None
    repository = rest[0]
    if host.endswith(_OLD_AZURE_SUFFIX):
        organisation = host.removesuffix(_OLD_AZURE_SUFFIX)
        if owner and owner[0].casefold() == "defaultcollection":
            owner = owner[1:]
        host, owner = "dev.azure.com", [organisation, *owner]
    if not owner:
        return None
    if len(owner) == 1:
        owner = [*owner, repository]
    if host == "dev.azure.com" and len(owner) != 2:
        return None
    return PullRequestUrl("azure_devops", host, tuple(owner), repository, rest[2], text)


def _github(host: str, segments: list[str], text: str) -> PullRequestUrl | None:
    if host == "dev.azure.com" or host.endswith(_OLD_AZURE_SUFFIX) or host == "gitlab.com":
        return None
    if len(segments) < 4 or segments[2] != "pull" or not _NUMBER.fullmatch(segments[3]):
        return None
    return PullRequestUrl("github", host, (segments[0],), segments[1], segments[3], text)


def _gitlab(host: str, segments: list[str], text: str) -> PullRequestUrl | None:
    if host in ("dev.azure.com", "github.com") or "merge_requests" not in segments:
        return None
    at = segments.index("merge_requests")
    if at + 1 >= len(segments) or not _NUMBER.fullmatch(segments[at + 1]):
        return None
    project = segments[:at]
    if project and project[-1] == "-":
        project = project[:-1]
    if len(project) < 2:
        return None
    return PullRequestUrl("gitlab", host, tuple(project[:-1]), project[-1], segments[at + 1], text)


def _trimmed(candidate: str) -> str:
    """Take punctuation off the end; a closing bracket stays when its opening one stands in the address."""
    while candidate:
        last = candidate[-1]
        if last in _TRAILING or (last in _PAIRS and candidate.count(last) > candidate.count(_PAIRS[last])):
            candidate = candidate[:-1]
        else:
            break
    # `[text](address)[more](…)`: an address never goes on behind the bracket that closes the link.
    for closing, opening in _PAIRS.items():
        at = candidate.find(closing)
        if at != -1 and opening not in candidate[:at]:
            return _trimmed(candidate[:at])
    return candidate
