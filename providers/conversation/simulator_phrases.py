"""Phrases by which a reply gives away that it does not come from a developer in a chat.

Each pattern is narrow on purpose: throwing away a good reply costs a model call, and three of them the whole case.
"""

from __future__ import annotations

import re


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)


SPEAKS_AS_AGENT = _any_of(
    # offers of help
    r"\bhow (?:can|may|could) i (?:help|assist)\b",
    r"\bwhat can i (?:help|assist) you with\b",
    r"\b(?:any|some)thing else (?:that )?(?:i|we) can (?:help|assist|do)\b",
    r"\bi(?:'m| am|'d be| would be) (?:happy|glad|here) to (?:help|assist)\b",
    r"\bfeel free to (?:ask|reach out)\b",
    r"\bi (?:can|will|'ll) (?:help|assist) you\b",
    r"\bwie kann ich (?:ihnen|dir) (?:weiter)?helfen\b",
    r"\bwaarmee kan ik (?:u|je|jou) (?:verder )?helpen\b",
    r"\bhoe kan ik (?:u|je|jou) (?:verder )?helpen\b",
    r"\bcomment puis-je vous aider\b",
    r"\b(?:en qué|cómo) puedo ayudar(?:te|le)\b",
    # what it takes itself for
    r"\bas an? (?:ai|assistant|language model|chatbot)\b",
    r"\bi(?:'m| am) (?:an?|your) (?:ai|assistant|language model|chatbot|virtual)\b",
    # work that only the agent can do
    r"\bi(?:'ve| have| just)? (?:now )?(?:created|opened|submitted|raised) (?:a|the|your) pull request\b",
    r"\bi(?:'ll| will| shall) (?:now )?(?:create|open|submit|raise) (?:a|the|your) pull request\b",
    # its name in front
    r"^\s*\**(?:agent|assistant)\**\s*:",
)

TALKS_ABOUT_THE_TASK = _any_of(
    r"\bas the (?:simulated )?(?:user|developer)\b",
    r"\b(?:my|the) (?:next|first) (?:message|reply|response) (?:should|would|will|could|is)\b",
    r"\bsimulated user\b",
    r"\brole-?play",
    r"\bmy (?:persona|instructions|role is)\b",
    r"\b(?:system prompt|stop signal)\b",
    r"\bhere(?:'s| is) (?:my|the|a|what) (?:next |possible )?(?:message|reply|response|the developer)\b",
    r"\bthe (?:developer|user) (?:would|should|might) (?:now )?(?:say|reply|respond|type|write|answer)\b",
    r"\bi (?:should|need to|must|will) (?:now )?(?:respond|reply|answer) (?:as|with|in)\b",
    r"</?(?:think|thinking|thought|scratchpad|reasoning)>",
    r"^\s*\**(?:user|developer|me)\**\s*:",
    r"^\s*[(\[*](?:waits?|pauses?|thinks?|sighs?|nods?|end of|no (?:reply|response)|silence)\b",
)

QUOTES_ITS_SCRIPT = _any_of(
    r"^\s*[-*]?\s*your goal\s*:",
    r"^\s*[-*]?\s*persona\s*:",
    r"\bfacts you know\b",
    r"\btell one only when\b",
    r"\bnever say\s*:",
    r"\bwhen you are done reply\b",
    r"\bmy (?:secret )?(?:script|goal) (?:is|says)\b",
)

ASKS_SOMETHING = _any_of(
    r"[?\uff1f]",
    r"\b(?:please|kindly|could you|can you|let me know|tell me|provide|confirm|specify|i (?:still )?need|which|what)\b",
    r"\b(?:bitte|welche[rsn]?|graag|welke|geef|veuillez|quel(?:le)?s?)\b",
)

ASKS_FOR_A_GO = _any_of(
    r"\b(?:shall|should|may|can) i (?:now |then )?(?:go ahead|proceed|continue)\b[^.?!\n]*\?",
    r"\b(?:shall|should|may|can) i (?:now |then )?(?:open|create|submit|raise|make|apply)\b[^.?!\n]*\?",
    r"\b(?:do|would|could|can) you (?:please )?(?:confirm|approve|agree)\b",
    r"\bplease (?:confirm|approve)\b",
    r"\b(?:go ahead|proceed|is (?:that|this) (?:correct|right|ok(?:ay)?)|ok(?:ay)?|(?:yes|y)\s*/\s*(?:no|n))\s*\?",
)

REFUSES = _any_of(
    r"\b(?:cannot|can't|can not|could not|couldn't|won't|will not|must not|may not|did not)\b",
    r"\b(?:unable|not able) to\b|\bnot (?:allowed|permitted)\b",
    r"\b(?:refus|declin|reject|forbid|forbidden|blocked|denied)",
    r"\bnot (?:possible|open|create)\b",
    r"\bno pull request\b",
)
