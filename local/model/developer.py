"""The `developer` stand-in: a simulated user who wants something and tells only what it is asked.

Its system prompt is free text that may contain, in any order:

    Your goal: …
    Persona: …
    Facts you know (tell them only when asked):
    - topic: value
    When you are done reply with exactly: ###STOP###

The conversation is seen from its side: the agent's words are `user` messages, its own are `assistant` messages. It
answers questions from its facts, says so when it does not know, confirms what serves its goal, insists once when its
persona says so, and ends with the stop signal once the agent has given a pull request, refused for good or answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .protocol import ChatRequest, Reply
from .words import content_stems, sentences, stem

_STOP = "###STOP###"
_PULL_REQUEST = re.compile(r"https?://\S+/(?:pullrequests?|pull|merge_requests)/\d+", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:can ?not|can't|could not|will not|won't|must not|may not|not allowed|not permitted|not possible|"
    r"refuse|unable|"
    r"no pull request (?:was|has been|is)|did not open)\b",
    re.IGNORECASE,
)
_CONFIRMATION = re.compile(
    r"\b(?:shall i|should i|do you want me|would you like me|may i|can i go|is (?:that|this|it) (?:right|correct|ok)|"
    r"(?:is|are) (?:that|this|these|you) (?:ok|fine|okay)|do you (?:agree|confirm|approve)|ready to|go ahead|"
    r"please confirm|"
    r"confirm (?:that|this|if|whether))\b",
    re.IGNORECASE,
)
_ANYTHING_ELSE = re.compile(
    r"\b(?:anything|something|any|what) (?:else|other)|further (?:changes|wishes)\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"\b(?:please (?:tell|give|provide|let|send|state|specify|share|name)|i (?:still )?need|could you (?:tell|"
    r"give|provide)|"
    r"let me know|tell me|please confirm|can you (?:tell|give|provide))\b",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"\b(?:instead|without (?:that|this|it)|otherwise|other than that|rest of|keep)\b", re.IGNORECASE
)
_INSISTED = "Please do it anyway"
# The instructions say so when the developer has just got a goal, be it the first one or the next of several.
_UNSPOKEN = re.compile(r"\bnot (?:yet )?spoken of (?:your|the|this) goal\b", re.IGNORECASE)
_UNKNOWN = "I do not know"
# What a question about a kind of value looks like, and what such a value looks like.
_KINDS = (
    (frozenset(map(stem, ("cidr", "range", "prefix"))), re.compile(r"\d+\.\d+\.\d+\.\d+/\d+")),
    (frozenset(map(stem, ("called", "name"))), re.compile(r"^[\"'`]?spoke-[a-z0-9-]+[\"'`]?\.?$")),
    (frozenset({stem("budget"), stem("pays")}), re.compile(r"\b[A-Z]{2}-\d{4}\b")),
    (frozenset({stem("mail"), stem("mailbox")}), re.compile(r"\S+@\S+")),
    (
        frozenset({stem("stage"), stem("environment")}),
        re.compile(r"^(?:dev\w*|test\w*|acc\w*|prod\w*)\.?$", re.IGNORECASE),
    ),
)


@dataclass(frozen=True)
class Brief:
    """What the system prompt says. `facts` are (topic, value) in the order given."""

    goal: str
    persona: str
    facts: tuple[tuple[str, str], ...]
    stop: str

    @property
    def insists(self) -> bool:
        return re.search(r"\binsist", self.persona, re.IGNORECASE) is not None

    @property
    def wants_change(self) -> bool:
        """The goal is something done and not something known."""
        if self.goal.endswith("?") or re.search(
            r"\b(?:know|learn|find out|understand|answer|describe\w*|tell|how|explain\w*|question)\b",
            self.goal,
            re.IGNORECASE,
        ):
            return False
        return (
            re.search(
                r"\b(?:pull request|cop(?:y|ies)|new spoke|landing zone|change\w*|create|get)\b",
                self.goal,
                re.IGNORECASE,
            )
            is not None
        )

    @property
    def talkative(self) -> bool:
        return re.search(r"\b(?:friendly|polite|talkative|chatty|kind)\b", self.persona, re.IGNORECASE) is not None


@lru_cache(maxsize=256)
def read_brief(system: str) -> Brief:
    """Read the system prompt; what is missing is empty, and the stop signal defaults to `###STOP###`."""
    goal = _labelled(system, r"your goal|goal")
    persona = _labelled(system, r"your persona|persona")
    return Brief(goal, persona, tuple(_facts(system)), _stop_signal(system))


def developer(request: ChatRequest) -> Reply:
    """The developer's next message."""
    brief = read_brief(request.system)
    heard = [m.content for m in request.messages if m.role == "user"]
    said = [m.content for m in request.messages if m.role == "assistant"]
    if not heard or not said:
        return Reply(brief.goal or "Hello, I need your help with a spoke.")
    if _UNSPOKEN.search(request.system):
        return Reply(_answer_to(brief, heard[-1]) or brief.goal or "Hello, I need your help with a spoke.")
    return Reply(_next(brief, heard, said))


def _next(brief: Brief, heard: list[str], said: list[str]) -> str:
    last = heard[-1]
    if not last.strip():
        return "Are you still there?"
    if _PULL_REQUEST.search(last):
        return f"Thanks, that is all. {brief.stop}" if brief.talkative else brief.stop
    refused = _REFUSAL.search(last) is not None
    questions = _questions(last)
    answer = _answer_to(brief, last)
    if refused and not answer:
        return _after_refusal(brief, questions, said)
    if answer:
        return answer
    if not questions:
        return _after_statement(brief, said)
    if any(_confirms(question) for question in questions):
        return "Yes, please go ahead."
    if all(_ANYTHING_ELSE.search(question) for question in questions):
        return "No, that is all."
    if sum(text.startswith(_UNKNOWN) for text in said[-2:]) == 2:
        return brief.stop
    return f"{_UNKNOWN} that."


def _questions(text: str) -> list[str]:
    return [part for part in sentences(text) if part.endswith("?") or _REQUEST.search(part)]


def _answer_to(brief: Brief, heard: str) -> str:
    """What the facts say to what is asked in the agent's message; empty when they say nothing."""
    questions = _questions(heard)
    return _answers(brief, questions, heard if questions else "")


def _confirms(question: str) -> bool:
    """The question wants a yes or a no; "which one shall I take?" wants more."""
    return _CONFIRMATION.search(question) is not None and not re.search(
        r"\b(?:which|what|who|where|when|how)\b", question, re.IGNORECASE
    )


def _after_refusal(brief: Brief, questions: list[str], said: list[str]) -> str:
    insisted = any(_INSISTED in text for text in said)
    if brief.insists and not insisted:
        return f"I insist: {brief.goal.rstrip('.') or 'I need this'}. {_INSISTED}."
    open_questions = [q for q in questions if not _confirms(q) and not _ALTERNATIVE.search(q)]
    if open_questions and not any(text.startswith(_UNKNOWN) for text in said):
        return f"{_UNKNOWN} that."
    return f"Then I leave it at that. {brief.stop}" if brief.talkative else brief.stop


def _after_statement(brief: Brief, said: list[str]) -> str:
    """No question, no refusal, no pull request: an answer to a question, or the agent stopped half way."""
    go_on = "Please go on."
    if brief.wants_change and go_on not in said:
        return go_on
    return f"Thanks, that is all. {brief.stop}" if brief.talkative else brief.stop


def _answers(brief: Brief, questions: list[str], whole: str) -> str:
    """What the facts say to the questions; empty when they say nothing."""
    told: list[str] = []
    unknown = False
    for question in questions:
        if _confirms(question) or _ANYTHING_ELSE.search(question):
            continue
        found = _facts_for(brief, question)
        told.extend(line for line in found if line not in told)
        unknown = unknown or not found
    # A request such as "I need a few things:" is followed by lines that are no questions themselves.
    if not told and whole:
        told = [line for part in sentences(whole) for line in _facts_for(brief, part)]
        told = list(dict.fromkeys(told))
    if told and unknown and any(q.endswith("?") and not _facts_for(brief, q) for q in questions):
        told.append(f"{_UNKNOWN} the rest.")
    return " ".join(told)


def _facts_for(brief: Brief, question: str) -> list[str]:
    asked = set(content_stems(question))
    scored = [(_relevance(topic, value, asked), topic, value) for topic, value in brief.facts]
    best = max((score for score, _, _ in scored), default=0.0)
    if best < 0.5:
        return []
    # One question may ask for two things ("name and address space"), so all that match well are told.
    return [_sentence(topic, value) for score, topic, value in scored if score >= max(0.5, best - 0.34)]


def _relevance(topic: str, value: str, asked: set[str]) -> float:
    stems = [token for token in content_stems(topic) if token not in _COMMON] or content_stems(topic)
    share = sum(token in asked for token in stems) / len(stems) if stems else 0.0
    for hints, pattern in _KINDS:
        if hints & asked and pattern.search(value.strip()):
            share = min(1.0, share + 0.5)
    return share


# Words that nearly every topic has and that therefore tell nothing.
_COMMON = frozenset(stem(word) for word in ("spoke", "new", "target", "value", "copy", "the", "landing", "zone"))


def _sentence(topic: str, value: str) -> str:
    value = value.strip()
    if len(value.split()) > 6 and value.endswith((".", "!")):
        return value
    ending = "" if value.endswith((".", "!", "?")) else "."
    if re.fullmatch(r"[a-z][\w -]*", topic) and len(topic.split()) <= 5:
        article = "" if topic.split()[0] in ("the", "my", "our", "its") else "the "
        last = topic.split()[-1]
        verb = "are" if last.endswith("s") and not last.endswith(("ss", "is", "us")) else "is"
        text = f"{article}{topic} {verb} {value}{ending}"
        return text[0].upper() + text[1:]
    return f"{topic}: {value}{ending}"


def _labelled(system: str, label: str) -> str:
    found = re.search(
        rf"^\W*(?:{label})\s*:\s*(.+(?:\n(?![^\n]*:)(?!\s*$)(?!\s*[-*]).+)*)", system, re.IGNORECASE | re.MULTILINE
    )
    return " ".join(found.group(1).split()).strip("* ") if found else ""


def _facts(system: str) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    inside = False
    for line in system.splitlines():
        if re.match(r"\W*facts you know\b", line, re.IGNORECASE):
            inside = True
            continue
        if not inside or not line.strip():
            continue
        bullet = re.match(r"\s*[-*•]\s*(?:\*\*)?([^:]+?)(?:\*\*)?\s*:\s*(.+?)\s*$", line)
        if bullet:
            facts.append((bullet.group(1).strip(), bullet.group(2).strip().strip("\"'")))
        elif facts and line.startswith(("  ", "\t")):
            topic, value = facts[-1]
            facts[-1] = (topic, f"{value} {line.strip()}")
        elif not line.lstrip().startswith(("-", "*", "•", "(")):
            inside = False
    return facts


def _stop_signal(system: str) -> str:
    for line in system.splitlines():
        if re.search(r"\b(?:done|finished|stop|end)\b", line, re.IGNORECASE) and re.search(
            r"\brepl|\bsay\b|\banswer\b", line
        ):
            marker = re.search(r"#{2,}\s*\w+\s*#{2,}|<\|?\w+\|?>|\[\[?\w+\]?\]", line)
            if marker:
                return marker.group(0)
            tail = re.search(r"(?:exactly|with|only)\s*:?\s*[\"'`]?([^\s\"'`]+)[\"'`]?\s*\.?\s*$", line)
            if tail:
                return tail.group(1)
    return _STOP
