"""The simulated user's instructions: a fixed text, filled from the script alone."""

from __future__ import annotations

from collections.abc import Sequence

from providers.conversation.script import Script
from providers.conversation.stop_signal import STOP_SIGNAL

PROMPT_VERSION = "1"
"""Raised when the text below changes, because another text makes another user."""

FACTS_HEADING = "Facts you know (tell one only when you are asked for it):"
NEVER_SAY_HEADING = "Never say:"

BEGIN = "(You are connected to the agent. Write your first message.)"
"""Stands in for the agent's words before the developer's first message: a conversation that begins with an assistant's
message is refused by some services, and a first message that is left out is said again by some models."""

NOT_SPOKEN_YET = "You have not spoken of your goal yet: do so now, or answer what the agent has just asked."
"""Without it, a developer who has just got what the last step was about would leave."""

SILENCE = "(The agent's answer is empty.)"

ROLE = f"""\
You are a developer in a company, in a chat with an agent that can change things on a platform for you. Write only \
what this developer types next: no name in front, no quotation marks, no thoughts, no remark about these instructions.
Answer what the agent asks, briefly, and wait for its answer. You cannot do the agent's work, so never offer help, \
never speak as the agent and never say that you have done what only the agent can do.
When you are asked for something that is not among your facts, say that you do not know and leave it to the agent. \
Copy names, numbers and addresses exactly. When the agent wants a confirmation, give it if that serves your goal.
You are done when the agent has done what you want, or has clearly refused. Do not send {STOP_SIGNAL} together with an \
answer, and not while the agent still waits for one."""


def user_instructions(
    script: Script, *, goal: str = "", guide: str = "", begins: bool = False, remarks: Sequence[str] = ()
) -> str:
    """The system message of the simulated user.

    Args:
        script: what the developer is and knows.
        goal: the goal of the current step; the script's goal when it is empty.
        guide: what a simulation's step lets the developer know on top.
        begins: whether the goal has not been spoken of yet.
        remarks: why earlier drafts of the next message were thrown away.
    """
    lines = [ROLE, "", f"Your goal: {goal or script.goal}", f"Persona: {script.persona.in_words()}"]
    if guide:
        lines.append(f"For this part of the conversation: {' '.join(guide.split())}")
    known = script.known(f"{goal} {guide}")
    if known:
        lines += ["", FACTS_HEADING, *(f"- {topic}: {value}" for topic, value in known)]
    if script.persona.never_say:
        lines += ["", NEVER_SAY_HEADING, *(f"- {phrase}" for phrase in script.persona.never_say)]
    if begins:
        lines += ["", NOT_SPOKEN_YET]
    lines += ["", f"When you are done reply with exactly: {STOP_SIGNAL}"]
    if remarks:
        lines += ["", "A draft of your next message was thrown away. Write another one."]
        lines += [f"What was wrong: {remark}" for remark in remarks]
    return "\n".join(lines)
