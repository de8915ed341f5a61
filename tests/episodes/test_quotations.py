"""What counts as a quotation of a text, and as enough of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.quotations import long_enough, same_words, stands_in

ANSWER = """The deployment creates:

1. a **virtual network**
2. subnets (10.0.0.0/24)

It does *not* create a firewall. Ask the hub team. Costs are billed monthly."""


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("a virtual network", True),
        ("It does not create a firewall.", True),
        ("it DOES  not\ncreate", True),
        ("a virtual network subnets (10.0.0.0/24)", True),
        ("It does not create a firewall … billed monthly", True),
        ("It does not create a firewall. Costs are billed monthly.", True),
        ("billed monthly … a firewall", False),
        ("It does create a firewall", False),
        ("subnets (10.0.0.0/25)", False),
        ("virtual networks", False),
        ("", False),
        ("…", False),
        ("**", False),
    ],
)
def test_a_quotation_counts_only_when_its_words_stand_there(quotation: str, expected: bool) -> None:
    assert stands_in(quotation, ANSWER) is expected


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("not create a", True),
        ("10.0.0.0/24", True),
        ("not … create a firewall", True),
        ("Virtual Network", False),
        ("the", False),
        ("a … not … firewall", False),
        ("", False),
        # A whole sentence or line may be as short as it is.
        ("Agreed!", True),
        ("firewall: none", True),
        ("none", False),
    ],
)
def test_a_quotation_is_evidence_from_three_words_in_a_row_or_as_a_whole_sentence(
    quotation: str, expected: bool
) -> None:
    assert long_enough(quotation, f"{ANSWER}\n\nIs that so? Agreed. Thanks a lot.\n- Firewall: none\n") is expected


@given(st.lists(st.sampled_from(["one", "two", "Drei", "4", "fünf"]), min_size=1, max_size=8), st.data())
def test_every_run_of_words_of_a_text_stands_in_it(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert stands_in(" ".join(words[start:end]), ", ".join(words))


@pytest.mark.parametrize(("left", "right", "same"), [("Names the A.", "names  the a", True), ("a b", "b a", False)])
def test_criteria_are_compared_by_their_words(left: str, right: str, same: bool) -> None:
    assert same_words(left, right) is same


def test_a_long_text_is_searched_quickly_and_completely() -> None:
    text = "word " * 50_000 + "needle in the hay"
    assert stands_in("needle in the hay", text)
    assert not stands_in("needle in a hay", text)
