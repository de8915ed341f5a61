"""A real HTTP model service that follows a script stands in for the judge, and an answer for it to judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.assertions.conversations import conversation, says
from tests.support.scripted_model import KEY, Say, ScriptedModel, Step, scripted_model

ANSWER = "The gate checks the schema. It can not be waived."


@contextmanager
def judge_says(monkeypatch: pytest.MonkeyPatch, *script: Step | dict[str, Any]) -> Iterator[ScriptedModel]:
    """The run's model service answers with these replies (objects are written as JSON)."""
    steps = [Say(json.dumps(step)) if isinstance(step, dict) else step for step in script]
    with scripted_model(*steps) as model:
        monkeypatch.setenv("EVALS_MODEL_BASE_URL", model.url)
        monkeypatch.setenv("EVALS_MODEL_API_KEY", KEY)
        monkeypatch.setenv("EVALS_JUDGE_MODEL", "")
        yield model


def answered(text: str = ANSWER, **more: Any) -> Any:
    variables = {"request": "What does the gate check?"}
    return conversation(messages=[says("user", "What?"), says("assistant", text)], variables=variables, **more)
