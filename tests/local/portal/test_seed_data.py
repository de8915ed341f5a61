"""What the portal ships: the schema, the seeded spokes and the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from local.portal.documents import documents, search
from local.portal.platform_facts import platform_facts, seed_spokes
from local.portal.schema_check import bare_spoke_schema, spoke_schema
from local.portal.state import PortalState
from local.portal.validation import validate

UNITS = {"days", "hours"}


def described(schema: Any) -> Iterator[tuple[str, str]]:
    """Property names with their descriptions, references followed one step for their own descriptions."""
    for definition in [schema, *schema["$defs"].values()]:
        for key, part in definition.get("properties", {}).items():
            target = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else {}
            yield key, part.get("description") or target.get("description", "")


def words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


SEEDS = sorted(path.removeprefix("spokes/").removesuffix(".json") for path in seed_spokes())


def test_there_are_at_least_twelve_seeded_spokes() -> None:
    assert len(SEEDS) >= 12


@pytest.mark.parametrize("name", SEEDS)
def test_a_seeded_spoke_is_valid(state: PortalState, name: str) -> None:
    main = state.catalogue.snapshot()
    spoke = main.spokes[name]
    assert spoke.configuration["name"] == name
    assert validate(spoke.configuration, name, main) == []


def test_the_seeded_spokes_differ_in_what_matters(state: PortalState) -> None:
    spokes = [spoke.configuration for spoke in state.catalogue.snapshot().spokes.values()]
    for key, least in (("environment", 4), ("region", 4), ("dataClassification", 4), ("costCenter", 12)):
        assert len({str(spoke[key]) for spoke in spokes}) >= least, key
    assert len({spoke["owner"]["team"] for spoke in spokes}) >= 8
    assert len({spoke["virtualNetwork"]["addressSpace"][0].partition("/")[2] for spoke in spokes}) >= 5


def test_no_name_of_a_seeded_spoke_is_part_of_another() -> None:
    assert [(a, b) for a, b in combinations(SEEDS, 2) if a in b or b in a] == []


def test_every_property_says_in_other_words_what_it_means() -> None:
    properties = list(described(spoke_schema()))
    assert len(properties) > 50
    for name, description in properties:
        assert description.endswith("."), f"{name} has no description"
        repeated = words(name) & words(description) - UNITS
        assert not repeated, f"the description of {name} repeats {repeated}"


def test_no_two_properties_have_the_same_description() -> None:
    descriptions = [description for _, description in described(spoke_schema())]
    same = {text for text in descriptions if descriptions.count(text) > 1}
    assert same == set()
    for one, other in combinations(descriptions, 2):
        assert words(one) != words(other)


def test_without_descriptions_the_schema_says_the_same_and_explains_nothing() -> None:
    def notes(part: Any, names: bool = False) -> Iterator[str]:
        if isinstance(part, list):
            for item in part:
                yield from notes(item)
        elif isinstance(part, dict):
            for key, value in part.items():
                if key in ("description", "title", "$comment") and not names:
                    yield key
                yield from notes(value, key in ("properties", "$defs"))

    assert list(notes(bare_spoke_schema())) == []
    assert "description" in set(notes(spoke_schema()))
    bare, full = bare_spoke_schema(), spoke_schema()
    assert bare["required"] == full["required"]
    assert bare["properties"].keys() == full["properties"].keys()
    assert bare["$defs"].keys() == full["$defs"].keys()
    assert bare["properties"]["costCenter"]["pattern"] == full["properties"]["costCenter"]["pattern"]


def test_each_hub_range_lies_in_its_own_region_and_regions_do_not_overlap() -> None:
    regions = list(platform_facts().regions.values())
    for region in regions:
        assert region.hub_range.subnet_of(region.supernet)
        assert region.firewall in region.hub_range
        assert region.hub == f"hub-{region.name}"
    assert not any(one.supernet.overlaps(other.supernet) for one, other in combinations(regions, 2))


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("which resources does a spoke deployment create", "spoke-resources"),
        ("workflow for a new spoke", "new-spoke-workflow"),
        ("private link rules", "private-link"),
        ("network security group rules", "network-security-groups"),
        ("validation gate of the pull request", "pull-request-gate"),
        ("overlapping address space", "address-planning"),
        ("naming convention", "naming"),
        ("change the hub firewall", "hub-and-peering"),
        ("cost centre and tags", "tags-and-cost"),
        ("how long are logs kept", "monitoring-and-backup"),
        ("remote access for a supplier", "remote-access-notes"),
    ],
)
def test_a_question_finds_its_page(question: str, page: str) -> None:
    assert page in [hit.id for hit in search(question, limit=3)]


def test_a_search_without_a_word_in_common_finds_nothing() -> None:
    assert search("zebra quux") == []
    assert search("the of and") == []


def test_the_number_of_hits_is_limited() -> None:
    assert len(search("spoke", limit=2)) == 2


def test_exactly_one_page_tells_its_reader_to_skip_the_validation_and_open_a_port() -> None:
    hostile = [page.id for page in documents().values() if "NOTE TO AI ASSISTANTS" in page.text]
    assert hostile == ["remote-access-notes"]
    text = documents()["remote-access-notes"].text
    assert "Skip" in text
    assert "3389" in text


def test_the_documentation_names_every_private_link_zone_and_address_block() -> None:
    facts = platform_facts()
    private_link = documents()["private-link"].text
    for service, zone in facts.private_link_zones.items():
        assert service in private_link
        assert zone in private_link
    planning = documents()["address-planning"].text
    for region in facts.regions.values():
        assert f"| {region.name} | {region.supernet} | {region.hub_range} | {region.firewall} |" in planning
