"""A model that writes whatever could do harm where it is shown: in a real run, with promptfoo's own outputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.providers.agent.rig import make_rig
from tests.support.promptfoo import CHECKOUT, run_promptfoo
from tests.support.scripted_model import Say, scripted_model
from tests.support.tool_process import ToolProcess

MARKUP = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
TEMPLATE = "{{ 7 * 7 }} {% for x in range(9) %}x{% endfor %} {{ env.EVALS_MODEL_API_KEY }} ${EVALS_MODEL_API_KEY}"
PATH = "../../../../outside/of/everything"
HOSTILE = f"{MARKUP} {TEMPLATE} {PATH} \x1b[2J\u202e\x00"


def test_hostile_words_are_kept_as_they_are_and_do_nothing(
    tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        Say(HOSTILE, calls=[(PATH, {"a": HOSTILE}), (MARKUP, HOSTILE), ("huge", {"characters": 5_000})]),
        Say(calls=[("create_pull_request", {"title": HOSTILE, "description": HOSTILE})]),
        Say(HOSTILE * 500),
    ]
    with scripted_model(*script) as model:
        rig = make_rig(tmp_path, monkeypatch, model, servers=[{"name": "portal", "url": tools.url}])
        config = {"agent": str(rig.folder / "agent"), "maxResultCharacters": 1_000}
        run = run_promptfoo(
            rig.folder,
            {
                "prompts": ["{{q}}"],
                "providers": [{"id": f"file://{CHECKOUT}/providers/production_agent.py", "config": config}],
                "tests": [{"vars": {"q": "hello"}, "assert": [{"type": "equals", "value": "nothing of the kind"}]}],
            },
            {name: text for name, text in os.environ.items() if name.startswith("EVALS_")},
            ["-o", "results.json", "-o", "results.html", "-o", "results.csv"],
        )
    (row,) = run.rows
    metadata = row["metadata"]
    assert TEMPLATE in metadata["messages"][1]["content"], "no template was filled in"
    assert [call["status"] for call in metadata["toolCalls"]] == ["not_executed", "not_executed", "ok", "ok"]
    assert [call["name"] for call in metadata["toolCalls"]][:2] == [PATH, MARKUP]
    assert HOSTILE.replace("\x00", "") in row["response"]["output"].replace("\x00", "")
    page = (rig.folder / "results.html").read_text(encoding="utf-8")
    assert "<script>document" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;document" in page
    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert [path for path in written if "outside" in str(path)] == []
    assert not (tmp_path / PATH).resolve().exists()
