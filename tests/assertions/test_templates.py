"""`{{var}}` in a config: promptfoo hands a config over as it was written, so we render it ourselves."""

from __future__ import annotations

from typing import Any

import pytest

from assertions.templates import render
from assertions.verdict import ConfigError

VARIABLES = {"spoke": "spoke-web-dev", "days": 30, "facts": {"owner": {"team": "Web"}}, "zones": ["a", "b"]}


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("{{spoke}}", "spoke-web-dev"),
        ("{{ days }}", 30),
        ("{{zones}}", ["a", "b"]),
        ("{{facts.owner.team}}", "Web"),
        ("from {{spoke}} for {{ days }} days", "from spoke-web-dev for 30 days"),
        ("{{spoke}}{{days}}", "spoke-web-dev30"),
        ("zones: {{zones}}", 'zones: ["a", "b"]'),
        ({"name": ["{{spoke}}", 1, None]}, {"name": ["spoke-web-dev", 1, None]}),
        ({"/tags/{{spoke}}": True}, {"/tags/spoke-web-dev": True}),
        ("no braces { {x} }", "no braces { {x} }"),
    ],
)
def test_a_variable_replaces_its_placeholder(written: Any, rendered: Any) -> None:
    assert render(written, VARIABLES) == rendered


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            {"args": [{"name": "{{spok}}"}]},
            "/args/0/name: {{spok}} is not among the case's vars; allowed: days, facts, spoke, zones",
        ),
        ("{{facts.team}}", "/: {{facts.team}} is not among the case's vars; allowed: days, facts, spoke, zones"),
        (
            "{{ spoke | upper }}",
            "/: {{spoke | upper}} can not be rendered; allowed: {{name}} or {{name.part}} of the case's vars",
        ),
    ],
)
def test_what_can_not_be_rendered_is_a_config_error(written: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        render(written, VARIABLES)
    assert str(caught.value) == message


def test_a_case_without_variables_says_so() -> None:
    with pytest.raises(ConfigError, match="allowed: none, it has no vars"):
        render("{{spoke}}", {"_run_key": "hidden"})
