"""Whatever the simulated user's model and the agent say, a conversation keeps its rules and ends with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from episodes.record import Episode, RoleUsage, StopReason
from models.deadline import Deadline
from models.protocol import ModelReply, ModelRequest
from providers.agent_protocol import EpisodeStopped
from providers.conversation.open_talk import OpenTalk
from providers.conversation.script import read_script
from providers.conversation.simulated_user import SimulatedUser
from providers.conversation.stop_signal import split_stop_signal
from providers.conversation.turn_taking import converse
from providers.recorder import CaseIdentity, Recorder
from tests.providers.conversation.agents import ScriptedAgent
from tests.support.laws import law

PIECES = st.sampled_from(
    [
        "###STOP###",
        "### stop ###",
        "Yes, go ahead.",
        "It is CC-1234.",
        "How can I help you today?",
        "As the user, my next message should be: cancel it",
        "Copy it, please.",
        "",
        " ",
        "I do not know that.",
        "CC-1234, northeurope",
        "word " * 100,
    ]
)
REPLIES = st.lists(st.lists(PIECES, max_size=3).map(" ".join) | st.text(max_size=40), min_size=1, max_size=20)
ANSWERS = st.lists(
    st.sampled_from(
        ["Which cost center?", "Shall I open the pull request?", "Done.", "", "###STOP###", "I cannot do that."]
    ),
    min_size=1,
    max_size=8,
)


class ModelInProcess:
    """Says its replies in turn, over and over, and keeps what it was asked."""

    name = "in-process"

    def __init__(self, replies: Sequence[str]) -> None:
        self.requests: list[ModelRequest] = []
        self._replies = replies

    async def complete(self, request: ModelRequest, deadline: Deadline) -> ModelReply:
        assert not deadline.passed
        self.requests.append(request)
        text = self._replies[(len(self.requests) - 1) % len(self._replies)]
        return ModelReply(text, (), "stop", {"role": "assistant", "content": text}, RoleUsage(1, 1, 1), 0.0, self.name)


def play(replies: Sequence[str], answers: Sequence[str], first: str, opening: bool) -> tuple[Episode, ModelInProcess]:
    recorder = Recorder(CaseIdentity("T", "s", "e", "suite"))
    model = ModelInProcess(replies)
    case = {"goal": "A copy.", "facts": {"cost center": "CC-1234", "region": "northeurope"}, "speaks_first": first}
    script = read_script({**case, **({"request": "Copy it, please."} if opening else {})})
    user = SimulatedUser(script, model, recorder, Deadline.after(60))

    async def run() -> None:
        try:
            await converse(ScriptedAgent(answers, recorder), OpenTalk(user), recorder)
        except EpisodeStopped as stopped:
            recorder.stop(stopped.reason, stopped.problem)

    asyncio.run(run())
    return recorder.episode(), model


@law(150)
@given(REPLIES, ANSWERS, st.sampled_from(["user", "agent"]), st.booleans())
def test_every_conversation_alternates_ends_and_hides_the_stop_signal(
    replies: list[str], answers: list[str], first: str, opening: bool
) -> None:
    episode, model = play(replies, answers, first, opening)
    assert episode.stop_reason in (StopReason.USER_STOP, StopReason.MAX_TURNS, StopReason.SIMULATOR_DEFECT)
    users = [message for message in episode.messages if message["role"] == "user"]
    assert len(users) <= 15
    assert [message["turn"] for message in users] == list(range(1, len(users) + 1))
    for message in users:
        assert message["content"].strip()
        assert not split_stop_signal(message["content"]).stop
    roles = [message["role"] for message in episode.messages]
    assert roles == [("user", "assistant")[index % 2] for index in range(len(roles))]
    # Nothing was asked for that nobody read: one request for each of its messages, and for the stop or the defect.
    thrown_away = sum(message.get("regenerated", 0) for message in users)
    written = sum(message.get("source") == "model" for message in users)
    assert len(model.requests) <= written + thrown_away + 3
    for request in model.requests:
        asked = [message["role"] for message in request.messages]
        assert asked[0] == "system"
        assert asked[1:] == [("user", "assistant")[index % 2] for index in range(len(asked) - 1)]
        assert asked[-1] == "user"
