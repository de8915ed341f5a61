"""What a contract says, as people see it in promptfoo's viewer: each part with its verdict's score and whole reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.assertions.conversations import conversation, says, tool
from tests.support.chromium import browser_page
from tests.support.promptfoo import CHECKOUT, run_promptfoo
from tests.support.viewer import viewer

CONTRACT: dict[str, Any] = {
    "tool_sequence": {"mode": "exact", "steps": ["read", "validate", "create"]},
    "tool_not_executed": {"tools": ["delete_*"]},
    "argument_match": [{"tool": "create", "args": {"draft": 1}}, {"tool": "read", "args": {"name": "a"}}],
    "schema_validation": {
        "submitted": {"tool": "create", "path": "/configuration"},
        "schema": {"required": ["name", "owner"], "properties": {"name": {"pattern": "^spoke-"}}},
    },
    "answer": {"contains": ["<b>bold</b>", "done"]},
    "max_cost": 0.05,
}
CONFIGURATION = {"name": "web-test"}


def test_every_part_shows_its_name_its_score_and_its_whole_reason(tmp_path: Path) -> None:
    evidence = conversation(
        tool("read", {"name": "a"}),
        tool("create", {"draft": True, "configuration": CONFIGURATION}),
        messages=[says("user", "Copy it."), says("assistant", "It is done.")],
    )
    answered = {"output": "It is done.", "metadata": evidence.record().to_metadata()}
    provider = tmp_path / "canned.py"
    provider.write_text(
        f"import json\nANSWER = {json.dumps(answered)!r}\n\n\ndef call_api(*_):\n    return json.loads(ANSWER)\n"
    )
    contract = {"type": "python", "value": f"file://{CHECKOUT}/assertions/contract.py", "config": CONTRACT}
    test = {"description": "one", "metadata": {"id": "C01"}, "vars": {"request": "Copy it."}, "assert": [contract]}
    config = {"prompts": ["{{request}}"], "providers": [f"file://{provider}"], "tests": [test]}
    (row,) = run_promptfoo(tmp_path / "run", config).rows
    parts = row["gradingResult"]["componentResults"]
    reasons = [_squeezed(part["reason"]) for part in parts]
    assert sum("\n" in part["reason"] for part in parts) >= 2
    assert any("<b>bold</b>" in reason for reason in reasons)

    with viewer(tmp_path / "run" / "promptfoo") as address, browser_page(tmp_path / "profile") as page:
        page.set_viewport_size({"width": 1500, "height": 1400})
        page.goto(f"{address}/eval/")
        page.get_by_label("View output and test details").first.click()
        page.get_by_role("tab", name="Evaluation").click()
        table = page.get_by_role("dialog").get_by_role("table")
        table.get_by_text("max_cost", exact=True).wait_for()
        shown = [line.get_by_role("cell").all_inner_texts() for line in table.get_by_role("row").all()]
        page.keyboard.press("Escape")
        scores = {
            name: page.get_by_label(f"Filter by metric {name}", exact=True).last.inner_text()
            for name in ("contract.tool_sequence", "contract.answer", "contract.max_cost", "contract.not_evaluated")
            if page.get_by_label(f"Filter by metric {name}", exact=True).count()
        }
    lines = {cells[0]: cells for cells in shown if cells}
    for part, reason in zip(parts, reasons, strict=True):
        cells = lines[(part.get("assertion") or {}).get("metric") or ""]
        assert cells[2] == f"{part['score']:.2f}"
        assert _squeezed(cells[-1]) == reason
    # The lines of a reason stay apart.
    assert lines[""][-1].splitlines()[0] == "4 of 7 parts failed"
    assert any(line.startswith("not evaluated: max_cost: ") for line in lines[""][-1].splitlines())
    assert {name: text.split()[-1] for name, text in scores.items()} == {
        "contract.tool_sequence": "0.67",
        "contract.answer": "0.50",
    }


def _squeezed(text: str) -> str:
    return " ".join(text.split())
