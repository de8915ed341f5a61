"""A mistake in a provider's config or in its agent's file ends `evals run` before promptfoo starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from endpoints.settings import CHECKOUT
from evals import provider_check
from evals.provider_check import check_providers
from evals.run_request import read_request
from evals.suites import find_suites

if TYPE_CHECKING:
    from tests.evals.conftest import Demo

AGENT = """\
name: odd
model: odd-model
instructions: instructions.md
servers: [{name: portal, url: "${EVALS_PORTAL_URL}/mcp"}]
tools: [get_spoke]
"""
NOTHING = ("--filter-pattern", "^there is no such case$")
"""Selects no case, which is looked at when the providers have been found right."""


def _configure(demo: Demo, config: str, agent: str = AGENT, entry: str = "simulated_user") -> None:
    suite = demo.root / "suites" / "demo"
    folder = suite / "odd"
    folder.mkdir(exist_ok=True)
    (folder / "agent.yaml").write_text(agent, encoding="utf-8")
    (folder / "instructions.md").write_text("Help.\n", encoding="utf-8")
    file = suite / "promptfooconfig.yaml"
    provider = f"{{id: file://{CHECKOUT}/providers/{entry}.py, label: demo, config: {config}}}"
    text = file.read_text(encoding="utf-8").replace("{id: file://provider.py, label: demo}", provider)
    file.write_text(text, encoding="utf-8")


def _configure_two(demo: Demo, first: str, second: str) -> None:
    """Two providers that run all cases."""
    _configure(demo, first)
    file = demo.root / "suites" / "demo" / "promptfooconfig.yaml"
    other = f"{{id: file://{CHECKOUT}/providers/production_agent.py, label: other, config: {second}}}]"
    text = (
        file.read_text(encoding="utf-8").replace("}]\ntests", f"}},\n  {other}\ntests").replace(", provider: demo", "")
    )
    file.write_text(text, encoding="utf-8")


def _refused(demo: Demo, *words: str, **more: str) -> str:
    ended = demo.run(*words, **more)
    assert (ended.returncode, ended.stdout) == (5, ""), ended.stdout + ended.stderr
    assert not demo.home.exists()
    return ended.stderr


def test_a_wrong_key_in_an_agent_file_is_named_with_file_key_and_allowed_keys(demo: Demo) -> None:
    _configure(demo, "{agent: ./odd}", AGENT + "temprature: 0.2\n")
    assert _refused(demo).startswith(
        "suites/demo/promptfooconfig.yaml:2: provider demo: suites/demo/odd/agent.yaml: temprature: unknown key; "
        "allowed: name, description, maxSteps, "
    )


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("{agent: ./nobody}", "agent: there is no suites/demo/nobody/agent.yaml; agents: spoke, or a folder ./name"),
        (
            "{agent: ./odd, instructions: brief.md}",
            "config.instructions: there is no file suites/demo/brief.md or suites/demo/odd/brief.md",
        ),
        (
            "{agent: ./odd, temperature: 3}",
            "config.temperature: expected a number of at least 0 and at most 2, found 3",
        ),
        ("{agent: ./odd, modle: x}", "config.modle: unknown key; allowed: agent, budget, "),
        ("{agent: ./odd, maxTurns: 99}", "config.maxTurns is 99; allowed: a whole number from 1 to 15."),
        ("{agent: ./odd, user: {modle: x}}", "config.user.modle: unknown key; allowed: model, "),
        ("{agent: ./odd, cassette: onec}", "config.cassette.mode: expected one of none, once, new_episodes, all, "),
        ("{agent: ./odd, fakes: {rules: [], seeed: 1}}", "config.fakes.seeed: unknown key; allowed: seed, rules"),
        ("{agent: ./odd, now: yesterday}", "config.now: expected a time such as 2026-03-01T12:00:00Z, found"),
    ],
)
def test_a_mistake_in_a_providers_config_is_named_with_its_line(demo: Demo, config: str, problem: str) -> None:
    _configure(demo, config)
    assert _refused(demo).startswith(f"suites/demo/promptfooconfig.yaml:2: provider demo: {problem}")


def test_an_agent_that_answers_once_has_no_settings_of_a_conversation(demo: Demo) -> None:
    _configure(demo, "{agent: ./odd, maxTurns: 3}", entry="production_agent")
    assert "provider demo: config.maxTurns: unknown key; allowed: agent, budget, " in _refused(demo)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{agent: ./odd, instructions: odd/instructions.md, temperature: 0, deadlineSeconds: 60}", NOTHING),
        ("{agent: my_package.module:build_agent, whatever: 1}", NOTHING),
        ('{agent: ./odd, model: "{{env.SOME_MODEL}}", temperature: "{{env.HOW_WARM}}"}', NOTHING),
        ("{agent: ./odd, temprature: 1}", (*NOTHING, "--filter-providers", "another")),
    ],
)
def test_what_is_right_or_only_known_in_the_run_is_left_to_it(demo: Demo, config: str, words: tuple[str, ...]) -> None:
    _configure(demo, config)
    ended = demo.run(*words)
    assert ended.returncode == 4, ended.stderr


def test_a_wrong_provider_of_another_suite_does_not_hold_up_this_one(demo: Demo) -> None:
    other = demo.root / "suites" / "other"
    other.mkdir()
    config = (demo.root / "suites" / "demo" / "promptfooconfig.yaml").read_text(encoding="utf-8")
    provider = f"{{id: file://{CHECKOUT}/providers/simulated_user.py, config: {{agent: nobody}}}}"
    (other / "promptfooconfig.yaml").write_text(
        config.replace("{id: file://provider.py, label: demo}", provider), encoding="utf-8"
    )
    assert demo.run(*NOTHING).returncode == 4


TWO = (
    "suites/demo/promptfooconfig.yaml:3: the providers demo and other run the same cases and would record them into "
    "the same files, each over the other's: tell them apart (cassette: {name: other}), or choose one with "
    "--filter-providers demo\n"
)


@pytest.mark.parametrize("mode", ["all", "once", "new_episodes"])
def test_two_providers_that_would_record_into_the_same_files_are_refused(demo: Demo, mode: str) -> None:
    _configure_two(demo, "{agent: ./odd}", "{agent: ./odd, temperature: 1}")
    assert _refused(demo, EVALS_CASSETTES=mode, CI="") == TWO


def test_two_providers_that_say_themselves_that_they_record_are_refused(demo: Demo) -> None:
    _configure_two(
        demo, "{agent: ./odd, cassette: {mode: all, name: x}}", "{agent: ./odd, cassette: {mode: all, name: x}}"
    )
    assert _refused(demo, EVALS_CASSETTES="") == TWO


@pytest.mark.parametrize(
    ("second", "mode", "words"),
    [
        ("{agent: ./odd, cassette: {name: other}}", "all", ()),
        ("{agent: ./odd, cassette: {folder: other}}", "all", ()),
        ("{agent: ./odd}", "all", ("--filter-providers", "demo")),
        ("{agent: ./odd}", "none", ()),
        ("{agent: ./odd}", "", ()),
    ],
)
def test_two_providers_that_record_into_different_files_or_not_at_all_may_run(
    demo: Demo, second: str, mode: str, words: tuple[str, ...]
) -> None:
    _configure_two(demo, "{agent: ./odd}", second)
    assert demo.run(*NOTHING, *words, EVALS_CASSETTES=mode, CI="").returncode == 4


def test_what_was_found_right_is_read_again_when_one_of_its_files_or_variables_is_another(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in demo.environment.items():
        monkeypatch.setenv(name, text)
    _configure(demo, "{agent: ./odd}")
    folder = demo.root / "suites" / "demo" / "odd"
    request = read_request(["demo", "--root", str(demo.root)])
    assert request is not None
    suites = list(find_suites(demo.root).values())
    read = []

    def mistakes(*given: object) -> list[str]:
        read.append(given)
        return []

    monkeypatch.setattr(provider_check, "_mistakes", mistakes)
    for _ in range(2):
        check_providers(request, suites)
        assert len(read) == 1
    monkeypatch.setenv("EVALS_AGENT_MODEL", "another")
    check_providers(request, suites)
    assert len(read) == 2
    (folder / "instructions.md").write_text("Help more.\n")
    check_providers(request, suites)
    assert len(read) == 3
    (folder / "instructions.md").unlink()
    check_providers(request, suites)
    assert len(read) == 4
