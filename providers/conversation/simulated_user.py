"""The developer, played by a chat model: one message at a time, checked before it is sent."""

from __future__ import annotations

from dataclasses import replace

from endpoints.redaction import redact
from episodes.record import StopReason
from models.deadline import Deadline
from models.protocol import Model, ModelFailure, ModelReply, ModelRequest
from providers.agent_protocol import EpisodeStopped
from providers.conversation.script import Script
from providers.conversation.simulator_checks import Defect, Moment, find_defect
from providers.conversation.stop_signal import split_stop_signal
from providers.conversation.turn_taking import Source, UserMove
from providers.conversation.user_prompt import BEGIN, PROMPT_VERSION, SILENCE, user_instructions
from providers.recorder import Recorder

REGENERATIONS = 2
"""How often a bad reply may be asked for again."""

DRAFT_WARNING = "simulated user: a draft was thrown away"
"""How the record's warning about one draft begins; the turn, the defect and the draft follow."""

SHOWN_OF_A_DRAFT = 200
"""Characters of a thrown-away draft that the record's warning quotes."""


class SimulatedUser:
    """One developer in one episode. It keeps the whole conversation as it saw it, its own first message included.

    The model sees the instructions made from the script, and the two sides' words with the roles turned round. It sees
    no tool call, no tool result and nothing else of the test.
    """

    def __init__(self, script: Script, model: Model, recorder: Recorder, deadline: Deadline) -> None:
        self.script = script
        self._model = model
        self._recorder = recorder
        self._deadline = deadline
        self._said: list[str] = []
        self._heard: list[str] = []
        self._history: list[dict[str, str]] = []
        recorder.fingerprint("userModel", model.name, model.name)
        recorder.fingerprint("userPrompt", f"version {PROMPT_VERSION}", user_instructions(script))

    def say(self, text: str, source: Source) -> UserMove:
        """Send `text` as it is, without asking the model."""
        self._remember_own(text)
        return UserMove(text, source)

    def hear(self, text: str) -> None:
        """Take in the agent's answer."""
        self._heard.append(text)
        self._add("user", text.strip() or SILENCE)

    async def next_move(self, *, goal: str = "", guide: str = "", must_speak: bool = False) -> UserMove:
        """Ask the model for the next message, and again when it is one that no developer would send.

        Args:
            goal: the goal of the current step, when it is not the script's.
            guide: what the current step lets the developer know.
            must_speak: ending the conversation now would be a defect, because the goal has not been spoken of yet.

        Raises:
            EpisodeStopped: three drafts in a row had a defect, or the model cannot be reached.
        """
        script = replace(self.script, goal=goal) if goal else self.script
        defects: list[Defect] = []
        for _ in range(REGENERATIONS + 1):
            remarks = [defect.remark for defect in defects]
            reply = await self._ask(user_instructions(script, guide=guide, begins=must_speak, remarks=remarks))
            split = split_stop_signal(reply.text)
            defect = find_defect(split, self._moment(script, reply, must_speak))
            if defect is None:
                if split.text:
                    self._remember_own(split.text)
                return UserMove(split.text, "model", ends=split.stop, regenerated=len(defects))
            defects.append(defect)
            self._recorder.warn(
                f"{DRAFT_WARNING} (turn {self._recorder.turn + 1}, try {len(defects)}), {defect} {_quoted(reply.text)}",
            )
        kinds = ", ".join(defect.kind for defect in defects)
        raise EpisodeStopped(
            StopReason.SIMULATOR_DEFECT,
            f"the simulated user gave no usable message in {len(defects)} tries ({kinds}); last: {defects[-1].remark}",
        )

    def _moment(self, script: Script, reply: ModelReply, must_speak: bool) -> Moment:
        return Moment(
            script=script,
            said=tuple(self._said),
            heard=tuple(self._heard),
            agent_acted=bool(self._recorder.pull_requests),
            must_speak=must_speak,
            cut=reply.finish_reason == "length",
        )

    def _remember_own(self, text: str) -> None:
        self._said.append(text)
        self._add("assistant", text)

    def _add(self, role: str, text: str) -> None:
        """Many services refuse two messages of one role in a row, which an event between two answers would make."""
        if self._history and self._history[-1]["role"] == role:
            text = f"{self._history.pop()['content']}\n\n{text}"
        self._history.append({"role": role, "content": text})

    async def _ask(self, instructions: str) -> ModelReply:
        messages = [{"role": "system", "content": instructions}]
        if not self._history or self._history[0]["role"] == "assistant":
            messages.append({"role": "user", "content": BEGIN})
        request = ModelRequest([*messages, *self._history])
        try:
            reply = await self._model.complete(request, self._deadline)
        except ModelFailure as failure:
            reason = StopReason.DEADLINE if failure.kind == "deadline" else StopReason.PROVIDER_ERROR
            raise EpisodeStopped(reason, f"the simulated user's model: {failure.problem}") from failure
        self._recorder.model_call("user", reply.usage, reply.latency_ms)
        for note in reply.notes:
            self._recorder.warn(f"simulated user's model: {note}")
        return reply


def _quoted(draft: str) -> str:
    text = " ".join(redact(draft).split())
    return f'("{text[:SHOWN_OF_A_DRAFT]}…")' if len(text) > SHOWN_OF_A_DRAFT else f'("{text}")'
