"""A small suite with a provider that answers by itself, and addresses that answer without being anything."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT, SETTINGS

_PROVIDER = """\
import os, time

def call_api(prompt, options, context):
    if prompt == "break":
        return {"error": "the model is gone", "metadata": {"evalId": context["evaluationId"]}}
    if prompt == "wait":
        open(os.environ["STARTED"], "a").write("started\\n")
        time.sleep(120)
    usage = {"agent": {"promptTokens": 1000, "completionTokens": 5, "requests": 2, "cost": 0.5}}
    models = [os.environ.get(f"EVALS_{whose}_MODEL") for whose in ("AGENT", "USER", "JUDGE")]
    metadata = {"evalId": context["evaluationId"], "usage": usage, "models": models}
    if prompt == "open":
        metadata["pullRequests"] = [{"url": "https://host.example/pr/7", "id": "7", "repository": "r"}]
    return {"output": prompt, "metadata": metadata}
"""

_CHECK = """\
def get_assert(output, context):
    return {"pass": False, "score": 0.0, "reason": "NOT EVALUATED: no telemetry"}
"""

_CONFIG = """\
prompts: ["{{request}}"]
providers: [{id: file://provider.py, label: demo}]
tests:
  - path: file://LOADER:tests
    config: {file: CASES, provider: demo}
"""

_CASES = """\
- description: T01 good
  metadata: {id: T01, group: good, priority: smoke}
  vars: {request: hello}
  assert: [{type: contains, value: hello}]
- description: T02 bad
  metadata: {id: T02, group: bad, priority: full}
  vars: {request: nothing}
  assert: [{type: contains, value: hello}]
- description: T03 breaks
  metadata: {id: T03, group: bad, priority: full}
  vars: {request: break}
  assert: [{type: contains, value: hello}]
- description: T04 cannot be judged
  metadata: {id: T04, group: unclear, priority: full}
  vars: {request: hello}
  assert: [{type: python, value: file://check.py}]
- description: T05 opens a pull request that nobody abandons
  metadata: {id: T05, group: opening, priority: full}
  vars: {request: open}
  assert: [{type: contains, value: open}]
- description: T06 takes long
  metadata: {id: T06, group: waiting, priority: full}
  vars: {request: wait}
  assert: [{type: contains, value: wait}]
"""


class _Answering(http.server.BaseHTTPRequestHandler):
    """Answers 401 to everything: that is reachable."""

    def do_HEAD(self) -> None:
        self.send_response(401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="session")
def answering() -> Iterator[str]:
    """The address of a server that answers."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass(frozen=True)
class Demo:
    """A folder with `suites/demo`, and the environment to run it in: every endpoint configured, nothing local."""

    root: Path
    environment: dict[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environment["EVALS_HOME"])

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "evals"]

    def evals(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [*self.command, *words],
            env={**self.environment, **more},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.evals("run", "demo", "--root", str(self.root), *words, **more)


@pytest.fixture
def demo(tmp_path: Path, answering: str) -> Demo:
    return make_demo(tmp_path, answering)


def make_demo(folder: Path, answering: str) -> Demo:
    root = folder / "root"
    suite = root / "suites" / "demo"
    suite.mkdir(parents=True)
    (suite / "provider.py").write_text(_PROVIDER, encoding="utf-8")
    (suite / "check.py").write_text(_CHECK, encoding="utf-8")
    (suite / "cases.yaml").write_text(_CASES, encoding="utf-8")
    config = _CONFIG.replace("LOADER", str(CHECKOUT / "formats" / "load_suite.py"))
    config = config.replace("CASES", str(suite / "cases.yaml"))
    (suite / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    ours = {setting.name for setting in SETTINGS}
    environment = {name: text for name, text in os.environ.items() if name not in ours}
    environment |= {
        "EVALS_HOME": str(folder / "home"),
        "EVALS_ENV_FILE": "off",
        "EVALS_PORTAL_URL": answering,
        "EVALS_PORTAL_TOKEN": "portal-secret",
        "EVALS_MODEL_BASE_URL": answering,
        "EVALS_PULL_REQUEST_API": answering,
        "EVALS_PULL_REQUEST_TOKEN": "host-secret",
        "EVALS_REPOSITORIES": "r",
        "STARTED": str(folder / "started"),
        # The demo's provider waits for no model: more than one process of it would only be started and ended.
        "PROMPTFOO_PYTHON_WORKERS": "1",
    }
    return Demo(root, environment)
