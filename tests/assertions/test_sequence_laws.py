"""Laws of the alignment of calls with steps, checked against a reference that tries everything."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assertions import tool_sequence
from assertions.run_check import judged
from assertions.tool_calls.sequence_config import read_config
from assertions.tool_calls.steps import Step
from assertions.verdict import CheckResult
from episodes.record import ToolCall
from tests.assertions.makers import call, evidence_of
from tests.support.laws import law

NAMES = ("a", "b", "c", "ab")
PATTERNS: tuple[dict[str, Any], ...] = (
    *({"tool": name} for name in ("a", "b", "c", "a*", "?")),
    {"any_of": ["b", "ab"]},
)


@st.composite
def step_configs(draw: st.DrawFn) -> dict[str, Any]:
    step = dict(draw(st.sampled_from(PATTERNS)))
    kind = draw(st.sampled_from(("once", "once", "optional", "repeated", "endless", "writes")))
    if kind == "optional":
        step["optional"] = True
    elif kind == "repeated":
        step |= {"min": draw(st.integers(0, 2)), "max": 2}
    elif kind == "endless":
        step["min"] = draw(st.integers(0, 1))
    elif kind == "writes":
        step["after_answers"] = True
    return step


@st.composite
def batched_calls(draw: st.DrawFn) -> list[ToolCall]:
    names = draw(st.lists(st.sampled_from(NAMES), max_size=5))
    batch, made = 1, []
    for name in names:
        batch += draw(st.booleans())
        made.append(call(name, _batch=batch))
    return made


def judge(config: dict[str, Any], calls: list[ToolCall]) -> CheckResult:
    return judged("tool_sequence", tool_sequence.check, evidence_of(calls), config)


def reference(steps: tuple[Step, ...], calls: list[ToolCall], mode: str, strict: bool) -> bool:
    """Try every way to give each call a step or none."""
    for choice in product([None, *range(len(steps))], repeat=len(calls)):
        if all(
            index is None or steps[index].pattern.match(made) for index, made in zip(choice, calls, strict=True)
        ) and (_meets(steps, calls, choice, mode, strict)):
            return True
    return False


def _meets(
    steps: tuple[Step, ...], calls: list[ToolCall], choice: tuple[int | None, ...], mode: str, strict: bool
) -> bool:
    for index, step in enumerate(steps):
        count = choice.count(index)
        if (mode != "subset" and count < step.least) or (step.most is not None and count > step.most):
            return False
    left = [made for made, index in zip(calls, choice, strict=True) if index is None]
    if mode in ("exact", "any_order", "subset") and left:
        return False
    if any(step.capped and step.pattern.match(made) for step in steps for made in left):
        return False
    if mode not in ("exact", "in_order"):
        return True
    served = [(index, made) for made, index in zip(calls, choice, strict=True) if index is not None]
    for at, (later, late) in enumerate(served):
        for earlier, early in served[:at]:
            together = early.batch == late.batch
            if earlier > later and (strict or not together):
                return False
            low, high = sorted((earlier, later))
            if together and low < high and steps[high].after_answers and not steps[low].after_answers:
                return False
    return True


@law(400)
@given(
    st.lists(step_configs(), min_size=1, max_size=4),
    batched_calls(),
    st.sampled_from(("exact", "in_order", "any_order", "subset", "superset")),
    st.booleans(),
)
def test_the_verdict_is_that_of_trying_everything(
    steps: list[dict[str, Any]], calls: list[ToolCall], mode: str, strict: bool
) -> None:
    config = {"mode": mode, "steps": steps, "strict_batches": strict}
    result = judge(config, calls)
    if "every step is optional" in result.reason:
        return
    assert result.passed == reference(read_config(config).steps, calls, mode, strict), result.reason
    assert (result.score == 1.0) is result.passed
    assert 0.0 <= result.score <= 1.0
    assert all(0.0 <= score <= 1.0 for score in result.named_scores.values())


@law(200)
@given(
    st.lists(step_configs(), min_size=1, max_size=4),
    batched_calls(),
    st.sampled_from(("any_order", "subset", "superset")),
    st.randoms(use_true_random=False),
)
def test_without_order_neither_listing_nor_calling_order_matters(
    steps: list[dict[str, Any]], calls: list[ToolCall], mode: str, random: Any
) -> None:
    first = judge({"mode": mode, "steps": steps}, calls)
    shuffled_steps, shuffled_calls = list(steps), list(calls)
    random.shuffle(shuffled_steps)
    random.shuffle(shuffled_calls)
    second = judge({"mode": mode, "steps": shuffled_steps}, shuffled_calls)
    assert (first.verdict, first.score) == (second.verdict, second.score)
    for name in ("precision", "recall", "f1"):
        assert first.named_scores.get(f"tool_sequence.{name}") == second.named_scores.get(f"tool_sequence.{name}")


@law(200)
@given(st.lists(step_configs(), min_size=1, max_size=4), batched_calls())
def test_the_stricter_mode_never_passes_where_the_looser_one_fails(
    steps: list[dict[str, Any]], calls: list[ToolCall]
) -> None:
    def passes(mode: str, strict: bool = False) -> bool:
        return judge({"mode": mode, "steps": steps, "strict_batches": strict}, calls).passed

    implications = [
        (passes("exact"), passes("any_order")),
        (passes("in_order"), passes("superset")),
        (passes("any_order"), passes("subset")),
        (passes("exact", strict=True), passes("exact")),
        (passes("in_order", strict=True), passes("in_order")),
    ]
    containment_says_nothing = "every step is optional" in judge({"steps": steps}, calls).reason
    if not containment_says_nothing:
        implications += [(passes("exact"), passes("in_order")), (passes("any_order"), passes("superset"))]
    assert all(looser for stricter, looser in implications if stricter)
