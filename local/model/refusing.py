"""Turning a request down: with the rule from the documents, the reason, and what is possible instead."""

from __future__ import annotations

from .blocked import Blocked
from .evidence import READ, SEARCH
from .injections import find_injections, without_orders
from .protocol import Call, Reply
from .reporting import mentions
from .situation import Situation
from .words import content_stems, overlap, sentences


def refuse(situation: Situation, blocked: list[Blocked]) -> Reply:
    """Look the rule up once, then refuse. A developer who insists gets the same answer."""
    queries = [item.query for item in blocked]
    searches = [Call(SEARCH, {"query": query}) for query in queries if situation.evidence.hits(query) is None]
    reply = situation.call(*searches)
    if reply is not None:
        return reply
    pages = [page for query in queries if (page := best_page(situation, query)) is not None]
    reads = [Call(READ, {"id": page}) for page in dict.fromkeys(pages) if situation.evidence.page(page) is None]
    reply = situation.call(*reads)
    return reply if reply is not None else Reply(_text(situation, blocked))


def best_page(situation: Situation, query: str) -> str | None:
    """The page whose title and excerpt fit a query best; the search's own order decides between equals."""
    hits = situation.evidence.hits(query) or []
    wanted = content_stems(query)
    scored = [
        (
            overlap(wanted, content_stems(str(hit.get("title"))))
            + overlap(wanted, content_stems(str(hit.get("excerpt")))),
            -index,
            str(hit.get("id")),
        )
        for index, hit in enumerate(hits)
    ]
    return max(scored)[2] if scored else None


def _text(situation: Situation, blocked: list[Blocked]) -> str:
    lines: list[str] = []
    for item in blocked:
        lines.append(f"I can not do this: {item.reason}.")
        quoted = _rule(situation, item)
        if quoted:
            lines.append(quoted)
        lines.append(item.instead)
    lines.append("No pull request was opened.")
    lines += mentions(find_injections(situation.evidence))
    return "\n".join(lines)


def _rule(situation: Situation, item: Blocked) -> str:
    """The sentence of the document that states the rule, with the page's title."""
    page_id = best_page(situation, item.query)
    page = situation.evidence.page(page_id) if page_id is not None else None
    if page is None:
        return ""
    title, text = page
    wanted = content_stems(f"{item.query} {item.reason} {item.quote}")
    text = without_orders(text)
    paragraphs = [
        " ".join(part.split()).replace("**", "")
        for part in text.split("\n\n")
        if "|" not in part and not part.lstrip().startswith("```")
    ]
    rules = [sentence for part in paragraphs for sentence in sentences(part)]
    best = max(rules, key=lambda rule: _fit(wanted, rule), default="")
    return f'The page "{title}" says: {best.removeprefix("- ")}' if best else ""


def _fit(wanted: list[str], rule: str) -> float:
    found = set(content_stems(rule))
    return len(found & set(wanted)) / (6 + len(found))
