"""Are the providers of a suite, and the agents that they name, configured rightly? Found before promptfoo starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from evals.command_line import CommandError
from evals.run_request import RunRequest
from evals.suite_providers import SuiteProvider, chosen_providers
from evals.suites import Suite


def check_providers(request: RunRequest, suites: Sequence[Suite]) -> None:
    """Read each provider's config and its agent's file, as an episode would.

    Raises:
        CommandError: one line for each provider with a mistake: file and line, key, what is wrong, what is allowed.
    """
    environment = {**os.environ, **request.models}
    chosen = [(suite, chosen_providers(request, suite.providers)) for suite in suites]
    problems = [problem for _, providers in chosen for problem in _mistakes(providers, environment)]
    if not problems:
        problems = [problem for suite, providers in chosen for problem in _clashes(suite, providers, environment)]
    if problems:
        raise CommandError("\n".join(problems))


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
