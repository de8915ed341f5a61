"""Is something switched on or off, wanted or not? Told by counting the words that turn a statement round."""

from __future__ import annotations

import re

# Each of these turns the meaning of its clause round; two of them cancel out.
_TURNING = re.compile(
    r"\b(?:not|n't|no|never|none|neither|without|stop(?:s|ped|ping)?|disabl\w*|deactivat\w*|off|den(?:y|ies|ied|ying)|"
    r"forb(?:id|ids|idden|idding)|block(?:s|ed|ing)?|drop(?:s|ped|ping)?|remov\w*|prevent\w*|refus\w*|reject\w*|"
    r"ignor\w*|"
    r"suppress\w*|discard\w*|exclud\w*|leave out|left out|keep out|kept out|turn(?:ed)? away|cut|skip\w*|"
    r"omit\w*|avoid\w*|"
    r"do(?:es)? away|get rid|end(?:s|ed)?(?= the| its)|switch(?:ed)? off|false)\b|n't\b",
    re.IGNORECASE,
)
_OFF_TWICE = re.compile(r"\b(?:switch|turn|shut)(?:ed|ing|s)?\s+(?:\w+\s+){0,4}?off\b", re.IGNORECASE)
# "not only", "no matter", "no later than", "do not hesitate" turn nothing round; neither does "nothing else".
_IDLE = re.compile(
    r"\b(?:not only|no matter|no (?:later|less|more|fewer|earlier) than|why not|not (?:yet|so far)|if not|no problem|"
    r"don't (?:hesitate|worry)|do not (?:hesitate|worry)|nothing else|no other|needed? at all)\b",
    re.IGNORECASE,
)


def turned(text: str) -> bool:
    """True when a text, taken as a whole, says no."""
    text = _IDLE.sub(" ", text)
    text = _OFF_TWICE.sub(" off ", text)
    return len(_TURNING.findall(text)) % 2 == 1


def switch_value(clause: str, statement: str) -> bool:
    """The value of a switch whose `statement` (its name or description) says what on means, given what is asked for."""
    return turned(clause) == turned(statement)
