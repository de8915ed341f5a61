"""WordPiece as BERT's uncased models read it. The expected ids were taken from the reference implementation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions.golden.word_pieces import MAX_TOKENS, token_ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello, world!", [101, 7592, 1010, 2088, 999, 102]),
        ("Pull-Request über Größe café", [101, 4139, 1011, 5227, 19169, 24665, 2080, 17499, 7668, 102]),
        (
            "10.64.26.0/24 & CC-4104",
            [101, 2184, 1012, 4185, 1012, 2656, 1012, 1014, 1013, 2484, 1004, 10507, 1011, 19151, 2549, 102],
        ),
        ("请看 pull request 5。", [101, 100, 100, 4139, 5227, 1019, 1636, 102]),
        ("na\u00efve \ufb01 \u2460", [101, 15743, 1984, 100, 102]),
        ("\U0001f642 ok", [101, 100, 7929, 102]),
        ("zero\u200bwidth\xa0space\ttab", [101, 5717, 9148, 11927, 2232, 2686, 21628, 102]),
        ("x" * 101, [101, 100, 102]),
        ("", [101, 102]),
        ("unaffable embeddings", [101, 14477, 20961, 3468, 7861, 8270, 4667, 2015, 102]),
        ("\u0130stanbul \u00df", [101, 9960, 1096, 102]),
        ("a_b`c^d~e", [101, 1037, 1035, 1038, 1036, 1039, 1034, 1040, 1066, 1041, 102]),
    ],
)
def test_the_ids_are_those_of_the_reference(text: str, ids: list[int]) -> None:
    assert token_ids(text) == ids


def test_a_long_text_is_cut_where_the_model_stops_reading() -> None:
    ids = token_ids("word " * 1000)
    assert len(ids) == MAX_TOKENS
    assert (ids[0], ids[-1]) == (101, 102)


@given(st.text(max_size=200))
def test_every_text_becomes_known_numbers(text: str) -> None:
    ids = token_ids(text)
    assert (ids[0], ids[-1]) == (101, 102)
    assert all(0 <= number < 30_522 for number in ids)
