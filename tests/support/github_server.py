"""A small HTTP server with the part of GitHub's REST API that concerns pull requests and branches.

It keeps one repository in memory and answers as GitHub Enterprise does below `/api/v3`: paging by Link header, 404 for
what the token may not see, 422 for an unknown reference, `merged_at` instead of `merged` in listings. PyGithub works on
it (`tests/episodes/test_github_host.py`), which is what makes it worth testing our own client against.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "landing-zones/spokes"
TOKEN = "token-of-the-test"


@dataclass
class Pull:
    number: int
    branch: str
    title: str
    created_at: str
    user: str
    body: str = ""
    state: str = "open"
    merged_at: str | None = None
    head_repository: str = REPOSITORY
    files: tuple[dict[str, str], ...] = ()


@dataclass
class GitHub:
    """What the server keeps. `answers_ahead` are (status, headers) that the next requests get instead of an answer."""

    url: str = ""
    branches: dict[str, str] = field(default_factory=lambda: {"main": "1" * 40})
    pulls: dict[int, Pull] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    answers_ahead: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    next_page: str = ""
    """Given as the next page of every listing, instead of the right one."""
    requests: list[str] = field(default_factory=list)

    def open_pull(
        self,
        number: int,
        branch: str,
        *,
        title: str = "Change a spoke",
        created_at: str = "2026-03-01T10:00:00Z",
        user: str = "agent",
        body: str = "",
        files: tuple[dict[str, str], ...] = (),
    ) -> Pull:
        self.branches.setdefault(branch, f"{number:040d}")
        pull = self.pulls[number] = Pull(number, branch, title, created_at, user, body, files=files)
        return pull

    def writes(self) -> list[str]:
        """The requests that may have changed something."""
        return [line for line in self.requests if not line.startswith("GET ")]


@contextmanager
def github_server() -> Iterator[GitHub]:
    """Serve an empty repository on a free loopback port; `GitHub.url` is the API's base address."""
    state = GitHub()

    class Handler(_Handler):
        github = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/api/v3"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    github: GitHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output quiet."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.github.requests.append(f"{self.command} {self.path}")
        if self.github.answers_ahead:
            status, headers = self.github.answers_ahead.pop(0)
            return self._send(status, {"message": "asked for by the test"}, headers)
        if self.headers.get("Authorization") not in (f"Bearer {TOKEN}", f"token {TOKEN}"):
            return self._send(401, {"message": "Bad credentials"})
        path = urlsplit(self.path).path.removeprefix("/api/v3")
        prefix = f"/repos/{REPOSITORY}"
        if path != prefix and not path.startswith(prefix + "/"):
            return self._send(404, {"message": "Not Found"})
        return self._in_repository(path.removeprefix(prefix), json.loads(body) if body else {})

    def _in_repository(self, path: str, body: dict[str, Any]) -> None:
        if path == "":
            return self._send(200, self._repository(REPOSITORY))
        if path == "/pulls":
            return self._create(body) if self.command == "POST" else self._list()
        number = re.fullmatch(r"/pulls/(\d+)(/files)?", path)
        if number:
            pull = self.github.pulls.get(int(number[1]))
            if pull is None:
                return self._send(404, {"message": "Not Found"})
            return self._paged(list(pull.files)) if number[2] else self._one(pull, body)
        branch = re.fullmatch(r"/git/refs?/heads/(.+)", path)
        if branch:
            return self._branch(unquote(branch[1]))
        return self._send(404, {"message": "Not Found"})

    def _create(self, body: dict[str, Any]) -> None:
        if body.get("head") not in self.github.branches:
            return self._send(422, {"message": "Validation Failed"})
        number = max(self.github.pulls, default=0) + 1
        pull = self.github.open_pull(number, body["head"], title=body["title"], body=body.get("body") or "")
        return self._send(201, self._pull(pull, single=True))

    def _list(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        wanted = query.get("state", ["open"])[0]
        pulls = [pull for pull in self.github.pulls.values() if wanted in ("all", pull.state)]
        pulls.sort(key=lambda pull: pull.created_at, reverse=query.get("direction", ["desc"])[0] == "desc")
        self._paged([self._pull(pull, single=False) for pull in pulls])

    def _one(self, pull: Pull, body: dict[str, Any]) -> None:
        if self.command == "PATCH":
            if pull.merged_at and body.get("state"):
                return self._send(422, {"message": "Validation Failed"})
            pull.state = body.get("state", pull.state)
            pull.title = body.get("title", pull.title)
        return self._send(200, self._pull(pull, single=True))

    def _branch(self, branch: str) -> None:
        if self.command == "DELETE":
            if branch in self.github.protected:
                return self._send(422, {"message": "Cannot delete a protected branch"})
            if self.github.branches.pop(branch, None) is None:
                return self._send(422, {"message": "Reference does not exist"})
            return self._send(204, None)
        if branch not in self.github.branches:
            return self._send(404, {"message": "Not Found"})
        url = f"{self.github.url}/repos/{REPOSITORY}/git/refs/heads/{branch}"
        tip = {"sha": self.github.branches[branch], "type": "commit", "url": url}
        return self._send(200, {"ref": f"refs/heads/{branch}", "url": url, "object": tip})

    def _paged(self, entries: list[dict[str, Any]]) -> None:
        query = parse_qs(urlsplit(self.path).query)
        size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
        headers = {}
        if len(entries) > size * page:
            rest = "&".join(f"{key}={values[0]}" for key, values in query.items() if key != "page")
            path = urlsplit(self.path).path.removeprefix("/api/v3")
            headers["Link"] = f'<{self.github.url}{path}?{rest}&page={page + 1}>; rel="next"'
        if self.github.next_page:
            headers["Link"] = f'<{self.github.next_page}>; rel="next"'
        self._send(200, entries[size * (page - 1) : size * page], headers)

    def _pull(self, pull: Pull, *, single: bool) -> dict[str, Any]:
        base = f"{self.github.url}/repos/{REPOSITORY}"
        web = self.github.url.removesuffix("/api/v3")
        shown: dict[str, Any] = {
            "url": f"{base}/pulls/{pull.number}",
            "html_url": f"{web}/{REPOSITORY}/pull/{pull.number}",
            "number": pull.number,
            "state": pull.state,
            "title": pull.title,
            "body": pull.body,
            "created_at": pull.created_at,
            "merged_at": pull.merged_at,
            "user": {"login": pull.user, "url": f"{self.github.url}/users/{pull.user}"},
            "head": {
                "ref": pull.branch,
                "sha": self.github.branches.get(pull.branch, "0" * 40),
                "repo": self._repository(pull.head_repository) if pull.head_repository else None,
            },
            "base": {"ref": "main", "sha": self.github.branches["main"], "repo": self._repository(REPOSITORY)},
        }
        if single:
            shown["merged"] = pull.merged_at is not None
        return shown

    def _repository(self, full_name: str) -> dict[str, Any]:
        url = f"{self.github.url}/repos/{full_name}"
        return {"full_name": full_name, "name": full_name.partition("/")[2], "url": url, "default_branch": "main"}

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
