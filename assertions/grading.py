"""Grade recorded episodes without promptfoo: prepare a case's checks once, then judge any number of episodes with them.

from assertions import Recorded, grade_all, prepare

cases = {"C01": prepare([("tool_not_executed", {"tools": ["delete_*"]})], variables={}, case_id="C01")}
for graded in grade_all(cases, map(Recorded.of, episodes)):
    print(graded.case_id, graded.verdict, graded.reason)

Whatever a config says is read once, when its case is prepared or first used; an episode costs no more than looking at
its calls. Nothing is kept of an episode that was graded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from assertions.config_check import STAMP_KEY, check_config
from assertions.evidence import Evidence
from assertions.run_check import Check, judged
from assertions.templates import render
from assertions.verdict import CheckResult, ConfigError, Verdict
from episodes.frozen import frozen
from episodes.record import Episode

JUDGED = ("rubric", "groundedness", "user_goal", "task_completion")
"""Checks that ask a language model."""


@frozen
class PreparedCheck:
    """One check with its rendered config."""

    name: str
    config: Mapping[str, Any]
    check: Check


@frozen
class PreparedCase:
    """The checks of one case. `left_out` names those that were not wanted."""

    checks: tuple[PreparedCheck, ...]
    variables: Mapping[str, Any]
    case_id: str = ""
    left_out: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """A conversation that was recorded. `episode` is None when it can not be read; `problem` then says why.

    `output` is the final answer, for a record without messages.
    """

    case_id: str
    episode: Episode | None
    output: str = ""
    problem: str = ""

    @staticmethod
    def of(episode: Episode) -> Recorded:
        return Recorded(episode.case_id, episode)


class Graded(NamedTuple):
    """What became of a recorded conversation.

    `verdict` is None when its case has no check that can be made here. `reason` is that of the first check which
    decides, empty for a pass; `results` are all, in the order of the checks, and empty where there was nothing to look
    at. `left_out` names the checks of the case that were not made.
    """

    recorded: Recorded
    verdict: Verdict | None
    reason: str = ""
    results: tuple[CheckResult, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def case_id(self) -> str:
        return self.recorded.case_id


def prepare(
    checks: Iterable[tuple[str, Mapping[str, Any]]],
    variables: Mapping[str, Any],
    *,
    case_id: str = "",
    ask_judges: bool = False,
    look_up: bool = False,
    checked: bool = False,
) -> PreparedCase:
    """Prepare `checks` (name and config of each) for the episodes of one case.

    Recorded pull requests are usually abandoned by now, so `look_up: false` is set unless `look_up` is: what the record
    holds of their host's answer counts, else the creating tool's. Checks that ask a model are left out unless
    `ask_judges` is. `checked` says that the configs are known to be right.

    Raises:
        ConfigError: a config is wrong.
    """
    prepared: list[PreparedCheck] = []
    left_out: list[str] = []
    for name, written in checks:
        bare = {key: value for key, value in written.items() if key != STAMP_KEY}
        if not checked:
            check_config(name, bare, variables)
        rendered = render(bare, variables)
        offline = rendered if look_up else _without_look_up(name, rendered)
        wanted = offline if ask_judges else _without_judges(name, offline, left_out)
        if wanted is not None:
            prepared.append(PreparedCheck(name, wanted, import_module(f"assertions.{name}").check))
    return PreparedCase(tuple(prepared), variables, case_id, tuple(left_out))


def grade_episode(case: PreparedCase, episode: Episode, output: str = "") -> list[CheckResult]:
    """The verdicts on one episode, in the order of the checks. Never raises."""
    evidence = Evidence(episode, output, case.variables, case.case_id or episode.case_id)
    return [judged(check.name, check.check, evidence, check.config) for check in case.checks]


def grade_all(
    cases: Mapping[str, PreparedCase], recorded: Iterable[Recorded], default_case: str = ""
) -> Iterator[Graded]:
    """Judge each conversation by the checks of its case, one after the other as they come.

    `cases` are known by their ids; a conversation that names none belongs to `default_case`. An episode that broke off
    is not evaluated: in a run it is an error, and no assertion looks at it. Raises nothing but what `recorded` raises.
    """
    for one in recorded:
        case_id = one.case_id or default_case
        case = cases.get(case_id)
        if case is None:
            problem = f"there is no case {case_id!r} in the case files" if case_id else "it names no case"
            yield Graded(one, Verdict.NOT_EVALUATED, problem)
        elif one.episode is None:
            yield Graded(one, Verdict.NOT_EVALUATED, f"{case_id}: {one.problem}", (), case.left_out)
        elif one.episode.stop_reason.broke_off:
            problem = (
                f"{case_id}: the episode broke off ({one.episode.stop_reason}), which says nothing about the agent"
            )
            yield Graded(one, Verdict.NOT_EVALUATED, problem, (), case.left_out)
        elif not case.checks:
            yield Graded(one, None, "", (), case.left_out)
        else:
            results = tuple(grade_episode(case, one.episode, one.output))
            yield Graded(one, *_summed_up(case_id, results), results, case.left_out)


def _summed_up(case_id: str, results: tuple[CheckResult, ...]) -> tuple[Verdict, str]:
    for verdict in (Verdict.FAIL, Verdict.NOT_EVALUATED):
        for result in results:
            if result.verdict is verdict:
                return verdict, f"{case_id} {result.name}: {result.reason}"
    return Verdict.PASS, ""


def _without_look_up(name: str, config: Mapping[str, Any]) -> Mapping[str, Any]:
    def offline(part: Any) -> Any:
        blocked = not isinstance(part, Mapping) or part.get("required", True) is False
        return part if blocked else {"look_up": False, **part}

    if name == "pull_request":
        return dict(offline(config))
    if name == "contract" and "pull_request" in config:
        part = config["pull_request"]
        return {**config, "pull_request": list(map(offline, part)) if isinstance(part, list) else offline(part)}
    return config


def _without_judges(name: str, config: Mapping[str, Any], left_out: list[str]) -> Mapping[str, Any] | None:
    """The config without what a model has to decide; None when nothing remains."""
    if name in JUDGED or (name == "golden_turn" and _by_judge(config)):
        left_out.append(name)
        return None
    if name != "contract":
        return config
    kept: dict[str, Any] = {}
    for part, value in config.items():
        several = value if isinstance(value, list) else [value]
        if part in JUDGED or (part == "golden_turn" and any(map(_by_judge, several))):
            left_out.append(f"contract.{part}")
        else:
            kept[part] = value
    return kept or None


def _by_judge(config: Any) -> bool:
    semantic = config.get("semantic") if isinstance(config, Mapping) else None
    return isinstance(semantic, Mapping) and semantic.get("by") == "judge"


__all__ = [
    "JUDGED",
    "ConfigError",
    "Graded",
    "PreparedCase",
    "PreparedCheck",
    "Recorded",
    "grade_all",
    "grade_episode",
    "prepare",
]
