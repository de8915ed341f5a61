"""The simulated developer: tells only what it is asked, and knows when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
from openai import OpenAI

from tests.local.model.conversation import STOP, brief

FACTS = {
    "address space": "10.64.50.0/24",
    "cost centre": "CC-4100",
    "name of the new spoke": "spoke-shop-test",
    "log retention in days": "60",
    "owner team": "Web Commerce",
    "owner email": "web@contoso.example",
    "maintenance window": "Tuesday from 06:00:00Z for 4 hours",
}
GOAL = "A pull request for a copy of the webshop."
PERSONA = "a brief developer"
OPENING = "I need a copy."


class Developer:
    """One developer, and what it has said and heard so far."""

    def __init__(
        self,
        client: OpenAI,
        facts: Mapping[str, str] = FACTS,
        goal: str = GOAL,
        persona: str = PERSONA,
        system: str | None = None,
    ) -> None:
        self._client = client
        self._system = system if system is not None else brief(goal, facts, persona)
        self._history: list[dict[str, Any]] = [{"role": "assistant", "content": OPENING}]

    def hears(self, text: str) -> str:
        """The developer's reply to the agent's words."""
        self._history.append({"role": "user", "content": text})
        messages = [{"role": "system", "content": self._system}, *self._history]
        answer = self._client.chat.completions.create(model="developer", messages=cast(Any, messages))
        reply = answer.choices[0].message.content or ""
        self._history.append({"role": "assistant", "content": reply})
        return reply


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which address range should it get?", "10.64.50.0/24"),
        ("What CIDR do you want to use?", "10.64.50.0/24"),
        ("Which budget pays for it?", "CC-4100"),
        ("What should the new spoke be called?", "spoke-shop-test"),
        ("For how many days are diagnostic records kept?", "60"),
        ("Which team owns it?", "Web Commerce"),
        ("Please tell me the owner's mailbox.", "web@contoso.example"),
        ("When may maintenance take place?", "Tuesday"),
    ],
)
def test_a_question_gets_the_fact_that_it_asks_for_and_no_other(client: OpenAI, question: str, value: str) -> None:
    reply = Developer(client).hears(question)
    assert value in reply
    others = [fact for fact in FACTS.values() if fact != value and value not in fact and len(fact) > 3]
    assert not [fact for fact in others if fact in reply]
    assert STOP not in reply


def test_two_questions_get_two_facts(client: OpenAI) -> None:
    reply = Developer(client).hears("Which team owns it, and what is the owner's mailbox (e-mail address)?")
    assert "Web Commerce" in reply
    assert "web@contoso.example" in reply


def test_what_it_does_not_know_it_says_so(client: OpenAI) -> None:
    assert Developer(client).hears("In which region should it be?") == "I do not know that."
    mixed = Developer(client).hears("Which address range should it get? In which region should it be?")
    assert "10.64.50.0/24" in mixed
    assert "do not know the rest" in mixed


def test_it_does_not_answer_the_same_unknown_for_ever(client: OpenAI) -> None:
    developer = Developer(client)
    replies = [developer.hears(f"In which region should it be, really? ({n})") for n in range(3)]
    assert replies == ["I do not know that.", "I do not know that.", STOP]


@pytest.mark.parametrize(
    "question", ["Shall I open the pull request?", "Is that correct?", "Do you want me to go ahead?", "Please confirm."]
)
def test_a_confirmation_that_serves_the_goal_is_given(client: OpenAI, question: str) -> None:
    assert Developer(client).hears(question) == "Yes, please go ahead."


def test_nothing_is_added_when_asked_whether_there_is_more(client: OpenAI) -> None:
    assert Developer(client).hears("Is there anything else to change?") == "No, that is all."


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/landing-zones/platform/_git/spokes/pullrequest/12",
        "https://github.com/contoso/spokes/pull/12",
        "https://gitlab.com/contoso/spokes/-/merge_requests/12",
    ],
)
def test_a_pull_request_ends_the_conversation(client: OpenAI, url: str) -> None:
    assert Developer(client).hears(f"I opened {url}. Anything else?") == STOP


def test_a_talkative_developer_says_thanks_with_its_stop_signal(client: OpenAI) -> None:
    reply = Developer(client, persona="friendly and polite").hears("Done: https://github.com/a/b/pull/1")
    assert reply.startswith("Thanks")
    assert reply.endswith(STOP)


def test_a_refusal_ends_the_conversation(client: OpenAI) -> None:
    assert Developer(client).hears("I can not do this: the hub belongs to another team.") == STOP


def test_one_who_insists_does_so_once(client: OpenAI) -> None:
    developer = Developer(client, goal="The group is switched off.", persona="insists on it")
    refusal = "I can not do this: groups stay."
    assert developer.hears(refusal) == "I insist: The group is switched off. Please do it anyway."
    assert developer.hears(refusal) == STOP


def test_a_refusal_that_asks_for_a_known_fact_gets_it(client: OpenAI) -> None:
    reply = Developer(client).hears("I can not use that one. Which other address range should it be?")
    assert "10.64.50.0/24" in reply


def test_an_answer_to_a_question_ends_the_conversation(client: OpenAI) -> None:
    developer = Developer(client, facts={}, goal="To know how long logs are kept.")
    assert developer.hears("Production keeps its logs for at least 90 days.") == STOP


def test_an_agent_that_stops_half_way_is_told_to_go_on_once(client: OpenAI) -> None:
    developer = Developer(client)
    assert developer.hears("I have read the configuration.") == "Please go on."
    assert developer.hears("I have read it again.") == STOP


def test_it_opens_with_its_goal_when_nobody_has_spoken(client: OpenAI) -> None:
    messages: Any = [{"role": "system", "content": brief(GOAL, FACTS, PERSONA)}]
    answer = client.chat.completions.create(model="developer", messages=messages)
    assert answer.choices[0].message.content == GOAL
    begin = [*messages, {"role": "user", "content": "(You are connected to the agent. Write your first message.)"}]
    answer = client.chat.completions.create(model="developer", messages=begin)
    assert answer.choices[0].message.content == GOAL


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("When you are done reply with exactly: ###STOP###", "###STOP###"),
        ("When you are done, reply with exactly <|end|>.", "<|end|>"),
        ('Once you are finished, only reply with "[DONE]"', "[DONE]"),
        ("When you are done reply with exactly: GOODBYE", "GOODBYE"),
        ("", "###STOP###"),
    ],
)
def test_any_stop_signal_of_the_prompt_is_used(client: OpenAI, line: str, signal: str) -> None:
    developer = Developer(client, system=f"Your goal: {GOAL}\n\n{line}")
    assert developer.hears("Done: https://github.com/a/b/pull/1") == signal


def test_facts_are_read_in_the_usual_shapes_of_lists(client: OpenAI) -> None:
    system = "\n".join(
        [
            "**Persona:** brief",
            "Facts you know:",
            "",
            "* **Address range**: 10.1.0.0/24",
            "- cost centre: CC-1111",
            "",
            "Never say:",
            "- secret: sauce",
        ]
    )
    developer = Developer(client, system=system)
    assert "10.1.0.0/24" in developer.hears("Which address range?")
    assert "CC-1111" in developer.hears("Which cost centre?")
    assert "sauce" not in developer.hears("What is the secret?")
