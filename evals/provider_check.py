"""Are the providers of a suite, and the agents that they name, configured rightly? Found before promptfoo starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from endpoints.settings import CHECKOUT, SETTINGS
from evals.command_line import CommandError
from evals.run_request import RunRequest
from evals.suite_providers import SuiteProvider, chosen_providers
from evals.suites import Suite
from formats.checked import digest_of, found, is_known, remember

_READ = (
    "agent_config/**/*",
    *("providers/*.py", "providers/agent/*.py", "providers/conversation/*.py", "models/*.py", "models/cassettes/*.py"),
)
"""The agents, and the code that reads them."""


def check_providers(request: RunRequest, suites: Sequence[Suite]) -> None:
    """Read each provider's config and its agent's file, as an episode would.

    Raises:
        CommandError: one line for each provider with a mistake: file and line, key, what is wrong, what is allowed.
    """
    environment = {**os.environ, **request.models}
    chosen = [(suite, chosen_providers(request, suite.providers)) for suite in suites]
    mark = _mark(chosen, environment)
    if is_known(mark, CHECKOUT):
        return
    problems = [problem for _, providers in chosen for problem in _mistakes(providers, environment)]
    if not problems:
        problems = [problem for suite, providers in chosen for problem in _clashes(suite, providers, environment)]
    if problems:
        raise CommandError("\n".join(problems))
    remember(mark, CHECKOUT)


def _mark(chosen: Sequence[tuple[Suite, Sequence[SuiteProvider]]], environment: Mapping[str, str]) -> str:
    """A digest of all that the verdict depends on. Reading the providers takes as long as the rest of a start.

    A file outside of the agent's folder that only `agent.yaml` names is not in it: when it goes, the run tells.
    """
    configs = [(suite.name, one.where, one.entry, one.label, one.config) for suite, own in chosen for one in own]
    sources = [(str(source.file), source.provider) for suite, _ in chosen for source in suite.sources]
    variables = {one.name: environment.get(one.name) if not one.secret else one.name in environment for one in SETTINGS}
    named = {one.base_path / text for _, own in chosen for one in own for text in _texts(one.config) if len(text) < 200}
    files = [*found(CHECKOUT, _READ), *sorted(file for place in named for file in (place, *place.glob("**/*")))]
    return digest_of([repr([configs, sources, variables])], filter(Path.is_file, files))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _mistakes(providers: Sequence[SuiteProvider], environment: Mapping[str, str]) -> Iterator[str]:
    from providers.agent_protocol import ConfigurationProblem
    from providers.config_check import check_provider_config

    for one in providers:
        try:
            check_provider_config(one.config, one.base_path, environment, conversation=one.entry == "simulated_user")
        except ConfigurationProblem as problem:
            yield f"{one.where}: provider {one.label}: {problem}"


def _clashes(suite: Suite, providers: Sequence[SuiteProvider], environment: Mapping[str, str]) -> Iterator[str]:
    """A cassette holds one episode: two providers that record a case into one file would leave that of the last."""
    if len(providers) < 2:
        return
    from models.cassettes.modes import CassetteMode
    from providers.cassette_choice import read_cassette_choice

    chosen = [(one, read_cassette_choice(one.config, environment)) for one in providers]
    recording = [(one, choice) for one, choice in chosen if choice is not None and choice.mode != CassetteMode.NONE]
    for source in suite.sources:
        there: dict[tuple[str, str], SuiteProvider] = {}
        for one, choice in recording:
            if source.provider not in (None, one.label):
                continue
            first = there.setdefault((choice.folder, choice.name), one)
            if first is not one:
                other = f"tell them apart (cassette: {{name: {one.label}}})"
                yield (
                    f"{one.where}: the providers {first.label} and {one.label} run the same cases and would record "
                    f"them into the same files, each over the other's: {other}, "
                    f"or choose one with --filter-providers {first.label}"
                )
                return
