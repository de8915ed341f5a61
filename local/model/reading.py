"""A text taken apart: sentences, segments, words with their places, and the values between them.

A segment is what stands between commas, semicolons and joining words. How much a word has to do with a value is a
matter of how many such borders, and how many other values, lie between the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .values import Value, find_values
from .words import STOP_WORDS, plain, split_name, stem

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'`(*-]*[A-Z0-9])|\n+")
_BORDER = re.compile(
    r",\s+|;\s*|\s[-\u2013\u2014]\s|\s\(|\)\s|"
    r"\b(?:and|but|plus|while|whereas|then|with|where|whose|as well as|except that|so that|because|since)\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|approx|incl|no|vs|resp)\.$", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?(?:-[A-Za-z]+)*|\d+")


@dataclass(frozen=True)
class Token:
    """A word that carries meaning: its stem, with synonyms folded and plain, and where it stands."""

    stem: str
    plain: str
    raw: str
    start: int
    end: int
    segment: int


@dataclass(frozen=True)
class Segment:
    start: int
    end: int
    sentence: int


@dataclass(frozen=True)
class Reading:
    """One message of the developer, taken apart."""

    text: str
    segments: tuple[Segment, ...]
    tokens: tuple[Token, ...]
    values: tuple[Value, ...]

    def segment_at(self, position: int) -> int:
        """The number of the segment that a place lies in."""
        for number, segment in enumerate(self.segments):
            if position < segment.end:
                return number
        return max(0, len(self.segments) - 1)

    @cached_property
    def value_segments(self) -> tuple[int, ...]:
        """The segments that hold a value of a clear form."""
        return tuple(self.segment_at(value.start) for value in self.values if value.kind not in ("proper", "label"))

    def nearness(self, token: Token, segment: int) -> float:
        """How much a word has to do with something in `segment`: 1 within it, less with every border between."""
        if token.segment == segment:
            return 1.0
        here, there = self.segments[token.segment], self.segments[segment]
        if here.sentence != there.sentence:
            # Only the sentence just before can still be the subject ("Log retention? Make it 60 days.").
            if there.sentence - here.sentence != 1:
                return 0.0
            return 0.08 if self._speaks(there.sentence) else 0.35
        low, high = sorted((token.segment, segment))
        weight: float = 0.45 ** (high - low)
        if any(low <= other <= high and other != segment for other in self.value_segments):
            weight *= 0.4
        return weight

    def _speaks(self, sentence: int) -> bool:
        """True when a sentence has words enough to say by itself what it is about."""
        return sum(self.segments[token.segment].sentence == sentence for token in self.tokens) > 1

    def sentence_text(self, sentence: int) -> str:
        """The text of one sentence."""
        parts = [segment for segment in self.segments if segment.sentence == sentence]
        return self.text[parts[0].start : parts[-1].end] if parts else ""

    def segment_text(self, number: int) -> str:
        segment = self.segments[number]
        return self.text[segment.start : segment.end]


@lru_cache(maxsize=2_000)
def read(text: str) -> Reading:
    """Take a text apart."""
    values = find_values(text)
    segments = tuple(_segments(text, values))
    tokens: list[Token] = []
    for number, segment in enumerate(segments):
        for match in _WORD.finditer(text, segment.start, segment.end):
            inside = next(
                (
                    v
                    for v in values
                    if v.kind not in ("quoted", "proper") and v.start < match.end() and match.start() < v.end
                ),
                None,
            )
            # Words inside a value are part of it, but a label such as `snet-orders` is also made of words.
            if inside is not None and inside.kind not in ("label", "amount"):
                continue
            for part in re.findall(r"[A-Za-z]+(?:'[a-z]+)?|\d+", split_name(match.group())):
                if part.lower() not in STOP_WORDS and not part.isdigit():
                    tokens.append(Token(stem(part), plain(part), part.lower(), match.start(), match.end(), number))
    return Reading(text, segments, tuple(tokens), values)


def _segments(text: str, values: tuple[Value, ...]) -> list[Segment]:
    segments: list[Segment] = []
    start, sentence = 0, 0
    inside = [(value.start, value.end) for value in values if value.kind != "proper"]
    cuts: list[tuple[int, int, bool]] = []
    for match in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[: match.start()]):
            cuts.append((match.start(), match.end(), True))
    for match in _BORDER.finditer(text):
        if not any(low < match.end() and match.start() < high for low, high in inside):
            cuts.append((match.start(), match.end(), False))
    for low, high, ends in sorted(cuts):
        if low < start:
            # A border inside another one (", and"); it may still end a sentence.
            sentence += ends
            start = max(start, high)
            continue
        if text[start:low].strip():
            segments.append(Segment(start, low, sentence))
        start = high
        sentence += ends
    if text[start:].strip() or not segments:
        segments.append(Segment(start, len(text), sentence))
    return segments
