"""Run as a script by the Python that has the engine: serve one model on loopback until stdin ends.

stdin: one line of JSON, `{"model": path, "name": …, "key": …, "context": tokens, "most_tokens": n, "threads": n}`. The
key comes this way because everybody can read a command line. stdout: one line, `{"address": url}` or `{"problem":
words}`. Whoever started it holds the other end of stdin and need not stop it: when that process is gone, however it
ended, stdin ends, and so does this.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

PACKAGES = Path(sys.prefix) / "engine-packages"

SEQUENCES = 2
"""Conversations that the engine remembers: the agent's and the developer's take turns, and reading a prompt of
thousands of tokens anew for each answer would take longer than everything else."""

BATCH = 256
"""Tokens of a prompt that are read at once."""


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    # The engine's own log must not get between the answers.
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    try:
        server = _serve(settings)
    except (ImportError, RuntimeError, ValueError, OSError) as error:
        print(json.dumps({"problem": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        sys.exit(1)
    print(json.dumps({"address": server.listening_address}), file=answers, flush=True)
    sys.stdin.read()
    # At once: whatever is still being computed, nobody waits for it.
    os._exit(0)


def _serve(settings: dict[str, Any]) -> Any:
    sys.path.insert(0, str(PACKAGES))
    # By name: only the engine's own environment has it.
    xllamacpp: Any = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["model"]
    parameters.model_alias = {settings["name"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["key"]]
    parameters.n_ctx = settings["context"]
    parameters.n_parallel = SEQUENCES
    parameters.kv_unified = True
    parameters.n_predict = settings["most_tokens"]
    # Between two batches the engine looks whether anybody still waits; a large one takes half a minute.
    parameters.n_batch = BATCH
    parameters.n_ubatch = BATCH
    # Two threads that wait for each other in a loop slow a busy machine down more than they help.
    for processors in (parameters.cpuparams, parameters.cpuparams_batch):
        processors.n_threads = settings["threads"]
        processors.poll = 0
    # Off: copies of old prompts in memory, a trial of how much fits, a first answer to nobody, pages for people.
    parameters.cache_ram_mib = 0
    parameters.fit_params = False
    parameters.warmup = False
    parameters.ui = False
    parameters.endpoint_slots = False
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    main()
