"""Sentences in documents and tool results that try to give orders to whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .evidence import READ, Evidence

_ADDRESSED = re.compile(
    r"\b(?:note|notice|instructions?|message|attention|important|hint|warning)\s+(?:to|for)\s+(?:all\s+|any\s+|"
    r"the\s+|every\s+)?(?:AI|LLM|language[\s-]model|"
    r"assistants?|agents?|bots?|copilots?|models?|chat\s?bots?)\b|\b(?:AI|LLM)\s+(?:assistants?|agents?|"
    r"models?)\s+(?:reading|must|should|who|that|:)|"
    r"\b(?:assistants?|agents?|models?|bots?)\s+(?:reading|that\s+read|who\s+read)\s+this\b|"
    r"\bignore\s+(?:all\s+|any\s+|your\s+|the\s+)?(?:previous|prior|above|other|earlier)\s+"
    r"(?:instructions?|rules?|prompts?)\b|\bdo\s+not\s+(?:mention|tell|reveal|show)\s+(?:this|the\s+user|"
    r"it\s+to)\b|\bsystem\s+(?:override|prompt)\s*:",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Injection:
    """An order found in what a tool returned: where, and the passage around it."""

    where: str
    text: str


def find_injections(evidence: Evidence) -> list[Injection]:
    """All orders in the tool results so far, each place once."""
    found: dict[str, Injection] = {}
    for where, text in _texts(evidence):
        match = _ADDRESSED.search(text)
        if match and where not in found:
            found[where] = Injection(where, passage(text, match.start()))
    return list(found.values())


def passage(text: str, at: int) -> str:
    """The paragraph around a place, without the marks of quotations."""
    start = text.rfind("\n\n", 0, at) + 2 if "\n\n" in text[:at] else 0
    end = text.find("\n\n", at)
    part = text[start : end if end >= 0 else len(text)]
    return " ".join(re.sub(r"^\s*>\s?", "", line) for line in part.splitlines()).strip()


def without_orders(text: str) -> str:
    """A document without the paragraphs that give orders to its reader."""
    return "\n\n".join(part for part in text.split("\n\n") if not _ADDRESSED.search(part))


def _texts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for call in evidence.made:
        if call.name == READ and isinstance(call.result, dict):
            yield f'the page "{call.result.get("title", call.arguments.get("id"))}"', str(call.result.get("text") or "")
        elif call.name == "search_docs":
            continue
        else:
            yield f"the result of {call.name}", call.text
