"""What kind of thing is asked for: a question, a copy, a change of an existing spoke, or a new one from nothing."""

from __future__ import annotations

import re
from typing import Literal

from .reading import read

Intent = Literal["question", "copy", "change", "new", "talk"]

_QUESTION_START = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[^.!?\n]*?[,!.]\s*)?(?:and |so |just |"
    r"quick question[:,]? |one question[:,]? |question[:,]? )*"
    r"(?:what|which|who|whom|whose|why|when|where|how|does|do(?! (?:what|that|it|this|so|everything|the same|"
    r"not|as|whatever|exactly|just)\b)|did|is|are|was|were|must|may|might|should|shall|will|would it|"
    r"can (?:a|an|the|i|we|one|it|they|somebody|someone|anyone|anybody|spokes?|subnets?|you (?:tell|explain|say|"
    r"describe|list|show|summari[sz]e|remind))|"
    r"could you (?:please )?(?:tell|explain|say|describe|list|show|summari[sz]e|remind)|"
    r"would you (?:please )?(?:tell|explain)|"
    r"(?:please )?(?:tell|explain|describe|list|show|summari[sz]e|remind))\b",
    re.IGNORECASE,
)
_WANTS_TO_KNOW = re.compile(
    r"\b(?:i|we)(?:'d| would|'m| am|'re| are)?\s+(?:like|love|want|need|have|wonder\w*|curious|unsure|not sure)\s*"
    r"(?:to (?:know|understand|learn|ask)|a question|if|whether|what|which|how|why|about)\b|\bquestion about\b|"
    r"\bwondering\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:copy|copies|clone|duplicate|replicate|mirror|create|set up|make|build|add|change|update|modify|"
    r"adjust|raise|lower|"
    r"increase|reduce|extend|shorten|move|switch|turn|enable|disable|remove|delete|drop|give|prepare|provision|"
    r"open|need|want|"
    r"would like|'d like|please|get us|get me|spin up|roll out|bring|set|put|let)\b",
    re.IGNORECASE,
)
_POLITE_ORDER = re.compile(
    r"^\W*(?:(?:hi|hello|hey)\b[^.!?\n]*?[,!.]\s*)?(?:(?:can|could|would|will) you\b(?! (?:please )?(?:tell|"
    r"explain|say|describe|list|"
    r"show|summari[sz]e|remind))|(?:can|could|may|might) (?:i|we) (?:please )?(?:have|get|order|request|"
    r"ask you)\b|would it be possible to|"
    r"is it possible to (?:get|have|copy|create|make)\b)",
    re.IGNORECASE,
)
_COPY = re.compile(
    r"\b(?:cop(?:y|ies|ied|ying)|clon(?:e|ed|ing)|duplicat\w+|replic(?:a|ate|ates|ated|ating)\w*|mirror\w*|"
    r"twins?|sibling|look-?alike|"
    r"same (?:as|shape|set-?up|settings|configuration|thing)|(?:just|exactly|much) like|like (?:the|our|it|"
    r"spoke)|alike|"
    r"(?:based|modell?ed|built|patterned) (?:up)?on|derived? from|identical to|as (?:a |the |our |"
    r"its )?(?:template|basis|base|example|"
    r"blueprint|model|pattern|starting point|source)|start(?:ing)? (?:out )?from|starting point|take (?:the |"
    r"our )?[\w-]+ (?:spoke )?(?:and|as)|"
    r"resembl\w+|similar to|what [\w-]+ has|counterpart|equivalent of|(?:another|second|further) (?:one|"
    r"instance|spoke|landing zone|environment) "
    r"(?:like|of)|version of|edition of|variant of|instance of)",
    re.IGNORECASE,
)
# A stage that is wanted for something that exists is a copy in other words; for something unknown it is a new spoke.
_STAGE_OF = re.compile(
    r"\b(?:test|testing|acceptance|production|development|dev|acc|prod)\s+(?:copy|clone|version|variant|edition|"
    r"twin|instance|counterpart|sibling|"
    r"stage|environment|spoke|landing zone|one)\b|\b(?:another|second|further|additional) (?:spoke|landing zone|"
    r"environment|stage)\b",
    re.IGNORECASE,
)
_FROM_NOTHING = re.compile(
    r"\b(?:from scratch|from nothing|brand[\s-]?new|greenfield|(?:completely|entirely|totally|wholly) new|"
    r"nothing like it|nothing (?:that )?exist\w*|no existing|"
    r"does not exist yet|new workload|new application)\b",
    re.IGNORECASE,
)
_NO_COPY = re.compile(
    r"\b(?:not|no|rather than|instead of|nor)\s+(?:as\s+)?(?:an?\s+|another\s+|by\s+)?(?:cop(?:y|ying)|clon(?:e|"
    r"ing)|duplicate|twin)\b",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\b(?:new (?:\w+ ){0,3}(?:spoke|landing zone)|"
    r"(?:spoke|landing zone) for (?:a|our|the) new|(?:create|set up|need|want|get|make|build|provision|order|"
    r"request)(?: me| us)? (?:a|an|another|one) "
    r"(?:\w+ ){0,3}(?:spoke|landing zone)|first spoke)\b",
    re.IGNORECASE,
)
_ALTER = re.compile(
    r"\b(?:chang\w+|updat\w+|modif\w+|adjust\w*|rais\w+|lower\w*|increas\w+|reduc\w+|extend\w*|shorten\w*|"
    r"mov(?:e|ing)|switch\w*|"
    r"turn\w*|enabl\w+|disabl\w+|remov\w+|delet\w+|drop\w*|add(?:s|ed|ing)?|set(?:ting)?|put|open\w*|replac\w+|"
    r"correct\w*|fix\w*|"
    r"edit\w*|keep|skip\w*|merge|complete|approve|allow|stop|let|should|must|give|hand)\b",
    re.IGNORECASE,
)


# "Raise the retention of the test spoke": something is altered that is there.
_ALTERS_ONE = re.compile(
    r"^\W*(?:please\s+)?(?:raise|lower|change|update|modify|adjust|increase|reduce|extend|shorten|switch|turn|"
    r"enable|disable|remove|delete|drop|set|replace|fix)\b",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """True when a message wants to know something and orders nothing."""
    reading = read(text)
    orders, questions = 0, 0
    for sentence in sorted({segment.sentence for segment in reading.segments}):
        part = reading.sentence_text(sentence).strip()
        if _POLITE_ORDER.search(part):
            orders += 1
            continue
        if (
            _QUESTION_START.search(part)
            or _WANTS_TO_KNOW.search(part)
            or (part.endswith("?") and not _ORDER.search(part))
        ):
            questions += 1
        elif _ORDER.search(part) and not part.endswith("?"):
            orders += 1
    if questions == 0:
        return False
    # "We want to set up a spoke. What happens when …?": what is asked last is what is wanted to know.
    last = reading.sentence_text(max(segment.sentence for segment in reading.segments)).strip()
    background = orders and (last.endswith("?") or _QUESTION_START.search(last)) and not _has_values(text)
    return orders == 0 or bool(background and not _POLITE_ORDER.search(last))


def _has_values(text: str) -> bool:
    return any(value.kind in ("cidr", "code", "email", "date", "spoke") for value in read(text).values)


def intent_of(text: str) -> Intent:
    """The kind of a first message. A copy needs something to copy from, which the caller finds out."""
    if is_question(text):
        return "question"
    text = _NO_COPY.sub(" ", text)
    if _FROM_NOTHING.search(text):
        return "new"
    if _COPY.search(text) or len({value.text for value in read(text).values if value.kind == "spoke"}) > 1:
        return "copy"
    if _NEW.search(text) or _STAGE_OF.search(text):
        return "new" if not _ALTERS_ONE.search(text) else "change"
    if _ALTER.search(text) or any(value.kind == "spoke" for value in read(text).values):
        return "change"
    return "talk"


def from_nothing(text: str) -> bool:
    """True when a message says that nothing that exists is to be copied."""
    return _FROM_NOTHING.search(text) is not None
