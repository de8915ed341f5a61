"""A provider for the tests of the hooks: it writes the ledger as a real one does, and returns a record or breaks."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from episodes.ledger import Ledger
from episodes.record import Episode, PullRequest, StopReason


def call_api(_prompt: str, _options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Do what the case's vars say.

    `creates`: number of the pull request that the tool is said to have opened; `branch`: its branch; `then`: `answer`,
    `raise`, `hang`, `lose` (the tool's answer never came), `forget` (nothing is written into the ledger), or `replay`;
    `repository`: where, unless it is the test's GitHub repository.
    """
    names = context["vars"]
    run, step = names["__evalId"], names["__evalStepId"]
    pulls: tuple[PullRequest, ...] = ()
    if names.get("creates"):
        ledger = Ledger.open(Path(os.environ["EVALS_HOME"]), run)
        repository = names.get("repository", "landing-zones/spokes")
        pull = PullRequest(
            f"https://github.test/{repository}/pull/{names['creates']}",
            str(names["creates"]),
            repository,
            names["branch"],
            "active",
            replayed=names["then"] == "replay",
        )
        if names["then"] not in ("forget", "replay"):
            marker = "/".join(names["branch"].split("/")[:2])
            ledger.intent(step, "call-1", "portal", "create_spoke_pull_request", marker)
            if names["then"] == "lose":
                ledger.result(step, "call-1", None, "the connection broke", answered=False)
            else:
                ledger.result(step, "call-1", pull)
                pulls = (pull,)
        else:
            pulls = (pull,)
    if names.get("then") == "raise":
        raise RuntimeError("the provider broke down")
    if names.get("then") == "hang":
        time.sleep(600)
    episode = Episode("case", step, StopReason.GOAL_REACHED, eval_id=run, tool_calls=(), pull_requests=pulls)
    return {"output": "done", "metadata": episode.to_metadata()}
