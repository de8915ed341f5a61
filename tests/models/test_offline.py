"""Offline mode: this machine can be reached, and no other. Each case is a process, because the guard stays for good."""

from __future__ import annotations

import subprocess
import sys

import pytest

from models.offline import is_local

GUARD = "from models.offline import refuse_outside_connections; refuse_outside_connections()\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", GUARD + program], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)",
        "import socket; socket.getaddrinfo('example.test', 443)",
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53))",
        "import socket; s = socket.socket(socket.AF_INET6); s.connect(('2001:db8::1', 80))",
        "import asyncio; asyncio.run(asyncio.open_connection('192.0.2.1', 80))",
        "import requests; requests.get('http://192.0.2.1/')",
        "import httpx2; httpx2.get('http://192.0.2.1/')",
    ],
)
def test_a_connection_to_another_machine_is_refused_before_it_is_made(attempt: str) -> None:
    assert "offline: the connection to" in run(attempt)


def test_this_machine_stays_reachable() -> None:
    program = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "socket.create_connection(('localhost', server.getsockname()[1])).close()\n"
        "print('reached')\n"
    )
    assert run(program) == "reached\n"


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("portal.localhost", True),
        ("", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("localhost.example.test", False),
        ("127.0.0.1.example.test", False),
    ],
)
def test_only_loopback_counts_as_this_machine(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_a_provider_refuses_the_outside_when_the_environment_says_so() -> None:
    program = (
        "import os; os.environ['EVALS_OFFLINE'] = 'yes'\n"
        "from providers import worker; worker.prepare()\n"
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "offline: the connection to 192.0.2.1 was refused" in done.stderr
