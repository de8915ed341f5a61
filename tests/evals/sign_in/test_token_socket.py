"""Who gets a token from the run that holds it, and who does not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from endpoints.private_sockets import ask, private_folder
from endpoints.sign_in import Purpose
from evals.sign_in.token_socket import TokenSocket
from evals.sign_in.tokens import SignInError

AS_NOBODY = """
import os, socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.settimeout(20)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    connection.connect(sys.argv[1])
    connection.sendall(b'{"token": "portal"}\\n')
    print("answer:", connection.recv(1000).decode())
except OSError as error:
    print(type(error).__name__)
"""


class Held:
    """Tokens that are simply there."""

    who = lasts = "the test"

    def fresh(self, purpose: Purpose) -> str | None:
        if purpose == "model":
            raise SignInError("the model's sign-in has ended")
        return "token-of-the-portal"

    def close(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize(
    "question", [b"", b"\n", b"{\n", b"[]\n", b'{"token": 1}\n', b'{"token": "admin"}\n', b"\xff\n", b"x" * 5000]
)
def test_a_broken_question_gets_no_token_and_the_next_one_is_answered(question: bytes) -> None:
    with TokenSocket(Held()) as tokens:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as broken:
            broken.settimeout(20)
            broken.connect(str(tokens.path))
            broken.sendall(question)
            broken.shutdown(socket.SHUT_WR)
            assert broken.recv(1000) in (b"", b'{"token": null}\n')
        assert ask(tokens.path, {"token": "portal"}) == {"token": "token-of-the-portal"}
        assert ask(tokens.path, {"token": "model"}) == {"problem": "the model's sign-in has ended"}
    assert not tokens.path.exists()
    assert ask(tokens.path, {"token": "portal"}) is None


def test_an_asker_who_says_nothing_holds_nobody_up() -> None:
    with TokenSocket(Held()) as tokens, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(tokens.path))
        assert ask(tokens.path, {"token": "portal"}) == {"token": "token-of-the-portal"}


def test_the_socket_of_a_killed_run_is_removed_and_that_of_a_living_one_stays() -> None:
    dead = private_folder() / f"sign-in-{os.getpid()}-{threading.get_ident()}.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as killed:
        killed.bind(str(dead))
    with TokenSocket(Held()) as living, TokenSocket(Held()):
        assert not dead.exists()
        assert ask(living.path, {"token": "portal"}) is not None


def test_only_this_user_can_reach_the_socket() -> None:
    with TokenSocket(Held()) as tokens:
        assert tokens.path.stat().st_mode & 0o777 == 0o600
        assert tokens.path.parent.stat().st_mode & 0o777 == 0o700
        assert tokens.path.parent.stat().st_uid == os.getuid()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("opened", [False, True])
def test_another_user_gets_nothing_even_when_the_folder_was_opened_since(
    opened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        with TokenSocket(Held()) as tokens:
            if opened:
                tokens.path.parent.chmod(0o755)
                tokens.path.chmod(0o666)
            command = [sys.executable, "-c", AS_NOBODY, str(tokens.path)]
            asked = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
            assert ask(tokens.path, {"token": "portal"}) == {"token": "token-of-the-portal"}
    nothing = ("answer:", "BrokenPipeError", "ConnectionResetError") if opened else ("PermissionError",)
    assert asked.stdout.strip() in nothing
