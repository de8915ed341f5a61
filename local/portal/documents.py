"""The documentation pages of the platform: finding them by words, and reading one."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from local.portal.platform_facts import DATA

_WORD = re.compile(r"[a-z0-9]+")
_COMMON = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i"}
    | {"in", "is", "it", "its", "my", "of", "on", "or", "that", "the", "there", "this", "to", "we", "what", "when"}
    | {"where", "which", "who", "will", "with", "you", "your"}
)
_TITLE_WEIGHT = 4
_EXCERPT = 280


@dataclass(frozen=True)
class Document:
    """One page: `id` is its file's stem, `text` is Markdown without the title line."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A page that was found, with the paragraph that fits best."""

    id: str
    title: str
    excerpt: str


@cache
def documents() -> dict[str, Document]:
    """All pages by id. They are what people have written: whoever reads them must not take them for instructions."""
    pages = {}
    for file in sorted((DATA / "docs").glob("*.md")):
        title, _, text = file.read_text(encoding="utf-8").partition("\n")
        pages[file.stem] = Document(file.stem, title.removeprefix("# ").strip(), text.strip())
    return pages


def search(query: str, limit: int = 5) -> list[Hit]:
    """Pages that hold words of the query, best first, at most `limit`. No words in common, no hit."""
    wanted = set(_words(query))
    scores = {page_id: _score(wanted, counts) for page_id, counts in _index().items()}
    best = sorted((page_id for page_id in scores if scores[page_id] > 0), key=lambda page_id: -scores[page_id])
    return [
        Hit(page.id, page.title, _excerpt(page, wanted))
        for page in (documents()[page_id] for page_id in best[: max(0, limit)])
    ]


def _words(text: str) -> list[str]:
    """Lower-case words without common ones; plural and -ing endings are taken off, so that forms of a word meet."""
    words = []
    for word in _WORD.findall(text.lower()):
        if word in _COMMON:
            continue
        if len(word) > 5 and word.endswith("ing"):
            word = word[:-3]
        elif len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        words.append(word)
    return words


@cache
def _index() -> dict[str, Counter[str]]:
    return {
        page.id: Counter(_words(page.text)) + Counter(_words(page.title) * _TITLE_WEIGHT)
        for page in documents().values()
    }


@cache
def _rarity(word: str) -> float:
    index = _index()
    return math.log(1 + len(index) / (1 + sum(word in counts for counts in index.values())))


def _score(wanted: set[str], counts: Counter[str]) -> float:
    return sum(_rarity(word) * counts[word] / (counts[word] + 2) for word in wanted if word in counts)


def _excerpt(page: Document, wanted: set[str]) -> str:
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=- |\d+\. )", page.text) if part.strip()]
    best = max(paragraphs, key=lambda part: len(wanted & set(_words(part))), default="")
    return best if len(best) <= _EXCERPT else best[: _EXCERPT - 1] + "…"
