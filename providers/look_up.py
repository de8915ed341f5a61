"""Ask the pull-request host about what an episode created, as soon as the conversation has ended.

The answer becomes part of the record, so that no assertion, which is a process of its own, has to ask again, and so
that a recorded episode can be judged when its pull requests are long gone. It goes onto a cassette, too. An episode
that broke off is asked about as well, unless its deadline was the reason: then there is no time left to ask in.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from endpoints import SettingsError, resolve_pull_request_host
from endpoints.local_stack import StackError
from episodes.hosts import HostError
from episodes.hosts.look_up import look_up
from episodes.pull_request_url import parse
from episodes.record import AtHost, EvidenceError, PullRequest
from episodes.record_codec import decode_at_host, encode_at_host
from models.cassettes.cassette import Cassette, NoRecording
from models.deadline import Deadline
from providers.recorder import Recorder

BUDGET_S = 30.0
"""How long the host may take for all pull requests of one episode."""

MARGIN_S = 0.5
"""How long before the episode's deadline the host is given up: the conversation is over, and its record is whole."""

BOUNDARY = "host"
NOT_LOOKED_UP = "the pull requests could not be looked up at their host"


async def look_up_pull_requests(recorder: Recorder, deadline: Deadline, cassette: Cassette | None = None) -> None:
    """Add the host's answer to each pull request of the record. When there is none, the record says why.

    One that is replayed is never asked for: its host may be another one by now, or have given its number away again.
    """
    live: list[tuple[PullRequest, dict[str, Any]]] = []
    for pull in recorder.pull_requests:
        request = {"pullRequest": pull.url}
        if not pull.replayed:
            live.append((pull, request))
            if cassette is not None:
                cassette.expect(BOUNDARY, request)
        elif cassette is not None:
            recorder.pull_request(replace(pull, at_host=_recorded(cassette, request, recorder)))
    if not live:
        return
    left_s = deadline.remaining() - MARGIN_S
    try:
        if left_s <= 0:
            raise TimeoutError
        async with asyncio.timeout(left_s):
            answers = await asyncio.to_thread(_ask, [pull for pull, _ in live], min(BUDGET_S, left_s))
    except TimeoutError:
        recorder.warn(f"{NOT_LOOKED_UP}: the episode's deadline came first")
        return
    except (HostError, StackError, SettingsError) as problem:
        recorder.warn(f"{NOT_LOOKED_UP}: {problem}")
        return
    for (pull, request), answer in zip(live, answers, strict=True):
        recorder.pull_request(replace(pull, at_host=answer))
        if cassette is not None:
            said = {key: part for key, part in encode_at_host(answer).items() if key != "askedAt"}
            cassette.add(BOUNDARY, request, said)


def _recorded(cassette: Cassette, request: dict[str, Any], recorder: Recorder) -> AtHost | None:
    try:
        answer = cassette.take(BOUNDARY, request)
        return None if answer is None else decode_at_host(answer, f"{cassette.path.name}: {BOUNDARY}")
    except NoRecording:
        recorder.warn(f"{cassette.path.name} does not hold what the host said about {request['pullRequest']}")
    except EvidenceError as problem:
        recorder.warn(str(problem))
    return None


def _ask(pulls: list[PullRequest], budget_s: float) -> list[AtHost]:
    urls = []
    for pull in pulls:
        url = parse(pull.url)
        if url is None:
            raise HostError(f"look up {pull.url}", "it is not the address of a pull request of a known host")
        urls.append(url)
    return look_up(urls, resolve_pull_request_host(), budget_s=budget_s)
