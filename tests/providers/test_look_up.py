"""The pull-request host is asked when the conversation is over: whatever it does, the record is whole."""

from __future__ import annotations

import asyncio

from episodes.record import PullRequest
from models.deadline import Deadline
from providers.look_up import MARGIN_S, look_up_pull_requests
from providers.recorder import CaseIdentity, Recorder


def test_a_host_that_would_outlast_the_deadline_is_given_up_before_it_and_the_record_says_so() -> None:
    recorder = Recorder(CaseIdentity("C01", "step", "eval", "suite"))
    pull = PullRequest(
        "http://127.0.0.1:9/landing-zones/platform/_git/spokes/pullrequest/7", "7", "spokes", "b", "active"
    )
    recorder.pull_request(pull)
    asyncio.run(look_up_pull_requests(recorder, Deadline.after(MARGIN_S / 2)))
    assert recorder.pull_requests == (pull,)
    assert recorder.episode().warnings == (
        "the pull requests could not be looked up at their host: the episode's deadline came first",
    )
