"""`evals judge-agreement`: labelled items against a judge that follows a script."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.command_line import CommandError
from evals.exit_codes import Exit
from evals.judge_agreement_command import LABELS, VALUES, main, read_labels
from tests.support.scripted_model import KEY, Say, scripted_model


def reply_to(verdicts: dict[str, Any]) -> Any:
    """A judge that answers by the text of the answer that it gets."""

    def answer(body: dict[str, Any]) -> Say:
        order = json.loads(next(one["content"] for one in reversed(body["messages"]) if one["role"] == "user"))
        verdict = verdicts[order["answer"]]
        if verdict == "prose":
            return Say("Looks fine.")
        if order["task"] == "rubric":
            finding = {"criterion": order["criteria"][0], "met": verdict, "evidence": ""}
            return Say(json.dumps({"criteria": [finding], "reason": ""}))
        if order["task"] == "semantic":
            return Say(json.dumps({"score": verdict, "reason": ""}))
        claims = [{"claim": "c", "supported": held, "evidence": "source" if held else ""} for held in verdict]
        return Say(json.dumps({"claims": claims, "reason": ""}))

    return answer


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    items: list[dict[str, Any]] = [
        {"id": "1", "task": "rubric", "criteria": ["a"], "answer": "one", "label": True},
        {"id": "2", "task": "rubric", "criteria": ["a"], "answer": "two", "label": False},
        {"id": "3", "task": "rubric", "criteria": ["a"], "answer": "three", "label": False},
        {"id": "4", "task": "groundedness", "answer": "four", "context": "source", "label": "supported"},
        {"id": "5", "task": "groundedness", "answer": "five", "context": "source", "label": "none"},
        {"id": "6", "task": "semantic", "answer": "six", "expected": "x", "label": 3},
        {"id": "7", "task": "semantic", "answer": "seven", "expected": "x", "label": 0},
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("\n".join(map(json.dumps, items)) + "\n")
    return file


def run(labels: Path, verdicts: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    with scripted_model(*[reply_to(verdicts)] * 30) as model:
        monkeypatch.setenv("EVALS_MODEL_BASE_URL", model.url)
        monkeypatch.setenv("EVALS_MODEL_API_KEY", KEY)
        return main(["--labels", str(labels), "--judge", "scripted", *options])


VERDICTS: dict[str, Any] = {
    "one": True,
    "two": False,
    "three": True,
    "four": [True],
    "five": [],
    "six": 2,
    "seven": 0,
}


def test_matrix_agreement_and_the_items_that_differ_are_printed(
    labels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(labels, VERDICTS, monkeypatch) == Exit.PASSED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Judge: scripted"
    assert lines[2].startswith("rubric (prompt ")
    assert lines[3:9] == [
        "  equal: 2 of 3; Krippendorff's alpha (nominal): 0.444",
        "    label      met  not met",
        "      met        1        0",
        "  not met        1        1",
        "  differs: 3: labelled not met, judged met",
        "",
    ]
    assert "  equal: 2 of 2; Krippendorff's alpha (nominal): 1.000" in lines
    assert "  differs: 6: labelled 3, judged 2" in lines


def test_an_item_without_a_usable_reply_is_counted_apart(
    labels: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(labels, {**VERDICTS, "one": "prose"}, monkeypatch) == Exit.NOT_EVALUATED
    out = capsys.readouterr().out
    assert "  equal: 1 of 2; " in out
    assert "  not judged: 1: the judge's reply can not be used: it is not JSON " in out


def test_a_pipeline_can_demand_agreement(labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(labels, VERDICTS, monkeypatch, "--least-alpha", "0.8", "--task", "groundedness") == Exit.PASSED
    assert run(labels, VERDICTS, monkeypatch, "--least-alpha", "0.8", "--task", "rubric") == Exit.FAILED


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", ":1: Expecting property name"),
        ('{"id": "1"}', ":1: 'task'"),
        ('{"id": "1", "task": "taste"}', ":1: task is 'taste'; allowed: rubric, groundedness, goal, semantic"),
        ('{"id": "1", "task": "goal", "label": true, "answer": ""}', ":1: label is True; allowed: 1, 0, -1"),
        ('{"id": "1", "task": "rubric", "label": true, "answer": ""}', ":1: a rubric item has exactly one criterion"),
    ],
)
def test_a_wrong_label_is_found_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(CommandError) as caught:
        main(["--labels", str(file)])
    assert str(caught.value).startswith(f"{file}{problem}")


def test_the_packs_own_labels_hold_every_verdict_of_every_task() -> None:
    items = read_labels(LABELS)
    seen = Counter((item.order.task, item.label) for item in items)
    assert set(seen) == {(task, value) for task, values in VALUES.items() for value in values}
    assert len({item.id for item in items}) == len(items) == 40
