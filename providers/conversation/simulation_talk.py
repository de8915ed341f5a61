"""A simulation as a user: it speaks for the current step until that is reached, and ends when one is not."""

from __future__ import annotations

from dataclasses import replace

from episodes.record import StopReason
from providers.agent_protocol import AgentAnswer
from providers.conversation.simulated_user import SimulatedUser
from providers.conversation.simulation import Progress, Step
from providers.conversation.step_check import StepCheck
from providers.conversation.turn_taking import Ending, UserMove
from providers.recorder import Recorder

_MACHINERY = (StopReason.PROVIDER_ERROR, StopReason.TOOL_UNAVAILABLE, StopReason.DEADLINE, StopReason.CONTENT_FILTER)


class SimulationTalk:
    """A `User` that works through steps in order. The caller records `progress.goals()` however the episode ends."""

    def __init__(self, steps: tuple[Step, ...], user: SimulatedUser, check: StepCheck, recorder: Recorder) -> None:
        self.progress = Progress(steps)
        self._user = user
        self._check = check
        self._recorder = recorder
        self._first_turn = 1
        self._last_reason = ""

    async def move(self) -> UserMove:
        step = self._open_step()
        self.progress.turns += 1
        if step.kind == "event":
            return UserMove(step.message, "event")
        if step.kind == "static_utterance":
            return self._user.say(step.message, "static")
        first = self.progress.turns == 1
        move = await self._user.next_move(goal=step.text, guide=step.guide, must_speak=first)
        if not move.text:
            self.progress.fail(f"The developer gave up after {_turns(self.progress.turns - 1)}. {self._last_reason}")
        # Whether the step is reached is decided after the answer, whatever the developer thinks of it.
        return replace(move, ends=not move.text)

    async def hear(self, answer: AgentAnswer) -> Ending | None:
        self._user.hear(answer.text)
        step = self._open_step()
        if answer.stop in _MACHINERY:
            # Nothing is judged after a failure: an unfinished step must not look met because the talk broke off.
            self.progress.fail(f"The agent could not answer ({answer.stop}): {answer.problem}")
            return None
        met, reason = await self._judge(step, answer)
        self._last_reason = reason
        if met:
            self.progress.reach(reason, self._recorder.turn)
            self._first_turn = self._recorder.turn + 1
            if self.progress.complete:
                return Ending(StopReason.GOAL_REACHED)
        elif answer.stop is not None or self.progress.turns >= step.max_turns:
            self.progress.fail(f"Not reached in {_turns(self.progress.turns)}. {reason}")
            return Ending(StopReason.MAX_TURNS, f"step {step.number} of the simulation was not reached: {reason}")
        return None

    async def _judge(self, step: Step, answer: AgentAnswer) -> tuple[bool, str]:
        if step.criterion:
            verdict = await self._check.check(step.criterion, self._first_turn)
            return verdict.met, verdict.reason
        if answer.text.strip():
            return True, "Sent and answered; the step demands nothing else."
        return False, "The agent's answer was empty."

    def _open_step(self) -> Step:
        step = self.progress.current
        if step is None:
            raise AssertionError("the conversation went on after its end")
        return step


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"
