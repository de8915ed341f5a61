"""Environments of the peers: what they install is pinned, what they may reach is nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.peers import environment

WORKER = """
import os, socket
def answer(question):
    said = []
    for reach in (lambda: socket.create_connection(("127.0.0.1", 9)), lambda: socket.getaddrinfo("localhost", 80)):
        try:
            reach()
        except OSError as error:
            said.append(str(error))
    return {"question": question, "said": said, "variables": sorted(os.environ)}
"""


@pytest.mark.parametrize("peer", environment.PEERS)
def test_every_package_of_a_peer_is_pinned_and_hashed(peer: str) -> None:
    text = (environment.REQUIREMENTS / f"{peer}.txt").read_text(encoding="utf-8")
    packages = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert packages
    assert all(re.match(r"[a-z0-9.\[\]_-]+==\S+.* \\$", line) for line in packages)
    assert text.count("--hash=sha256:") >= len(packages)
    assert "http" not in re.sub(r"http[a-z0-9-]*==|# +(via )?.*", "", text)


def test_a_peer_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(environment.PeerEnvironmentError, match="There is no peer 'ragas'; there are agentevals, "):
        environment.python_of("ragas")


def test_an_environment_that_can_not_be_made_leaves_no_finished_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.txt").write_text("no-such-package-anywhere==0 --hash=sha256:" + "0" * 64)
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path)
    monkeypatch.setattr(environment, "PEERS", ("broken",))
    monkeypatch.setenv("EVALS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    said: list[str] = []
    with pytest.raises(
        environment.PeerEnvironmentError, match="the environment of broken could not be had:\\n"
    ) as raised:
        environment.python_of("broken", said.append)
    assert "\nWhat to do: " in str(raised.value)
    assert str(raised.value).endswith("Everything else works without a comparison with broken.")
    assert [line.split(" into ")[0] for line in said] == ["broken: installing 1 packages"]
    assert list(tmp_path.glob("home/peers/*/ready")) == []


def test_a_worker_can_not_connect_and_gets_no_variable_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "not for peers")
    monkeypatch.setattr(environment, "python_of", lambda *_: Path(sys.executable))
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    answered = environment.ask("agentevals", worker, {"number": 1})
    assert answered["question"] == {"number": 1}
    assert answered["said"] == ["this process may not connect to anything"] * 2
    assert "AZURE_OPENAI_API_KEY" not in answered["variables"]
    assert "DEEPEVAL_TELEMETRY_OPT_OUT" in answered["variables"]


def test_a_worker_that_fails_shows_the_end_of_what_it_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "python_of", lambda *_: Path(sys.executable))
    worker = tmp_path / "worker.py"
    worker.write_text("def answer(question):\n    raise ValueError('no idea')\n")
    with pytest.raises(environment.PeerFailed, match=r"worker.py with deepeval ended with 1:[\s\S]*no idea"):
        environment.ask("deepeval", worker, None)


def test_the_command_ends_with_an_error_and_one_sentence_for_an_unknown_peer(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.peers.environment", "ragas"],
        cwd=Path(environment.__file__).resolve().parents[2],
        env={"EVALS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("There is no peer 'ragas'")
    assert json.dumps(done.stdout) == '""'
