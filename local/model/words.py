"""Words as the stand-ins compare them: split, stemmed, without stop words, with near synonyms folded together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def word_list(text: str) -> list[str]:
    """The words of a text, for lists that are too long to be written with quotation marks."""
    return text.split()


STOP_WORDS = frozenset(
    word_list("""
    a about above after again all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing done down during each either else ever every few for from further
    get gets give given go goes going got had has have having he hello her here hers hi him his how i if in into
    is it its itself just kind kindly let like make makes made many may me might mine more most much must my
    need needs new no nor not now of off on once one only onto or other our ours out over own per please same
    shall she should so some such than thank thanks that the their theirs them then there these they thing
    things this those through to too under until up upon us use uses used using very want wants was we well were
    what when where whether which while who whom whose why will wish with within without would yes yet you your
    yours he'd i'd i'll i'm it's let's that's there's we'd we'll we're you're don't doesn't won't can't isn't
    aren't shouldn't
    """)
)

# Groups of words that people use for one another in this trade. The first one stands for all.
_SYNONYMS = """
    retain retention keep kept store stored hold held preserve
    log logs logging record records
    mail e-mail email emails mailbox
    cost budget charge bill invoice pay pays paid spend finance
    team group squad crew
    maintain maintenance
    delete remove drop strip erase purge
    enable activate
    disable deactivate
    alert alerts alarm warning notification notify
    day days daily
    hour hours hourly
    begin start begins starts
    last duration lasts long length
    classify classification classified sensitivity sensitive
    forward forwarded forwarding
    propagate propagation propagated
    gateway gateways
    resolve resolver resolution
    copy clone duplicate replica
    validate validation validated check checked
    approve approval approver reviewer
    network networks vnet
    firewall appliance
    permit allow allowed allows
    forbid deny denied block blocked
    person people
    snapshot backup backups
    label tag tags
    region location datacenter datacentre
    centre center
""".strip()


def split_name(name: str) -> str:
    """`logRetentionDays` -> `log Retention Days`; other separators become spaces too."""
    return re.sub(r"[_\-./]+", " ", _CAMEL.sub(" ", name))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a word: a light suffix stripper, then the synonym table."""
    word = word.lower().replace("'s", "").replace("'", "")
    return _FOLDED.get(word) or _FOLDED.get(strip(word)) or strip(word)


def plain(word: str) -> str:
    """The stem without synonyms: what two spellings of the same word share."""
    word = word.lower().replace("'s", "").replace("'", "")
    return strip(_SPELLINGS.get(word, word))


_SPELLINGS = {
    "centre": "center",
    "mail": "email",
    "mails": "email",
    "organisation": "organization",
    "programme": "program",
}


def strip(word: str) -> str:
    """Take off the usual English endings, never leaving fewer than three letters."""
    if word.isdigit() or len(word) <= 3:
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


_ENDINGS = (
    ("isations", "is"),
    ("izations", "iz"),
    ("isation", "is"),
    ("ization", "iz"),
    ("ations", "at"),
    ("ation", "at"),
    ("nesses", ""),
    ("ments", ""),
    ("ness", ""),
    ("ment", ""),
    ("ingly", ""),
    ("sses", "ss"),
    ("ions", ""),
    ("ings", ""),
    ("ing", ""),
    ("ion", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ers", ""),
    ("ely", ""),
    ("ed", ""),
    ("er", ""),
    ("ly", ""),
    ("es", "e"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)


def _folded() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _SYNONYMS.splitlines():
        first, *others = line.split()
        for word in (first, *others):
            table[word] = table[strip(word)] = strip(first)
    return table


_FOLDED = _folded()


def content_stems(text: str) -> list[str]:
    """The stems of all words that carry meaning, in order, numbers included."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def plain_stems(text: str) -> list[str]:
    """Like `content_stems`, without synonyms."""
    return [plain(word) for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """Lower-case words and numbers, camel case split."""
    return [match.lower() for match in _WORD.findall(split_name(text) if _has_camel(text) else text)]


def _has_camel(text: str) -> bool:
    return _CAMEL.search(text) is not None


def overlap(wanted: Iterable[str], found: Iterable[str]) -> float:
    """The share of `wanted` stems that are among the `found` ones (0 when nothing is wanted)."""
    asked = set(wanted)
    return len(asked & set(found)) / len(asked) if asked else 0.0


def sentences(text: str) -> list[str]:
    """Split prose and lists into sentences; dots inside numbers, addresses and file names do not end one."""
    parts: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", line).strip()
        parts.extend(piece.strip() for piece in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'`(\d*_-])", line) if piece.strip())
    return parts
