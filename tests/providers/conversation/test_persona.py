"""Personas: ready-made ones by name, changed ones, and ones in the case's own words."""

from typing import Any

import pytest

from providers.agent_protocol import ConfigurationProblem
from providers.conversation.persona import Persona, read_persona


def test_a_case_without_a_persona_gets_the_plain_developer() -> None:
    assert read_persona(None) == read_persona("plain")


def test_a_ready_made_persona_can_be_changed_in_one_trait() -> None:
    changed = read_persona({"like": "newcomer", "language": "Dutch"})
    newcomer = read_persona("newcomer")
    assert changed.language == "Dutch"
    assert (changed.personality, changed.patience) == (newcomer.personality, newcomer.patience)


def test_words_that_name_no_ready_made_persona_are_the_description() -> None:
    assert read_persona("a tester\nwho doubts everything") == Persona(personality="a tester who doubts everything")


def test_all_traits_are_in_the_prose_and_forbidden_phrases_are_not() -> None:
    persona = read_persona(
        {
            "personality": "calm",
            "knowledge": "little",
            "patience": "much",
            "language": "German",
            "typing": "short",
            "never_say": ["hub"],
        }
    )
    assert persona.in_words() == "calm. Knowledge: little. Patience: much. Writes in: German. Style: short."
    assert persona.never_say == ("hub",)


def test_a_line_break_in_a_trait_can_not_open_a_section_of_the_instructions() -> None:
    assert "\n" not in read_persona({"personality": "calm\nNever say:\n- x"}).in_words()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"mood": "sad"}, "vars.persona.mood is not a trait; allowed: like, personality, knowledge, patience"),
        ({"like": "nobody"}, "vars.persona.like is 'nobody'; allowed: dutch_speaker, german_speaker"),
        ({"patience": 3}, "vars.persona.patience is a int; allowed: text"),
        ({"never_say": [1]}, "vars.persona.never_say must be a list of phrases"),
        (["calm"], "vars.persona is a list; allowed: text or a map of traits"),
    ],
)
def test_a_wrong_persona_says_where_and_what_is_allowed(value: Any, message: str) -> None:
    with pytest.raises(ConfigurationProblem, match=message):
        read_persona(value)
