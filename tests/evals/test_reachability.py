"""An address is reachable when anything answers in HTTP."""

from __future__ import annotations

import socket
import threading

import pytest

from evals.reachability import Answer, ask_all


def test_what_answers_is_reachable_even_if_it_refuses(answering: str) -> None:
    answers = ask_all({"EVALS_PORTAL_URL": answering, "AZURE_OPENAI_ENDPOINT": f"{answering}/azure"})
    assert answers == [Answer("EVALS_PORTAL_URL", "portal"), Answer("AZURE_OPENAI_ENDPOINT", "model")]


def test_what_is_not_configured_is_not_asked() -> None:
    assert ask_all({}) == []


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://127.0.0.1:9", "Connection refused"),
        ("http://user:password", "it is no valid address"),
    ],
)
def test_what_does_not_answer_is_named_with_the_reason(address: str, problem: str) -> None:
    (answer,) = ask_all({"EVALS_MODEL_BASE_URL": address})
    assert answer.problem == problem
    assert answer.sentence == (
        f"The model of EVALS_MODEL_BASE_URL is not reachable ({problem}): check the address, the network and the "
        "proxy, or unset EVALS_MODEL_BASE_URL to use the local one."
    )


def test_what_does_not_speak_http_is_not_reachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"220 mail.example ready\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        (answer,) = ask_all({"EVALS_PORTAL_URL": f"http://127.0.0.1:{server.getsockname()[1]}"})
        thread.join()
    assert answer.problem == "what answers does not speak HTTP: BadStatusLine"
