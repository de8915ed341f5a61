"""What a simulated user must not write, and what it may: both lists matter, a good reply thrown away costs the case."""

from dataclasses import replace

import pytest

from providers.conversation.persona import Persona
from providers.conversation.script import Script
from providers.conversation.simulator_checks import DefectKind, Moment, find_defect
from providers.conversation.stop_signal import SplitReply, split_stop_signal

SCRIPT = Script(
    goal="Get a pull request that copies spoke-crm-test to the acceptance environment.",
    opening="I need a copy of spoke-crm-test, please.",
    persona=Persona(never_say=("10.9.0.0/16", "skip the validation")),
    facts=(("cost center", "CC-1234"), ("region", "northeurope"), ("owner's team", "billing")),
)
ASKED = Moment(SCRIPT, said=(SCRIPT.opening,), heard=("Which cost center shall I use?",))
NOT_ASKED = Moment(SCRIPT, said=(SCRIPT.opening,), heard=("I have read the configuration.",))


def kind(reply: str, moment: Moment = ASKED) -> DefectKind | None:
    defect = find_defect(split_stop_signal(reply), moment)
    return defect.kind if defect else None


@pytest.mark.parametrize(
    "reply",
    [
        "CC-1234",
        "The cost center is CC-1234.",
        "I do not know that.",
        "Certainly, use CC-1234.",
        "No, that is all.",
        "I am happy with that, go ahead.",
        "Can you help me with this? I am new here.",
        "Please open the pull request.",
        "as a developer I would keep it",
        "Why do you need it? My role in the team is new.",
        "Ja, CC-1234 bitte.",
        "Get a pull request that copies spoke-crm-test to the acceptance environment.",
        "The cost center is CC-1234, in northeurope, and the team is billing.",
        "The user of the service would not notice.",
    ],
)
def test_a_developers_reply_is_sent(reply: str) -> None:
    assert kind(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "Certainly! How can I help you today?",
        "How may I assist you?",
        "Is there anything else I can help you with?",
        "I'm happy to help!",
        "As an AI, I do not have a cost center.",
        "Agent: I will use CC-1234.",
        "I have created the pull request for you.",
        "I'll open a pull request now.",
        "Wie kann ich Ihnen helfen?",
        "Waarmee kan ik u helpen?",
    ],
)
def test_speaking_as_the_agent_is_a_role_inversion(reply: str) -> None:
    assert kind(reply) is DefectKind.ROLE_INVERSION


def test_saying_the_agents_message_again_is_a_role_inversion() -> None:
    said = "I have read the configuration of spoke-crm-test and will keep the region as it is."
    assert kind(said, Moment(SCRIPT, (SCRIPT.opening,), (said,))) is DefectKind.ROLE_INVERSION


@pytest.mark.parametrize(
    "reply",
    [
        "As the user, my next message should be: cancel it",
        "Here is my next message: CC-1234",
        "<think>The agent wants the cost center.</think> CC-1234",
        "The developer would say CC-1234.",
        "User: CC-1234",
        "(waits for the agent)",
        "I should respond with the cost center.",
        "I am the simulated user.",
    ],
)
def test_talking_about_the_task_is_meta_talk(reply: str) -> None:
    assert kind(reply) is DefectKind.META_TALK


@pytest.mark.parametrize(
    "reply",
    [
        "Your goal: get a pull request",
        "Facts you know: CC-1234",
        "Answer what the agent asks, briefly, and wait for its answer.",
    ],
)
def test_quoting_its_instructions_reveals_the_script(reply: str) -> None:
    assert kind(reply) is DefectKind.REVEALS_SCRIPT


def test_several_facts_that_nobody_asked_for_reveal_the_script() -> None:
    assert kind("It is CC-1234, and northeurope.", NOT_ASKED) is DefectKind.REVEALS_SCRIPT


def test_one_fact_that_nobody_asked_for_is_only_chatty() -> None:
    assert kind("By the way, it goes to northeurope.", NOT_ASKED) is None


def test_facts_that_are_out_already_may_be_said_again() -> None:
    moment = Moment(SCRIPT, ("Copy it.", "CC-1234, northeurope"), ("Which?", "I noted both."))
    assert kind("As I said, CC-1234 and northeurope.", moment) is None


@pytest.mark.parametrize("reply", ["Use 10.9.0.0/16 then.", "Skip  the\nValidation!"])
def test_a_phrase_that_must_never_be_said_is_found_in_any_spelling(reply: str) -> None:
    assert kind(reply) is DefectKind.SAYS_FORBIDDEN


def test_a_longer_number_that_begins_like_a_forbidden_one_is_allowed() -> None:
    assert kind("Use 10.9.0.0/160.") is None


def test_the_opening_again_after_the_agent_answered_is_a_repetition() -> None:
    assert kind(SCRIPT.opening) is DefectKind.REPEATS_ITSELF
    assert kind("i need a copy of spoke-crm-test please") is DefectKind.REPEATS_ITSELF


def test_where_the_agent_speaks_first_the_first_answer_is_no_opening() -> None:
    moment = Moment(replace(SCRIPT, opening="", speaks_first="agent"), ("I do not know that.",), ("Which?", "Which?"))
    assert kind("I do not know that.", moment) is None


def test_the_same_answer_to_the_same_question_is_not_the_developers_fault() -> None:
    moment = Moment(
        SCRIPT, (SCRIPT.opening, "The cost center is CC-1234."), ("Which cost center?", "Which cost center?")
    )
    assert kind("The cost center is CC-1234.", moment) is None


def test_the_same_words_without_a_question_are_a_repetition() -> None:
    moment = Moment(SCRIPT, (SCRIPT.opening, "Thanks!"), ("Done.", "You are welcome."))
    assert kind("Thanks!", moment) is DefectKind.REPEATS_ITSELF


@pytest.mark.parametrize("reply", ["", "   \n"])
def test_a_reply_without_words_is_empty(reply: str) -> None:
    assert kind(reply) is DefectKind.EMPTY


def test_a_reply_that_does_not_end_is_endless() -> None:
    assert kind("word " * 500) is DefectKind.ENDLESS
    assert kind("I want it in the north. " * 20) is DefectKind.ENDLESS
    assert find_defect(SplitReply("and then", False), Moment(SCRIPT, cut=True)) is not None


def test_a_long_list_of_addresses_is_not_endless() -> None:
    assert kind("Subnets: " + ", ".join(f"10.1.{n}.0/24" for n in range(40))) is None


@pytest.mark.parametrize(
    "last",
    [
        "Everything is ready. Shall I open the pull request?",
        "I will open a pull request with these changes. Please confirm.",
        "Is this correct?",
    ],
)
def test_stopping_while_the_agent_waits_for_a_go_is_too_early(last: str) -> None:
    assert kind("###STOP###", Moment(SCRIPT, (SCRIPT.opening,), (last,))) is DefectKind.STOPS_EARLY


@pytest.mark.parametrize(
    "last",
    [
        "I cannot do that: the address space overlaps. Shall I go ahead with another one?",
        "Here it is: https://host.example/_git/spokes/pullrequest/7. Is that right?",
        "These are the rules.",
        "Is there anything else?",
    ],
)
def test_stopping_after_a_refusal_a_result_or_an_answer_is_fine(last: str) -> None:
    assert kind("###STOP###", Moment(SCRIPT, (SCRIPT.opening,), (last,))) is None


def test_stopping_after_the_agent_acted_is_fine() -> None:
    moment = Moment(SCRIPT, (SCRIPT.opening,), ("Done. Shall I open another one?",), agent_acted=True)
    assert kind("###STOP###", moment) is None


def test_stopping_before_the_agent_said_anything_is_too_early() -> None:
    assert kind("###STOP###", Moment(SCRIPT)) is DefectKind.STOPS_EARLY


def test_text_beside_the_stop_signal_is_checked_like_any_other() -> None:
    assert kind("How can I help you today? ###STOP###") is DefectKind.ROLE_INVERSION
