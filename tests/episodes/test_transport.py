"""Both ways to a pull-request host do the same thing, and only the one that needs `requests` loads it."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from episodes.hosts.transport import (
    LoopbackTransport,
    NoAnswerError,
    Request,
    Response,
    SessionTransport,
    Transport,
    is_loopback,
    transport_for,
)


class Echo(BaseHTTPRequestHandler):
    """Answers with what arrived; `/moved` redirects, `/bye` closes the connection then, `/endless` never ends."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/endless":
            self._without_end()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        seen = {"method": self.command, "path": self.path, "token": self.headers.get("Authorization"), "body": body}
        data = json.dumps(seen).encode()
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Port", str(self.client_address[1]))
        if self.path == "/moved":
            self.send_header("Location", "/elsewhere")
        if self.path == "/bye":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    do_PATCH = do_GET

    def _without_end(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"x" * 100_000)

    def log_message(self, format: str, *args: Any) -> None:
        """The test's output stays clean."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=["loopback", "session"])
def transport(request: pytest.FixtureRequest, url: str) -> Iterator[Transport]:
    made: Transport = LoopbackTransport(url) if request.param == "loopback" else SessionTransport()
    yield made
    made.close()


def send(transport: Transport, method: str, url: str, **more: Any) -> Response:
    options: dict[str, Any] = {"query": {}, "headers": {}, "body": None, "connect_s": 5.0, "read_s": 5.0}
    return transport.send(Request(method, url, **(options | more)))


def test_method_query_headers_and_body_arrive(transport: Transport, url: str) -> None:
    answer = send(
        transport,
        "PATCH",
        f"{url}/a%2Fb?x=1",
        query={"api-version": "7.1", "$top": "1 & 2"},
        headers={"Authorization": "Basic abc"},
        body=b'{"status": "abandoned"}',
    )
    assert answer.status == 200
    assert json.loads(answer.content) == {
        "method": "PATCH",
        "path": "/a%2Fb?x=1&api-version=7.1&%24top=1+%26+2",
        "token": "Basic abc",
        "body": '{"status": "abandoned"}',
    }


def test_the_connection_is_kept_and_opened_again_after_the_server_closed_it(transport: Transport, url: str) -> None:
    ports = [send(transport, "GET", url + path).headers["x-port"] for path in ("/one", "/bye", "/three")]
    assert ports[0] == ports[1] != ports[2]


def test_a_redirect_is_not_followed(transport: Transport, url: str) -> None:
    answer = send(transport, "GET", f"{url}/moved")
    assert (answer.status, answer.headers["location"]) == (302, "/elsewhere")


def test_a_file_with_passwords_does_not_replace_the_token(
    transport: Transport, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    answer = send(transport, "GET", url, headers={"Authorization": "Basic abc"})
    assert json.loads(answer.content)["token"] == "Basic abc"


def test_no_answer_is_told_without_the_address(transport: Transport) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if isinstance(transport, LoopbackTransport):
        transport = LoopbackTransport(f"http://127.0.0.1:{port}")
    with pytest.raises(NoAnswerError) as caught:
        send(transport, "GET", f"http://127.0.0.1:{port}/", query={"secret": "value"})
    assert str(caught.value) in ("ConnectionRefusedError", "ConnectionError")
    assert caught.value.__cause__ is None


def test_an_answer_without_end_is_read_to_the_limit_and_no_further(
    transport: Transport, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("episodes.hosts.transport.MAX_ANSWER_BYTES", 1_000_000)
    with pytest.raises(NoAnswerError, match="AnswerTooLarge"):
        send(transport, "GET", f"{url}/endless")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:8080/org", True),
        ("http://127.9.9.9/", True),
        ("http://localhost:1/", True),
        ("http://[::1]:8080/", True),
        ("https://127.0.0.1/", False),
        ("http://10.0.0.1/", False),
        ("http://localhost.example.test/", False),
        ("https://dev.azure.com/contoso", False),
    ],
)
def test_only_plain_http_to_this_machine_is_loopback(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected
    assert isinstance(transport_for(address), LoopbackTransport) is expected


def test_a_local_host_is_asked_without_loading_requests() -> None:
    code = (
        "import sys\n"
        "from episodes.hosts.azure_devops import AzureDevOpsClient\n"
        "AzureDevOpsClient('http://127.0.0.1:9/org', 'token').close()\n"
        "print('requests' in sys.modules)\n"
        "AzureDevOpsClient('https://dev.azure.com/org', 'token').close()\n"
        "print('requests' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
