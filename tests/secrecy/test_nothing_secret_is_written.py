"""Secrets are planted in every input of a run, and then looked for in everything that the run wrote or printed."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chaos.stage import Stage
from endpoints import local_stack
from tests.support.promptfoo import CHECKOUT, Run, run_promptfoo

CONNECTION_STRING = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + "Zm9vYmFyYmF6" * 7 + "=="
ACCOUNT_KEY = "Zm9vYmFyYmF6" * 7
MODEL_KEY = "planted-model-key-4711-4712"
HEADER_TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJwbGFudGVkIn0.cGxhbnRlZHBsYW50ZWQ"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def stage(home: Path) -> Iterator[Stage]:
    stage = Stage(home)
    stage.start()
    yield stage
    stage.stop()


@pytest.fixture(scope="module")
def stack(stage: Stage) -> local_stack.Stack:
    running = local_stack.running(stage.home)
    assert running is not None
    return running


def _variables(home: Path, stack: local_stack.Stack) -> dict[str, str]:
    return {
        "EVALS_HOME": str(home),
        "EVALS_PORTAL_URL": stack.portal_url,
        "EVALS_PORTAL_TOKEN": stack.portal_token,
        "EVALS_MODEL_BASE_URL": stack.model_url,
        "EVALS_MODEL_API_KEY": stack.model_key,
        "EVALS_PULL_REQUEST_API": stack.pull_request_api,
        "EVALS_PULL_REQUEST_TOKEN": stack.pull_request_token,
        "EVALS_REPOSITORIES": ",".join(stack.repositories),
        "LOG_LEVEL": "debug",
    }


def _config(request: str) -> dict[str, Any]:
    return {
        "prompts": ["{{request}}"],
        "providers": [
            {"id": f"file://{CHECKOUT}/providers/simulated_user.py", "config": {"agent": "spoke", "cassette": "all"}},
        ],
        "tests": [
            {"description": "copy", "vars": {"request": request}, "assert": [{"type": "icontains", "value": "e"}]}
        ],
        "extensions": [f"file://{CHECKOUT}/hooks/cleanup.py:{hook}" for hook in ("beforeAll", "afterEach", "afterAll")],
    }


def _found(secrets: dict[str, str], folder: Path, run: Run, *, but: tuple[str, ...] = ()) -> list[str]:
    """Places in which a secret stands: files below `folder`, and what was printed."""
    forms = {
        (name, form.encode())
        for name, secret in secrets.items()
        for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("=")[:-1], json.dumps(secret)[1:-1])
    }
    texts = {"printed": run.printed.encode()}
    for path in folder.rglob("*"):
        if path.is_file() and not any(part in but for part in path.relative_to(folder).parts):
            texts[str(path.relative_to(folder))] = path.read_bytes()
    assert any(name.endswith("promptfoo.db") for name in texts)
    assert any(name.endswith(".log") for name in texts)
    return sorted({f"{name} in {place}" for place, text in texts.items() for name, form in forms if form in text})


def test_no_credential_of_a_run_is_written_or_printed(home: Path, stack: local_stack.Stack) -> None:
    run = run_promptfoo(
        home / "run",
        _config("Please copy spoke-webshop-dev to spoke-webshop-test. The address space is 10.64.26.0/24."),
        _variables(home, stack),
        ["--verbose"],
    )
    (row,) = run.rows
    assert row["metadata"]["pullRequests"], row
    assert row["namedScores"]["cleanup_ok"] == 1
    secrets = {
        "portal token": stack.portal_token,
        "model key": stack.model_key,
        "pull-request token": stack.pull_request_token,
    }
    assert list((home / "run" / "cassettes").glob("*.jsonl")), "recordings are searched too"
    assert _found(secrets, home, run) == []


def test_a_credential_in_a_tools_answer_is_masked_in_the_record(
    home: Path, stage: Stage, stack: local_stack.Stack
) -> None:
    stage.merge_change("spokes/spoke-webshop-acc.json", lambda spoke: spoke["tags"].update(storage=CONNECTION_STRING))
    run = run_promptfoo(
        home / "second",
        _config("Please copy spoke-webshop-acc to spoke-webshop-test. The address space is 10.64.26.0/24."),
        _variables(home, stack),
        ["--verbose"],
    )
    (row,) = run.rows
    assert "AccountKey=[redacted]" in json.dumps(row["metadata"]["toolCalls"])
    assert list((home / "second" / "cassettes").glob("*.jsonl")), "recordings are searched too"
    assert _found({"account key": ACCOUNT_KEY}, home, run, but=("portal",)) == []


def test_a_credential_in_an_error_of_the_model_service_is_masked(tmp_path: Path, stack: local_stack.Stack) -> None:
    with _echoing_service() as url:
        run = run_promptfoo(
            tmp_path / "run",
            _config("Please copy spoke-webshop-dev."),
            {
                **_variables(tmp_path, stack),
                "EVALS_MODEL_BASE_URL": url,
                "EVALS_MODEL_API_KEY": MODEL_KEY,
            },
            ["--verbose"],
        )
    (row,) = run.rows
    assert "401" in row["error"]
    assert _found({"model key": MODEL_KEY, "header": HEADER_TOKEN}, tmp_path, run) == []


@contextmanager
def _echoing_service() -> Iterator[str]:
    """A model service whose error repeats the caller's key and another credential, as some do."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test's output quiet."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            message = f"Incorrect API key: {self.headers['Authorization']}; ours is Bearer {HEADER_TOKEN}"
            content = json.dumps({"error": {"message": message, "code": "invalid_api_key"}}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
