"""Does what a judge quotes really stand there? A quotation that does not is no evidence."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+", re.UNICODE)
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+", re.MULTILINE)
_GAP = re.compile(r"\.\.\.|…|(?<=[.!?:;])\s+|\n")
_SENTENCE = re.compile(r"\.\.\.|…|(?<=[.!?])\s+|\n")

FEWEST_WORDS = 3
"""Words in a row that a quotation needs, unless it is a whole sentence or line."""


def stands_in(quotation: str, text: str) -> bool:
    """Whether `quotation` stands in `text`, word for word.

    Case, white space, punctuation and markup (the numbers of a list included) make no difference; words and numbers do.
    Something may be left out at an ellipsis and between sentences, but the pieces must follow each other. A quotation
    without any word stands nowhere.
    """
    words = _words(text)
    at = 0
    pieces = [piece for piece in map(_words, _GAP.split(quotation)) if piece]
    for piece in pieces:
        found = _find(piece, words, at)
        if found is None:
            return False
        at = found + len(piece)
    return bool(pieces)


def long_enough(quotation: str, text: str) -> bool:
    """Whether `quotation` says enough to be evidence: FEWEST_WORDS words in a row, or a whole sentence of `text`.

    A line is a sentence, too. One common word stands in nearly every text, and shows nothing.
    """
    if any(len(_words(piece)) >= FEWEST_WORDS for piece in _SENTENCE.split(quotation)):
        return True
    words = _words(quotation)
    return bool(words) and any(_words(piece) == words for piece in _SENTENCE.split(text))


def same_words(left: str, right: str) -> bool:
    """Whether two texts have the same words in the same order."""
    return _words(left) == _words(right)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", _MARKER.sub("", text)).casefold())


def _find(piece: list[str], words: list[str], start: int) -> int | None:
    for at in range(start, len(words) - len(piece) + 1):
        if words[at] == piece[0] and words[at : at + len(piece)] == piece:
            return at
    return None
