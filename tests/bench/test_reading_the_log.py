"""What the benchmarks read out of the model service's log, on logs that are written by hand."""

from __future__ import annotations

from typing import Literal

import pytest

from bench.figure import Figure
from bench.processors import Processors
from bench.talk import Kind, Talk
from bench.talk_log import read_drive
from bench.throughput import busy_time
from bench.timed_model import Asked

Side = Literal["agent", "user"]


def _asked(
    kind: Kind, number: int, side: Side, arrived: float, took: float = 1.0, *, heard_inverted: bool = False
) -> Asked:
    return Asked(Talk(kind, number), side, arrived, arrived + took, heard_inverted)


def test_lanes_that_always_wait_for_the_model_have_the_whole_of_the_ideal() -> None:
    log = [_asked("plain", number, "agent", number // 2) for number in range(8)]
    assert busy_time(log, 2, 1.0).share(2) == pytest.approx(1.0)


def test_time_between_an_answer_and_the_next_case_is_no_waiting_for_the_model() -> None:
    log = [_asked("plain", number, "agent", 2.0 * number) for number in range(5)]
    assert busy_time(log, 1, 1.0).share(1) == pytest.approx(0.5)


def test_an_answer_that_came_late_counts_as_the_latency_and_not_more() -> None:
    log = [_asked("plain", number, "agent", 2.0 * number, took=1.9) for number in range(5)]
    assert busy_time(log, 1, 1.0).share(1) == pytest.approx(0.5)


def test_only_the_time_counts_in_which_every_lane_had_a_case() -> None:
    late_lane = [_asked("plain", 100, "agent", 6.0), _asked("plain", 101, "agent", 7.0)]
    log = [*(_asked("plain", number, "agent", float(number)) for number in range(9)), *late_lane]
    busy = busy_time(log, 9, 1.0)
    assert (busy.first, busy.last) == (7.0, 8.0)


def test_too_few_cases_for_all_lanes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 cases can not keep 4 lanes busy"):
        busy_time([_asked("plain", 0, "agent", 0.0), _asked("plain", 1, "agent", 0.0)], 4, 1.0)


def _log(*, delivered: bool, heard: bool) -> list[Asked]:
    """Three plain conversations with 0.2 s between answers and 0.5 s after the last, and one of each other kind."""
    log: list[Asked] = []
    clock = 0.0
    for number in range(3):
        for side in ("agent", "user"):
            log.append(_asked("plain", number, "agent" if side == "agent" else "user", clock))
            clock += 1.2
        clock += 0.3
    log += [_asked("glued", 0, "agent", clock), _asked("glued", 0, "user", clock + 2)]
    log += [_asked("glued", 0, "agent", clock + 4)] if delivered else []
    return [
        *log,
        _asked("inverted", 0, "user", clock + 6),
        _asked("inverted", 0, "agent", clock + 8, heard_inverted=heard),
    ]


def test_the_drivers_own_time_is_what_lies_between_the_models_answers_for_each_turn() -> None:
    drive = read_drive([_log(delivered=True, heard=False)])
    assert drive.between_ms == pytest.approx(100)
    assert drive.whole_ms == pytest.approx(350)


@pytest.mark.parametrize("delivered", [True, False])
@pytest.mark.parametrize("heard", [True, False])
def test_a_last_line_is_lost_when_nobody_asks_the_agent_after_it(delivered: bool, heard: bool) -> None:
    drive = read_drive([_log(delivered=delivered, heard=heard)])
    assert drive.last_lines_lost == (0 if delivered else 1)
    assert drive.inverted_heard == (1 if heard else 0)


def test_a_log_with_too_few_conversations_is_refused() -> None:
    with pytest.raises(ValueError, match="too few conversations"):
        read_drive([[_asked("plain", 0, "agent", 0.0)]])


def test_busy_processors_are_read_between_two_moments_and_unknown_without_samples() -> None:
    samples = Processors(at=[0.0, 1.0, 2.0, 3.0], spent=[10.0, 11.0, 13.0, 13.0])
    assert samples.busy(0.0, 2.5) == pytest.approx(1.5)
    assert samples.busy(2.5, 2.9) is None
    assert Processors().busy(0.0, 1.0) is None


@pytest.mark.parametrize(
    ("figure", "holds", "verdict"),
    [
        (Figure("a", 1.0, "x", 1.5), True, "(goal: at most 1.5)  holds"),
        (Figure("a", 2.0, "x", 1.5), False, "(goal: at most 1.5)  DOES NOT HOLD"),
        (Figure("a", 2.0, "%", 1.5, at_least=True), True, "(goal: at least 1.5)  holds"),
        (Figure("a", 1.0, "%", 1.5, at_least=True), False, "(goal: at least 1.5)  DOES NOT HOLD"),
        (Figure("a", 9.0, "s"), True, ""),
    ],
)
def test_a_figure_holds_on_the_right_side_of_its_goal_and_always_without_one(
    figure: Figure, holds: bool, verdict: str
) -> None:
    assert figure.holds is holds
    assert figure.verdict == verdict
