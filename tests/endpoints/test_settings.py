"""One table of variables, and sentences about those that do not fit together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT, SETTINGS, home, problems, promptfoo_home, value

CONFIGURED = {
    "EVALS_PORTAL_URL": "https://portal.example",
    "EVALS_PORTAL_TOKEN": "secret",
    "EVALS_PULL_REQUEST_API": "https://host.example",
    "EVALS_PULL_REQUEST_TOKEN": "secret",
    "EVALS_REPOSITORIES": "r",
}


def test_the_data_folder_is_in_the_checkout_unless_it_is_named(tmp_path: Path) -> None:
    assert home({}) == CHECKOUT / ".evals"
    assert home({"EVALS_HOME": str(tmp_path)}) == tmp_path
    assert promptfoo_home({"EVALS_HOME": str(tmp_path)}) == tmp_path / "promptfoo"
    assert promptfoo_home({"EVALS_HOME": "/x", "PROMPTFOO_CONFIG_DIR": str(tmp_path)}) == tmp_path


def test_a_blank_variable_is_an_unset_one() -> None:
    assert value("EVALS_AGENT_MODEL", {"EVALS_AGENT_MODEL": "  "}) is None
    assert value("EVALS_AGENT_MODEL", {"EVALS_AGENT_MODEL": " m "}) == "m"


def test_a_variable_that_is_not_in_the_table_cannot_be_read() -> None:
    with pytest.raises(KeyError, match="EVALS_PORTAL is not in the table"):
        value("EVALS_PORTAL", {})


@pytest.mark.parametrize(
    "names",
    [
        {},
        CONFIGURED,
        {"EVALS_MODEL_BASE_URL": "http://127.0.0.1:1/v1"},
        {"AZURE_OPENAI_API_KEY": "k"},
        {"OPENAI_API_KEY": "k"},
    ],
)
def test_what_fits_together_is_no_problem(names: dict[str, str]) -> None:
    assert problems(names) == []


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"EVALS_MODEL_API_KEY": "k"}, "EVALS_MODEL_BASE_URL is not set, but EVALS_MODEL_API_KEY is: "),
        ({**CONFIGURED, "EVALS_PORTAL_TOKEN": ""}, "EVALS_PORTAL_TOKEN is not set, but EVALS_PORTAL_URL is: "),
        ({**CONFIGURED, "EVALS_REPOSITORIES": ""}, "EVALS_REPOSITORIES is not set, but EVALS_PULL_REQUEST_API is: "),
        (
            {**CONFIGURED, "EVALS_PORTAL_URL": "portal.example"},
            "EVALS_PORTAL_URL is not an address: it must begin with https:// (or http:// on this machine).",
        ),
        (
            {**CONFIGURED, "EVALS_PORTAL_URL": "https://me:secret@portal.example"},
            "EVALS_PORTAL_URL holds a user or a password: take them out, and use the variable for the token.",
        ),
        (
            {"AZURE_OPENAI_ENDPOINT": "https://a", "AZURE_OPENAI_API_KEY": "k", "EVALS_MODEL_BASE_URL": "https://b"},
            "AZURE_OPENAI_ENDPOINT and EVALS_MODEL_BASE_URL are both set",
        ),
    ],
)
def test_what_does_not_fit_together_is_one_sentence(names: dict[str, str], sentence: str) -> None:
    (found,) = problems(names)
    assert found.startswith(sentence)


def test_no_sentence_shows_a_value() -> None:
    names = {setting.name: f"value-of-{number}" for number, setting in enumerate(SETTINGS)}
    for left_out in names:
        found = " ".join(problems({name: text for name, text in names.items() if name != left_out}))
        assert "value-of-" not in found


def test_every_variable_of_ours_that_the_code_reads_is_in_the_table() -> None:
    known = {setting.name for setting in SETTINGS}
    rooms = ("providers", "assertions", "hooks", "models", "episodes", "endpoints", "formats", "evals", "local")
    for file in (file for room in rooms for file in (CHECKOUT / room).rglob("*.py")):
        read = set(re.findall(r"""["'](EVALS_[A-Z_]+)["']""", file.read_text(encoding="utf-8")))
        assert read <= known, file
