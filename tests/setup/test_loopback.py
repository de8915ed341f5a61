"""Every server that promptfoo opens is reachable from this machine only."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from evals.installation import LOOPBACK, node

_LISTEN = """\
import http from "node:http";
const server = http.createServer();
const told = () => { console.log(JSON.stringify(server.address())); server.close(); };
"""


@pytest.mark.parametrize(
    "call",
    [
        "server.listen(0, told)",
        "server.listen(told)",
        "server.listen(null, told)",
        "server.listen('0', told)",
        "server.listen(0, '0.0.0.0', told)",
        "server.listen(0, '::', 5, told)",
        "server.listen({ port: 0 }, told)",
        "server.listen({ port: 0, host: '0.0.0.0' }, told)",
        "server.listen({ port: 0, host: '::', backlog: 3 }); server.on('listening', told)",
    ],
)
def test_a_server_listens_on_loopback_however_it_is_started(call: str) -> None:
    assert json.loads(_output(call))["address"] == "127.0.0.1"


@pytest.mark.parametrize("form", ["server.listen(PATH, told)", "server.listen({ path: PATH }, told)"])
def test_a_server_on_a_unix_socket_is_left_alone(tmp_path: Path, form: str) -> None:
    socket = str(tmp_path / "s")
    assert json.loads(_output(form.replace("PATH", repr(socket)))) == socket


def _output(call: str) -> str:
    return subprocess.run(
        [node(), f"--import={LOOPBACK.as_uri()}", "--input-type=module", "-e", _LISTEN + call],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
