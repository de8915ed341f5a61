"""The `judge` stand-in: decides rubrics, groundedness, goals and likeness by words, numbers and negation.

The last user message is JSON:

    {"task": "rubric"|"groundedness"|"goal"|"semantic", "criteria": ["…"], "question": "…", "answer": "…",
     "context": "…", "expected": "…"}

and the reply is JSON too:

    rubric        {"criteria": [{"criterion", "met": bool, "evidence": quote or ""}], "reason"}
    groundedness  {"claims": [{"claim", "supported": bool, "evidence": quote or ""}], "reason"}
    goal          {"satisfied": 1|0|-1, "reason"}   (reached, not reached, no goal was named)
    semantic      {"score": 0-4, "reason"}          (4: says the same, 0: says something else)

It is a stand-in and not a judge of quality: a criterion counts as met when enough of its content words (stemmed, near
synonyms folded) stand in a passage of the answer, all its numbers and names do, and both are negated or neither is.
It does not understand paraphrase, arithmetic or irony.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .problems import RequestProblem
from .protocol import ChatRequest, Reply
from .shaping import shaped
from .words import content_stems, overlap, sentences, stem, word_list, words

_ENOUGH = 0.6
# A claim must stand in the context nearly as a whole: half a sentence can be made up.
_GROUNDED = 0.75
_NEGATIONS = frozenset(
    word_list("""
    not no never none nothing neither nor cannot without refuse refused refuses refusing forbidden forbids
    forbid impossible unable prohibited disallowed rejected rejects declined declines declining lacks isn't
    aren't don't doesn't won't can't shouldn't mustn't wasn't didn't couldn't wouldn't hasn't haven't
    """)
)
_OUTER_NEGATION = re.compile(
    r"^\W*(?:the\s+)?(?:(?:answer|agent|reply|response|assistant|it)\s+)?"
    r"(?:does\s+not|doesn't|do\s+not|don't|must\s+not|mustn't|should\s+not|shouldn't|may\s+not|did\s+not|didn't|"
    r"has\s+not|"
    r"never|avoids?|refrains?\s+from|contains?\s+no|has\s+no|makes?\s+no|gives?\s+no|without|no\s+mention|no)\b",
    re.IGNORECASE,
)
# Words of the criterion that speak about the answer and not about its subject.
_META = frozenset(
    stem(word)
    for word in word_list("""
    answer agent reply response assistant say state mention name explain list include contain tell describe give
    point clear clearly correct correctly user developer reader claim claims fact least example note notes refer
    make sure word words criterion suggest invent something anything
    """)
)
_NAMED = re.compile(r"(?<![\w.])(?:\d[\d.,:/]*\d|\d)(?![\w])|\b[A-Z]{2,}-\d+\b|\bhttps?://\S+")


@dataclass(frozen=True)
class _Verdict:
    met: bool
    evidence: str
    why: str


def judge(request: ChatRequest) -> Reply:
    """Answer one judging request.

    Raises:
        RequestProblem: the asked-for response format can not hold the task's reply.
    """
    last = next((m.content for m in reversed(request.messages) if m.role == "user"), "")
    try:
        order = json.loads(last)
    except ValueError:
        order = None
    task = order.get("task") if isinstance(order, dict) else None
    if not isinstance(order, dict) or task not in _TASKS:
        if request.response_format.kind != "text":
            raise RequestProblem.invalid(
                f"The judge reads a JSON message whose task is one of {', '.join(_TASKS)}.", "messages"
            )
        return Reply(f"I can only judge a JSON message whose task is one of: {', '.join(_TASKS)}.")
    return Reply(shaped(_TASKS[task](order), request.response_format))


def _rubric(order: Mapping[str, Any]) -> dict[str, Any]:
    criteria = [str(item) for item in order.get("criteria") or []]
    verdicts = [(criterion, _criterion(criterion, _text(order, "answer"))) for criterion in criteria]
    missed = [f"{criterion} ({verdict.why})" for criterion, verdict in verdicts if not verdict.met]
    return {
        "criteria": [{"criterion": c, "met": v.met, "evidence": v.evidence} for c, v in verdicts],
        "reason": f"Not met: {'; '.join(missed)}" if missed else f"All {len(verdicts)} criteria are met.",
    }


def _criterion(criterion: str, answer: str) -> _Verdict:
    outer = _OUTER_NEGATION.match(criterion)
    statement = criterion[outer.end() :] if outer else criterion
    best = _best_passage(statement, answer)
    if outer is None:
        return best
    if best.met:
        return _Verdict(False, best.evidence, "the answer says it")
    return _Verdict(True, "", "the answer does not say it")


def _best_passage(statement: str, text: str, enough: float = _ENOUGH) -> _Verdict:
    """Look for the passage (one to three sentences) that covers the statement best."""
    wanted = [token for token in content_stems(statement) if token not in _META]
    parts = sentences(text)
    best, quote, shared = 0.0, "", 0
    for size in (1, 2, 3):
        for start in range(max(1, len(parts) - size + 1)):
            passage = " ".join(parts[start : start + size])
            share = overlap(wanted, content_stems(passage))
            # A longer passage must earn its place: it counts only when it covers clearly more.
            if share > best + (0.05 if size > 1 else 0.0):
                best, quote, shared = share, passage, size
    missing = _missing_names(statement, text)
    if missing:
        return _Verdict(False, "", f"{missing[0]} is not mentioned")
    # A whole answer may cover a criterion piece by piece, which is enough when nearly everything is there.
    whole = overlap(wanted, content_stems(text))
    if best < enough and whole < max(0.8, enough):
        return _Verdict(False, "", f"{whole:.0%} of its words are in the answer")
    if shared == 1 and _negated(quote) != _negated(statement) and not _also_said(statement, wanted, parts):
        return _Verdict(False, quote, "the answer says the opposite")
    return _Verdict(True, quote, "")


def _also_said(statement: str, wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """Another sentence says it with the right sign."""
    sign = _negated(statement)
    return any(_negated(p) == sign and overlap(wanted, content_stems(p)) >= _ENOUGH for p in parts)


def _negated(text: str) -> bool:
    return any(word in _NEGATIONS for word in words(text))


def _missing_names(statement: str, text: str) -> list[str]:
    found = set(_NAMED.findall(text))
    return [name for name in _NAMED.findall(statement) if name not in found]


def _groundedness(order: Mapping[str, Any]) -> dict[str, Any]:
    context = _text(order, "context")
    claims = [part for part in sentences(_text(order, "answer")) if _is_claim(part)]
    results = []
    for claim in claims:
        verdict = _best_passage(claim, context, _GROUNDED)
        results.append({"claim": claim, "supported": verdict.met, "evidence": verdict.evidence if verdict.met else ""})
    unsupported = [str(item["claim"]) for item in results if not item["supported"]]
    if not claims:
        reason = "The answer claims nothing."
    elif unsupported:
        reason = f"Not in the context: {'; '.join(unsupported)}"
    else:
        reason = f"All {len(claims)} claims stand in the context."
    return {"claims": results, "reason": reason}


def _is_claim(sentence: str) -> bool:
    return not sentence.endswith("?") and not sentence.endswith(":") and len(content_stems(sentence)) >= 3


def _goal(order: Mapping[str, Any]) -> dict[str, Any]:
    answer, goal = _assistant_words(_text(order, "answer")), _text(order, "question")
    wanted = [token for token in content_stems(goal) if token not in _META]
    if not wanted:
        return {"satisfied": -1, "reason": "No goal is named."}
    expected = _text(order, "expected")
    if expected:
        verdict = _best_passage(expected, answer)
        return {"satisfied": int(verdict.met), "reason": verdict.why or "The answer says what was expected."}
    if re.search(r"https?://\S*(?:pullrequests?|pull|merge_requests)/\d+", answer):
        return {"satisfied": 1, "reason": "The answer gives a pull request."}
    if re.search(r"\b(?:can ?not|can't|won't|will not|unable|refuse)\b", answer, re.IGNORECASE):
        return {"satisfied": 0, "reason": "The answer refuses."}
    if answer.rstrip().endswith("?"):
        return {"satisfied": 0, "reason": "The answer asks back, so the goal is still open."}
    share = overlap(wanted, content_stems(answer))
    return {"satisfied": int(share >= 0.5), "reason": f"The answer covers {share:.0%} of the goal's words."}


def _assistant_words(answer: str) -> str:
    """The assistant's part of a transcript (paragraphs that begin with a speaker), or the whole of a plain answer."""
    turns = re.split(r"^(Developer|Assistant|Tool call|Tool result): ", answer, flags=re.MULTILINE)
    said = [text for speaker, text in zip(turns[1::2], turns[2::2], strict=True) if speaker == "Assistant"]
    return "\n".join(said) if len(turns) > 1 else answer


def _semantic(order: Mapping[str, Any]) -> dict[str, Any]:
    answer, expected = _text(order, "answer"), _text(order, "expected")
    wanted, given = content_stems(expected), content_stems(answer)
    # What was expected and is missing weighs more than what was said on top.
    share = 0.75 * overlap(wanted, given) + 0.25 * overlap(given, wanted)
    score = min(4, int(share * 4 + 0.5))
    missing = _missing_names(expected, answer)
    if missing:
        return {"score": min(score, 1), "reason": f"{missing[0]} is not mentioned."}
    if score > 1 and _negated(expected) != _negated(answer):
        return {"score": 1, "reason": "One of the two is negated."}
    return {"score": score, "reason": f"{share:.0%} of the words agree."}


def _text(order: Mapping[str, Any], key: str) -> str:
    value = order.get(key)
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


_TASKS = {"rubric": _rubric, "groundedness": _groundedness, "goal": _goal, "semantic": _semantic}
