"""The gateway does to a request what it says, against a real HTTP server behind it."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from chaos.gateway import TOKEN, Fault, Gateway, Service, Upstream

CREATION = {"method": "tools/call", "params": {"name": "create_spoke_pull_request"}}


class _Behind(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    seen: list[tuple[str, str, bytes]]

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output quiet."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers["Host"], self.headers["Authorization"], body))
        content = b"0123456789" * 10
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def _behind() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    seen: list[tuple[str, str, bytes]] = []

    class Handler(_Behind):
        pass

    Handler.seen = seen
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _service(address: str, *faults: Fault, share: float = 0.0) -> Service:
    return Service("portal", lambda: Upstream(address, "Bearer real"), faults or (Fault.BROKEN,), share)


def _post(service: Service, body: Any, token: str = TOKEN) -> requests.Response:
    return requests.post(f"{service.url}/mcp", json=body, headers={"Authorization": f"Bearer {token}"}, timeout=30)


def test_a_request_passes_with_the_real_host_and_credentials() -> None:
    with _behind() as (address, seen):
        service = _service(address)
        with Gateway([service], 1):
            assert _post(service, {"a": 1}).content == b"0123456789" * 10
    assert seen == [(address.removeprefix("http://"), "Bearer real", b'{"a": 1}')]


def test_a_request_without_the_token_does_not_pass() -> None:
    with _behind() as (address, seen):
        service = _service(address)
        with Gateway([service], 1):
            assert _post(service, {}, token="another").status_code == 401
            assert requests.post(f"{service.url}/x", json={}, auth=("", TOKEN), timeout=30).status_code == 200
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("fault", "passes"),
    [(Fault.REFUSED, 0), (Fault.LOST, 1), (Fault.CUT, 1), (Fault.BROKEN, 0), (Fault.BUSY, 0), (Fault.GARBLED, 0)],
)
def test_each_fault_reaches_the_service_or_does_not(fault: Fault, passes: int) -> None:
    with _behind() as (address, seen):
        service = _service(address, fault, share=0.5)
        with Gateway([service], 1):
            while service.met[fault] == 0:
                seen.clear()
                connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=30)
                try:
                    connection.request("POST", "/mcp", b"{}", {"Authorization": f"Bearer {TOKEN}"})
                    answer = connection.getresponse()
                    told = (answer.status, answer.read())
                except (http.client.HTTPException, OSError) as error:
                    told = (0, repr(error).encode())
                connection.close()
    assert len(seen) == passes
    expected = {Fault.BROKEN: 500, Fault.BUSY: 503, Fault.GARBLED: 200}.get(fault, 0)
    assert told[0] == expected


def test_a_creating_call_is_noticed_and_breaks_more_often() -> None:
    with _behind() as (address, _):
        service = _service(address, Fault.BROKEN, share=0.1)
        with Gateway([service], 1) as gateway:
            for _ in range(40):
                _post(service, {})
            assert not gateway.created.is_set()
            plain = service.met[Fault.NONE]
            for _ in range(40):
                try:
                    _post(service, CREATION)
                except requests.ConnectionError:
                    continue
            assert gateway.created.is_set()
    assert service.met[Fault.NONE] - plain < plain
    assert service.met[Fault.LOST] > 0


def test_a_service_that_is_down_closes_the_connection() -> None:
    service = Service("portal", lambda: None, (Fault.BROKEN,))
    with Gateway([service], 1), pytest.raises(requests.ConnectionError):
        _post(service, {})
