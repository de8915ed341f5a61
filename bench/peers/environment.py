"""Environments of the peers: made when somebody first compares with them, and kept in the data folder.

The peers pin different versions of the same libraries, so each has its own. A changed requirements file makes a new
one. `python -m bench.peers.environment` makes all of them, or those that are named.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from endpoints import settings
from evals import locked_packages
from evals.command_line import CommandError
from evals.locked_packages import Packages, install, make_environment

REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
PEERS = ("agentevals", "azure-ai-evaluation", "deepeval", "google-adk", "pydantic-evals", "tau2")
"""Each has a `<name>.in` and its compiled `<name>.txt` in `requirements/`."""

QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "PYTHON_DOTENV_DISABLED": "1",
    "ERROR_REPORTING": "0",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LANGFUSE_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LOGFIRE_SEND_TO_LOGFIRE": "false",
    "OTEL_SDK_DISABLED": "true",
    "DO_NOT_TRACK": "1",
}
"""No peer sends anything, nor reads a .env of the folder that it is started in."""


_START = Path(__file__).resolve().parent / "start.py"


class PeerEnvironmentError(RuntimeError):
    """An environment can not be made. The text says which, why, and what to do."""


class PeerFailed(RuntimeError):
    """A peer's process ended with an error; the text is the end of what it printed."""


def ask(peer: str, worker: Path, question: Any, say: Callable[[str], None] = print) -> Any:
    """What `answer(question)` of the file `worker` returns, in a process with the peer's Python.

    Question and answer are plain JSON. The process runs in an empty folder of its own, with no variable of this one
    but `environment`'s, and can not connect to anything.

    Raises:
        PeerEnvironmentError: the environment can not be made.
        PeerFailed: the worker raised.
    """
    python = python_of(peer, say)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asked, answered = home / "question.json", home / "answer.json"
        asked.write_text(json.dumps(question), encoding="utf-8")
        command = [str(python), "-I", str(_START), str(worker.resolve()), str(asked), str(answered)]
        done = subprocess.run(command, cwd=home, env=environment(home), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise PeerFailed(f"{worker.name} with {peer} ended with {done.returncode}:\n{said}")
        return json.loads(answered.read_text(encoding="utf-8"))


def python_of(peer: str, say: Callable[[str], None] = print) -> Path:
    """The Python that can import `peer`; its environment is made first when there is none.

    `say` is told what is being made and how long it took; it is not called when there is nothing to do. Another process
    that makes the same environment is waited for.

    Raises:
        PeerEnvironmentError: no such peer, or the packages can not be installed.
    """
    wanted, folder = _place(peer)
    parent, python, ready = folder.parent, locked_packages.python_of(folder), folder / "ready"
    if ready.exists():
        return python
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / f"{peer}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            for old in parent.glob(f"{peer}-*"):
                if old.name.rpartition("-")[0] == peer:
                    shutil.rmtree(old)
            say(f"{peer}: installing {_count(wanted)} packages into {folder} …")
            start = perf_counter()
            _make(peer, folder, wanted)
            ready.touch()
            say(f"{peer}: installed in {perf_counter() - start:.0f} s")
    return python


def is_made(peer: str) -> bool:
    """Whether the environment of `peer` is there, and of the packages that are wanted now.

    Raises:
        PeerEnvironmentError: no such peer.
    """
    return (_place(peer)[1] / "ready").exists()


def environment(home: Path) -> Mapping[str, str]:
    """The variables of a peer's process: nothing is sent, and what it writes by itself it writes below `home`.

    Credentials and settings of this process are left out: a peer gets nothing but what it needs to start.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**kept, **QUIET, "HOME": str(home)}


def _place(peer: str) -> tuple[Path, Path]:
    """The compiled requirements of `peer`, and the folder that its environment has or will have."""
    if peer not in PEERS:
        raise PeerEnvironmentError(f"There is no peer {peer!r}; there are {', '.join(PEERS)}.")
    wanted = REQUIREMENTS / f"{peer}.txt"
    return wanted, settings.home() / "peers" / f"{peer}-{_digest(wanted)}"


def _make(peer: str, folder: Path, wanted: Path) -> None:
    packages = Packages(f"a comparison with {peer}", f"bench/peers/requirements/{wanted.name}")
    try:
        install(make_environment(folder, packages), wanted, packages, f"the environment of {peer}")
    except CommandError as error:
        raise PeerEnvironmentError(str(error)) from error


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def _count(file: Path) -> int:
    return sum("==" in line and not line.startswith((" ", "#")) for line in file.read_text("utf-8").splitlines())


def main(arguments: list[str]) -> int:
    """0: all there; 1: one can not be made."""
    try:
        for peer in arguments or PEERS:
            print(f"{peer}: {python_of(peer)}", flush=True)
    except PeerEnvironmentError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
