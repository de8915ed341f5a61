"""Every fault at every place: the episode ends as designed, with a whole record, and leaves nothing open.

The tables stand in `table.py`, the faults in `faults.py`, the conversation in `stage.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from episodes.record import Episode, StopReason, ToolCall, ToolStatus
from providers.envelope import MACHINERY
from tests.providers.faults.faults import FAULTS
from tests.providers.faults.stage import (
    CREATE,
    MODELS,
    Open,
    OpenDoor,
    Played,
    Stage,
    open_now,
    what_stays_open,
)
from tests.providers.faults.table import (
    HTTP_SERVER,
    NO_SENSE,
    RETRIED,
    SERVICES,
    STDIO_SERVER,
    Cell,
    cells,
    sensible,
)
from tests.support.troubled_http import doors

NOTHING = FAULTS["none"]
ROLES = ("agent", "user", "judge")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenDoor, Open]]:
    """What opens doors, and what is open after a first conversation in which nothing goes wrong."""
    with doors() as open_door, pytest.MonkeyPatch.context() as monkeypatch:
        Stage(open_door, tmp_path_factory.mktemp("first"), monkeypatch).play(NOTHING, "agent")
        yield open_door, open_now()


@pytest.fixture
def stage(street: tuple[OpenDoor, Open], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    open_door, before = street
    yield Stage(open_door, tmp_path, monkeypatch)
    assert what_stays_open(before) == ""


@pytest.mark.parametrize("cell", [cell for cell in sensible(SERVICES) if cell.place in ROLES], ids=str)
def test_a_fault_of_a_model_ends_the_episode_as_the_table_says(stage: Stage, cell: Cell) -> None:
    played = stage.play(FAULTS[cell.fault], cell.place)
    check_record(played, StopReason(cell.expected[0]))
    created = played.episode.pull_requests
    assert len(created) == (0 if cell.place == "agent" and cell.fault != "slow" else 1)
    # The host is asked about an episode that broke off, too.
    assert [pull.at_host is not None and pull.at_host.exists for pull in created] == [True] * len(created)


@pytest.mark.parametrize("cell", [cell for cell in sensible(SERVICES) if cell.place == "host"], ids=str)
def test_a_fault_of_the_host_costs_what_it_would_have_said_and_nothing_else(stage: Stage, cell: Cell) -> None:
    played = stage.play(FAULTS[cell.fault], cell.place)
    check_record(played, StopReason.GOAL_REACHED)
    (pull,) = played.episode.pull_requests
    known = "unknown" if pull.at_host is None else "known" if pull.at_host.exists else "missing"
    assert (known,) == cell.expected
    said_why = any("could not be looked up at their host" in warning for warning in played.episode.warnings)
    assert said_why == (known == "unknown")


@pytest.mark.parametrize("cell", [*sensible(HTTP_SERVER), *sensible(STDIO_SERVER)], ids=str)
def test_a_fault_of_a_tool_server_has_the_status_and_the_end_that_the_table_says(stage: Stage, cell: Cell) -> None:
    played = stage.play(FAULTS[cell.fault], cell.place)
    if cell.place.endswith("open"):
        check_record(played, StopReason(cell.expected[0]))
        return
    status = ToolStatus(cell.expected[0])
    created = cell.place.endswith("look") or status is ToolStatus.OK
    default = StopReason.GOAL_REACHED if created else StopReason.MAX_TURNS
    check_record(played, StopReason(cell.expected[1]) if len(cell.expected) > 1 else default)
    calls = [call for call in called(played.episode) if (call.name == CREATE) == cell.place.endswith("create")]
    assert [call.status for call in calls] == [status]


@pytest.mark.parametrize("fault", RETRIED)
def test_a_fault_that_comes_once_in_each_model_is_overcome_and_told(stage: Stage, fault: str) -> None:
    played = stage.play(FAULTS[fault], MODELS, once=True)
    check_record(played, StopReason.GOAL_REACHED)
    for begin in ("model scripted: ", "simulated user's model: ", "the check of a simulation's step: "):
        assert any(warning.startswith(begin) for warning in played.episode.warnings), begin


RAW: dict[str, tuple[str, str, str, dict[str, Any] | None]] = {
    "nothing, and nothing is required": ("free", "", "ok", {}),
    "blanks, and nothing is required": ("free", "  ", "ok", {}),
    "nothing, and something is required": ("strict", "", "parse_error", None),
    "null": ("strict", "null", "parse_error", None),
    "a list": ("free", "[]", "parse_error", None),
    "a number": ("free", "3", "parse_error", None),
    "a text": ("free", '"{}"', "parse_error", None),
    "true": ("free", "true", "parse_error", None),
    "no number": ("strict", '{"id": NaN}', "parse_error", None),
    "truncated": ("strict", '{"id": 1, "na', "parse_error", None),
    "two objects": ("free", "{}{}", "parse_error", None),
    "far too deep": ("free", "[" * 100_000, "parse_error", None),
    "a number as a text": ("strict", '{"id": "1"}', "schema_error", {"id": "1"}),
    "something missing": ("strict", '{"name": "x"}', "schema_error", {"name": "x"}),
}
"""What a model may send as arguments: the tool, the text, and what becomes of the call. `strict` requires an `id`."""


@pytest.mark.parametrize("case", RAW)
def test_arguments_are_read_strictly_and_never_become_an_empty_object(stage: Stage, case: str) -> None:
    tool, raw, status, arguments = RAW[case]
    stage.calls = [(tool, raw)]
    stage.schemas = {"strict": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}
    played = stage.play(NOTHING, "host")
    check_record(played, StopReason.GOAL_REACHED)
    call = called(played.episode)[0]
    assert (call.status, call.arguments, call.arguments_raw) == (status, arguments, raw)
    assert played.reached == ([tool, CREATE] if status == "ok" else [CREATE])


def test_every_fault_stands_in_a_table_and_every_gap_has_a_reason() -> None:
    tables = [*cells(SERVICES), *cells(HTTP_SERVER), *cells(STDIO_SERVER)]
    assert {cell.fault for cell in tables} == set(FAULTS) - {NOTHING.name}
    gaps = {cell.expected[0] for cell in tables if cell.expected[0].startswith("-")}
    assert gaps == set(NO_SENSE)
    assert set(RETRIED) <= set(FAULTS)


def called(episode: Episode) -> tuple[ToolCall, ...]:
    assert episode.tool_calls is not None
    return episode.tool_calls


def check_record(played: Played, stop: StopReason) -> None:
    """What holds for every cell, whatever went wrong."""
    raw, episode = played.raw, played.episode
    assert episode.stop_reason is stop, episode.warnings
    error = str(raw.get("error", ""))
    assert bool(error) == (stop in MACHINERY)
    if error:
        assert error.startswith(f"{stop}: ")
        assert error.removeprefix(f"{stop}: ") in episode.warnings
    _check_conversation(episode)
    usage = episode.usage
    assert {role: getattr(usage, role).requests for role in ROLES} == {role: played.answered[role] for role in ROLES}
    assert all(goal.status == "reached" for goal in episode.goals) == (stop is StopReason.GOAL_REACHED)
    assert [(goal.step, bool(goal.reason)) for goal in episode.goals] == [(1, True), (2, True)][: played.steps]
    assert episode.timings.started_at
    assert episode.timings.duration_ms > 0
    assert {"case", "pack"} <= set(episode.fingerprint)
    _check_ledger(played)
    told = [error, *episode.warnings, *(call.problem for call in called(episode))]
    assert not [text for text in told for address in played.secrets if address in text]


def _check_conversation(episode: Episode) -> None:
    """Every call that the model asked for is recorded once and answered once, in order; no side speaks twice."""
    asked = [call["id"] for message in episode.messages for call in message.get("tool_calls") or ()]
    answered = [message["tool_call_id"] for message in episode.messages if message["role"] == "tool"]
    assert asked == answered == [call.id for call in called(episode)]
    for call in called(episode):
        assert bool(call.problem) == (call.status is not ToolStatus.OK)
        assert call.started_at
    spoken = [one["role"] for one in episode.messages if one["role"] != "tool" and not one.get("tool_calls")]
    assert spoken == (["user", "assistant"] * 2)[: len(spoken)]


def _check_ledger(played: Played) -> None:
    """A creating call that was sent is in the ledger twice, and stays open there unless it was answered."""
    creating = [call for call in called(played.episode) if call.name == CREATE]
    if not creating:
        assert played.ledger == []
        return
    (call,) = creating
    intent, result = played.ledger
    assert (intent["kind"], result["kind"]) == ("intent", "result")
    assert result["answered"] == (call.status in (ToolStatus.OK, ToolStatus.TOOL_ERROR))
    assert result["sent"] == (call.status is not ToolStatus.NOT_EXECUTED)
    assert ("pullRequest" in result) == bool(played.episode.pull_requests)
