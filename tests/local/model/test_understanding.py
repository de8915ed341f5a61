"""Single parts of the understanding: values in texts, polarity, roles of names, kinds of request, what is refused."""

from __future__ import annotations

import pytest

from local.model.addresses import AddressProblem, divide, free_place, rebase
from local.model.blocked import find_blocked
from local.model.intent import intent_of
from local.model.places import spoke_names, stages
from local.model.polarity import switch_value
from local.model.policy import read_policy
from local.model.values import find_values
from local.model.words import content_stems, sentences, stem
from tests.local.model.conversation import INSTRUCTIONS


def values(text: str) -> list[tuple[str, object, str]]:
    return [(v.kind, v.number if v.kind == "amount" else v.text, v.unit) for v in find_values(text) if not v.old]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for ninety days", ("amount", 90, "day")),
        ("twenty-five days", ("amount", 25, "day")),
        ("one hundred and twenty days", ("amount", 120, "day")),
        ("a fortnight", ("amount", 14, "day")),
        ("two weeks", ("amount", 14, "day")),
        ("half a year", ("amount", 182, "day")),
        ("30d", ("amount", 30, "day")),
        ("a 6-hour window", ("amount", 6, "hour")),
        ("CC 4711", ("code", "CC-4711", "")),
        ("31 March 2027", ("date", "2027-03-31", "")),
        ("March 3rd, 2027", ("date", "2027-03-03", "")),
        ("the end of February 2028", ("date", "2028-02-29", "")),
        ("31-12-2027", ("date", "2027-12-31", "")),
        ("10 pm", ("time", "22:00:00", "")),
        ("4.30 am", ("time", "04:30:00", "")),
        ("midnight", ("time", "00:00:00", "")),
        ("8 o'clock in the evening", ("time", "20:00:00", "")),
        ("10.1.2.0 / 24", ("cidr", "10.1.2.0/24", "")),
        ("10.1.2.3", ("ip", "10.1.2.3", "")),
        ("ask a.b@c.example.", ("email", "a.b@c.example", "")),
        ("port 5671-5672", ("port", "5671-5672", "")),
        ("zone privatelink.azurecr.io", ("domain", "privatelink.azurecr.io", "")),
        ("the tag is 'Blue Team'", ("quoted", "Blue Team", "")),
        ("run by Checkout Experience", ("proper", "Checkout Experience", "")),
    ],
)
def test_values_are_known_by_their_form(text: str, expected: tuple[str, object, str]) -> None:
    assert expected in values(text)


@pytest.mark.parametrize("text", ["on 31 February", "the second one", "on the one hand", "version 1.2.3"])
def test_what_only_looks_like_a_value_is_none(text: str) -> None:
    assert not [v for v in values(text) if v[0] in ("date", "time", "ip") or v[2]]


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert not [v for v in values("31 February 2027") if v[0] == "date"]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("from 30 to 90 days", 90),
        ("90 days instead of 30", 90),
        ("not 30 but 90 days", 90),
        ("it was 30, make it 90 days", 90),
        ("90 days rather than the usual 30 days", 90),
    ],
)
def test_the_former_value_is_told_from_the_new_one(text: str, new: int) -> None:
    assert [v.number for v in find_values(text) if v.kind == "amount" and not v.old] == [new]


@pytest.mark.parametrize(
    ("clause", "statement", "expected"),
    [
        ("enable forwarded traffic", "allow Forwarded Traffic", True),
        ("forwarded traffic must not be allowed", "allow Forwarded Traffic", False),
        ("switch it off", "enabled", False),
        ("disable route propagation", "disable Bgp Route Propagation", True),
        ("enable route propagation", "disable Bgp Route Propagation", False),
        ("do not ignore learned paths", "Ignore paths learned automatically", False),
        ("ignore learned paths", "Ignore paths learned automatically", True),
        ("nothing else, but send events", "Whether events are sent", True),
        ("turn the whole thing off", "enabled", False),
    ],
)
def test_two_negations_cancel_out(clause: str, statement: str, expected: bool) -> None:
    assert switch_value(clause, statement) is expected


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("Copy spoke-a-dev to spoke-b-test", ["source", "target"]),
        ("Make spoke-b-test from spoke-a-dev", ["target", "source"]),
        ("We need spoke-b-test, a copy of spoke-a-dev", ["target", "source"]),
        ("It should be identical to spoke-a-dev", ["source"]),
        ("Take spoke-a-dev as the template for spoke-b-test", ["source", "target"]),
        ("the same landing zone as spoke-a-dev, called spoke-b-test", ["source", "target"]),
        ("Use spoke-a-dev as a basis and name it spoke-b-test", ["source", "target"]),
        ("a twin of spoke-a-dev named spoke-b-test", ["source", "target"]),
        ("I'd like spoke-a-dev copied to spoke-b-test", ["target", "target"]),
    ],
)
def test_names_have_roles_by_the_words_around_them(text: str, roles: list[str]) -> None:
    assert [name.role for name in spoke_names(text)] == roles


def test_test_as_a_verb_is_no_stage() -> None:
    assert [stage for stage, _ in stages("We want to test the new release in acceptance")] == ["acceptance"]
    assert [stage for stage, _ in stages("from production to test, please")] == ["production", "test"]
    assert not stages("spoke-a-test")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please copy spoke-a-dev to spoke-b-dev.", "copy"),
        ("Could you clone our webshop for testing?", "copy"),
        ("I want a new spoke from scratch, not a copy.", "new"),
        ("We need a landing zone for a new workload.", "new"),
        ("Raise the log retention of spoke-a-dev to 60 days.", "change"),
        ("What does a spoke deployment create?", "question"),
        ("Can I skip the validation if my manager agrees?", "question"),
        ("Could you explain how peering works?", "question"),
        ("I would like to know which tags are read.", "question"),
        ("Tell me who reviews pull requests.", "question"),
        ("We are planning a new spoke. How long does its deployment take?", "question"),
        ("Do what the page says for spoke-a-dev.", "change"),
        ("Hello there", "talk"),
    ],
)
def test_the_kind_of_a_request_is_told(text: str, kind: str) -> None:
    assert intent_of(text) == kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("security_group", "Remove the network security group from the orders subnet."),
        ("security_group", "Please turn the network security groups off for a day."),
        ("security_group", "The front subnet should have no NSG."),
        ("security_group", "The NSG of the ledger subnet can be removed."),
        ("security_group", "Delete all rules of nsg-front."),
        ("security_group", "Take the firewall filter off the orders segment."),
        ("hub", "Add a rule to the hub's firewall that allows 8080."),
        ("hub", "Change hub-westeurope so that it routes our traffic."),
        ("hub", "Put a route to 192.168.0.0/16 into the hub."),
        ("hub", "Let the central firewall allow our partner range."),
        ("validation", "Open the pull request without validating, it is only a test."),
        ("validation", "No need to validate, just open it."),
        ("validation", "Please open the PR even if the validation reports errors."),
        ("validation", "Don't bother with the checks."),
        ("merge", "Create it and merge it right away."),
        ("merge", "Commit it straight to main."),
    ],
)
def test_what_must_be_refused_is_told_in_many_words(kind: str, text: str) -> None:
    assert [item.kind for item in find_blocked([text])] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Remove the rule allow-ssh-from-bastion from nsg-front.",
        "Do not remove the network security group.",
        "The hub peering should allow forwarded traffic.",
        "Reach on-premises offices through the central VPN connection.",
        "Turn off backup and keep the network security groups.",
        "Add a route 172.16.0.0/12 via the firewall of the hub.",
        "Allow the hub's bastion range 10.64.2.0/24 on port 22 in nsg-front.",
        "There should be no validation errors.",
        "Please don't skip the validation.",
        "Make the copy complete.",
    ],
)
def test_what_only_sounds_alike_is_not_refused(text: str) -> None:
    assert not find_blocked([text])


def test_the_production_instructions_ask_for_everything_that_is_refused() -> None:
    policy = read_policy(INSTRUCTIONS)
    assert policy.refuses == {"security_group", "hub", "validation", "merge"}
    assert policy.validates
    assert policy.asks_cost_centre
    assert policy.questions_at_once == 1


def test_instructions_that_drop_a_rule_make_another_agent() -> None:
    policy = read_policy("# Agent\n\n## What you refuse\n\n- a change of the hub\n\n## Work\n\nDo not validate.")
    assert policy.refuses == {"hub"}
    assert not policy.validates
    assert read_policy("").refuses == {"security_group", "hub", "validation", "merge"}


def test_stems_fold_forms_and_near_synonyms() -> None:
    assert stem("classified") == stem("classification")
    assert stem("retained") == stem("kept")
    assert stem("centre") == stem("center")
    assert stem("logs") == stem("records")
    assert content_stems("The subnets of a spoke") == ["subnet", "spok"]


def test_dots_inside_addresses_end_no_sentence() -> None:
    assert sentences("Use 10.0.0.0/24. It is free, e.g. for tests.") == [
        "Use 10.0.0.0/24.",
        "It is free, e.g. for tests.",
    ]


def test_addresses_move_with_their_range_and_others_stay() -> None:
    source = {"a": "10.0.1.64/26", "b": ["10.0.1.4", "8.8.8.8"], "c": "0.0.0.0/0", "d": "text"}
    moved = rebase(source, ["10.0.0.0/23"], ["10.9.2.0/23"])
    assert moved == {"a": "10.9.3.64/26", "b": ["10.9.3.4", "8.8.8.8"], "c": "0.0.0.0/0", "d": "text"}


def test_several_ranges_go_into_one_after_the_other() -> None:
    moved = rebase(["10.0.0.0/24", "10.5.0.0/24"], ["10.0.0.0/23", "10.5.0.0/24"], ["10.9.0.0/22"])
    assert moved == ["10.9.0.0/24", "10.9.2.0/24"]


def test_a_range_that_can_not_hold_the_source_is_refused() -> None:
    with pytest.raises(AddressProblem, match="too small"):
        rebase(["10.0.1.0/24"], ["10.0.0.0/23"], ["10.9.0.0/24"])


def test_free_room_is_found_and_shared_out() -> None:
    assert free_place("/26", ["10.0.0.0/24"], ["10.0.0.0/25"]) == "10.0.0.128/26"
    assert divide("10.0.0.0/24", [27, None, 26]) == ["10.0.0.128/27", "10.0.0.0/26", "10.0.0.64/26"]
    with pytest.raises(AddressProblem, match="no room"):
        free_place("/25", ["10.0.0.0/24"], ["10.0.0.0/24"])
