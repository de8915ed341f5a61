"""Text as the numbers that BERT's uncased models read: WordPiece over their vocabulary.

The vocabulary (`vocabulary.txt.gz`, one token a line) is that of `bert-base-uncased`, published under Apache-2.0, which
all-MiniLM-L6-v2 was made with. The usual library for this brings fourteen packages along; the algorithm is a page.
"""

from __future__ import annotations

import functools
import gzip
import unicodedata
from collections.abc import Iterator
from pathlib import Path

MAX_TOKENS = 256
"""The model was made for texts of this length; what comes after is not read."""

_UNKNOWN, _BEGIN, _END = 100, 101, 102
_LONGEST_WORD = 100


def token_ids(text: str) -> list[int]:
    """The ids of a text's tokens, between the marks of beginning and end, at most MAX_TOKENS."""
    ids = [_BEGIN]
    for word in _words(text):
        ids += _pieces(word)
        if len(ids) >= MAX_TOKENS:
            break
    return [*ids[: MAX_TOKENS - 1], _END]


@functools.cache
def _vocabulary() -> dict[str, int]:
    path = Path(__file__).with_name("vocabulary.txt.gz")
    tokens = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    return {token: number for number, token in enumerate(tokens)}


def _words(text: str) -> Iterator[str]:
    """Lower-case words without accents; each punctuation mark and each ideograph is a word of its own."""
    plain = unicodedata.normalize("NFD", text.lower())
    word = ""
    for char in plain:
        category = unicodedata.category(char)
        if category in ("Mn", "Cf", "Co", "Cs") or (category == "Cc" and char not in "\t\n\r") or char == "\ufffd":
            continue
        if char.isspace() or category == "Zs":
            if word:
                yield word
            word = ""
        elif _stands_alone(char, category):
            if word:
                yield word
            word = ""
            yield char
        else:
            word += char
    if word:
        yield word


def _stands_alone(char: str, category: str) -> bool:
    if category.startswith("P") or (char.isascii() and not char.isalnum()):
        return True
    code = ord(char)
    return (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x2CEAF
    )


def _pieces(word: str) -> list[int]:
    """The longest known beginning, then the longest known continuation, and so on; one unknown part: all unknown."""
    if len(word) > _LONGEST_WORD:
        return [_UNKNOWN]
    vocabulary = _vocabulary()
    ids: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                ids.append(number)
                start = end
                break
        else:
            return [_UNKNOWN]
    return ids
