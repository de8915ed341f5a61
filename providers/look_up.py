"""Ask the pull-request host about what an episode created, as soon as the conversation has ended.

The answer becomes part of the record, so that no assertion, which is a process of its own, has to ask again, and so
that a recorded episode can be judged when its pull requests are long gone.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from endpoints import SettingsError, resolve_pull_request_host
from endpoints.local_stack import StackError
from episodes.hosts import HostError
from episodes.hosts.look_up import look_up
from episodes.pull_request_url import parse
from episodes.record import AtHost, PullRequest
from models.deadline import Deadline
from providers.recorder import Recorder

BUDGET_S = 30.0
"""How long the host may take for all pull requests of one episode."""


async def look_up_pull_requests(recorder: Recorder, deadline: Deadline) -> None:
    """Add the host's answer to each pull request of the record. When there is none, the record says why."""
    pulls = recorder.pull_requests
    if not pulls:
        return
    try:
        answers = await asyncio.to_thread(_ask, pulls, min(BUDGET_S, deadline.remaining()))
    except (HostError, StackError, SettingsError) as problem:
        recorder.warn(f"the pull requests could not be looked up at their host: {problem}")
        return
    for pull, answer in zip(pulls, answers, strict=True):
        recorder.pull_request(replace(pull, at_host=answer))


def _ask(pulls: tuple[PullRequest, ...], budget_s: float) -> list[AtHost]:
    urls = []
    for pull in pulls:
        url = parse(pull.url)
        if url is None:
            raise HostError(f"look up {pull.url}", "it is not the address of a pull request of a known host")
        urls.append(url)
    return look_up(urls, resolve_pull_request_host(), budget_s=budget_s)
