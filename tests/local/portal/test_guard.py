"""Who may ask what: tokens, Host and Origin, over real HTTP."""

from __future__ import annotations

import socket
from base64 import b64encode
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.support.portal_process import PortalProcess

PAGE = "/landing-zones/platform/_git/spokes/pullrequest/1"
REST = "/landing-zones/_apis/connectionData"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def mcp(portal: PortalProcess, token: str | None, **headers: str) -> requests.Response:
    sent = {"Accept": "application/json, text/event-stream", **headers}
    if token is not None:
        sent["Authorization"] = token
    return requests.post(portal.mcp_url, json=INITIALIZE, headers=sent, timeout=30)


def rest(portal: PortalProcess, token: str | None, **headers: str) -> requests.Response:
    sent = dict(headers) if token is None else {"Authorization": token, **headers}
    return requests.get(portal.web_url + REST, headers=sent, timeout=30)


def basic(password: str) -> str:
    return "Basic " + b64encode(f":{password}".encode()).decode()


def test_the_portal_listens_on_loopback_only(portal: PortalProcess) -> None:
    address = urlsplit(portal.web_url)
    assert address.hostname == "127.0.0.1"
    assert address.port is not None
    with socket.socket() as elsewhere:
        # Every address of 127/8 is this machine; whoever listens on all interfaces answers here too.
        assert elsewhere.connect_ex(("127.0.0.2", address.port)) != 0


def test_the_right_tokens_are_let_in(portal: PortalProcess) -> None:
    assert mcp(portal, f"Bearer {portal.portal_token}").status_code == 200
    assert mcp(portal, f"bearer {portal.portal_token}").status_code == 200
    assert rest(portal, f"Bearer {portal.service_token}").status_code == 200
    assert rest(portal, basic(portal.service_token)).status_code == 200


def test_each_token_opens_one_door_only(portal: PortalProcess) -> None:
    assert mcp(portal, f"Bearer {portal.service_token}").status_code == 401
    assert mcp(portal, basic(portal.portal_token)).status_code == 401
    assert rest(portal, f"Bearer {portal.portal_token}").status_code == 401
    assert rest(portal, basic(portal.portal_token)).status_code == 401


@pytest.mark.parametrize(
    "token", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic", "Basic !!!", "Basic Og==", "Digest x"]
)
def test_a_wrong_or_missing_token_is_refused(portal: PortalProcess, token: str | None) -> None:
    for answer in (mcp(portal, token), rest(portal, token)):
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["WWW-Authenticate"]
        assert portal.portal_token not in answer.text
        assert portal.service_token not in answer.text


def test_the_beginning_of_a_token_is_not_enough(portal: PortalProcess) -> None:
    assert mcp(portal, f"Bearer {portal.portal_token[:-1]}").status_code == 401
    assert mcp(portal, f"Bearer {portal.portal_token}x").status_code == 401


def test_the_two_tokens_differ_and_are_long(portal: PortalProcess) -> None:
    assert portal.portal_token != portal.service_token
    assert min(len(portal.portal_token), len(portal.service_token)) >= 40


@pytest.mark.parametrize(
    "host", ["example.com", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1.example.com:{port}"]
)
def test_another_host_is_refused_even_with_the_token(portal: PortalProcess, host: str) -> None:
    named = host.format(port=urlsplit(portal.web_url).port)
    assert mcp(portal, f"Bearer {portal.portal_token}", Host=named).status_code == 421
    assert rest(portal, f"Bearer {portal.service_token}", Host=named).status_code == 421
    assert requests.get(portal.web_url + PAGE, headers={"Host": named}, timeout=30).status_code == 421


def test_localhost_is_the_portal_as_well(portal: PortalProcess) -> None:
    named = f"localhost:{urlsplit(portal.web_url).port}"
    assert mcp(portal, f"Bearer {portal.portal_token}", Host=named).status_code == 200


@pytest.mark.parametrize("origin", ["https://example.com", "null", "http://127.0.0.1:1", "http://localhost", ""])
def test_another_origin_is_refused_even_with_the_token(portal: PortalProcess, origin: str) -> None:
    assert mcp(portal, f"Bearer {portal.portal_token}", Origin=origin).status_code == 403
    assert rest(portal, f"Bearer {portal.service_token}", Origin=origin).status_code == 403


def test_the_portals_own_origin_is_accepted(portal: PortalProcess) -> None:
    assert mcp(portal, f"Bearer {portal.portal_token}", Origin=portal.web_url).status_code == 200


def test_the_page_of_a_pull_request_needs_no_token_and_nothing_else_does_without(portal: PortalProcess) -> None:
    assert requests.get(portal.web_url + PAGE, timeout=30).status_code in (200, 404)
    for path in (
        "/",
        "/mcp",
        "/mcp/",
        "/landing-zones",
        "/landing-zones/platform/_git/spokes",
        "/landing-zones/platform/_git/spokes/pullrequests",
        "/landing-zones/platform/_git/other/pullrequest/1",
        f"{PAGE}/files",
        f"{PAGE}/../../../../_apis/git/repositories",
        f"{PAGE}%2f..%2f..",
        "/landing-zones/platform/_git/spokes/pullrequest/0",
        "/landing-zones/platform/_apis/git/repositories/spokes/pullrequests/1",
    ):
        # Sent as it stands: requests would tidy the path up before it sends it.
        connection = HTTPConnection("127.0.0.1", urlsplit(portal.web_url).port or 0, timeout=30)
        connection.request("GET", path)
        assert connection.getresponse().status == 401, path
        connection.close()


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE", "OPTIONS"])
def test_the_page_can_only_be_read(portal: PortalProcess, method: str) -> None:
    for headers in ({}, {"Authorization": f"Bearer {portal.service_token}"}):
        answer = requests.request(method, portal.web_url + PAGE, headers=headers, timeout=30)
        assert answer.status_code == 405


def test_too_large_a_request_is_refused(portal: PortalProcess) -> None:
    content: Any = b"[" + b" " * (5 * 1024 * 1024) + b"]"
    url = f"{portal.api_url}/platform/_apis/git/repositories/spokes/refs?api-version=7.1"
    headers = {"Authorization": f"Bearer {portal.service_token}"}
    assert requests.post(url, data=content, headers=headers, timeout=60).status_code == 413
    headers = {"Authorization": f"Bearer {portal.portal_token}", "Accept": "application/json, text/event-stream"}
    assert requests.post(portal.mcp_url, data=content, headers=headers, timeout=60).status_code == 413
