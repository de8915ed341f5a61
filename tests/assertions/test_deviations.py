"""Every row of `docs/matchers-compared.md` is a case here, with the verdict that the page says."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from assertions.run_check import grade
from tests.assertions.compared import COMPARED, TRAPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "matchers-compared.md"
ROWS = {
    cells[0]: cells
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [A-Z]\d+ \|", line)
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}


def test_the_page_and_the_cases_have_the_same_rows() -> None:
    assert list(ROWS) == list(COMPARED)
    assert {trap.row for trap in TRAPS} == {row for row in ROWS if row.startswith("P")}
    assert len({trap.row for trap in TRAPS}) == len(TRAPS)


@pytest.mark.parametrize("row", COMPARED)
def test_our_verdict_is_that_of_the_page(row: str) -> None:
    case = COMPARED[row]
    result = grade(case.name, import_module(f"assertions.{case.name}").check, case.evidence, case.config)
    assert result.verdict.value == case.verdict, result.reason
    assert ROWS[row][3] == case.verdict.replace("_", " ")


@pytest.mark.parametrize("trap", TRAPS, ids=[trap.row for trap in TRAPS])
def test_what_promptfoo_is_seen_to_say_is_on_the_page(trap: object) -> None:
    row, passes = getattr(trap, "row", ""), getattr(trap, "theirs_passes", None)
    assert ROWS[row][2] == ("pass" if passes else "fail")


def test_a_row_is_a_difference() -> None:
    assert all(cells[2] != cells[3] for cells in ROWS.values())
