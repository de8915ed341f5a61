"""`docs/matchers-compared.md` says what our assertions say, and what the peers said when they were really run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assertions.verdict import Verdict
from bench.peers import environment, page, rows, verdicts
from bench.peers.ours import our_result

ROWS = rows.rows()
WRITTEN: dict[str, Any] = verdicts.written()
WANTED = {
    **dict.fromkeys(["P1", "P4", "P6", "A3", "A5", "K1", "D6"], Verdict.NOT_EVALUATED),
    **dict.fromkeys(
        ["P2", "P5", "P7", "P8", "P9", "A1", "K2", "K3", "T1", "T2", "D2", "D3", "D4", "D5", "Z2"], Verdict.FAIL
    ),
    **dict.fromkeys(["P3", "P10", "P11", "A2", "A4", "A6", "T3", "T4", "D1", "Y1", "Y2", "Z1"], Verdict.PASS),
}


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_our_verdict_on_a_row_is_the_one_that_we_want(row: rows.Row) -> None:
    result = our_result(row)
    assert result.verdict is WANTED[row.id], result.reason


def test_the_page_says_what_the_peers_said_and_what_we_say() -> None:
    text = page.FILE.read_text(encoding="utf-8")
    assert page.filled(text, WRITTEN) == text


def test_the_page_would_change_with_any_verdict() -> None:
    text = page.FILE.read_text(encoding="utf-8")
    changed = json.loads(json.dumps(WRITTEN))
    changed["verdicts"]["D2"]["deepeval"] = "fail (0.5)"
    assert "| D2 | DeepEval: an extra `delete_repo` | fail (0.5) | fail |" in page.filled(text, changed)
    changed["versions"]["deepeval"] = "99"
    assert "DeepEval 99" in page.filled(text, changed)


def test_every_row_has_a_written_verdict_of_the_peers_that_it_is_about() -> None:
    assert list(WRITTEN["verdicts"]) == [row.id for row in ROWS]
    assert WANTED.keys() == WRITTEN["verdicts"].keys()
    assert list(WRITTEN["versions"]) == list(rows.PEERS)
    for row in ROWS:
        said = WRITTEN["verdicts"][row.id]
        assert list(said) == list(rows.PEERS)
        assert all(said[peer] is not None for peer in row.about)


def test_a_row_is_a_difference() -> None:
    for row in ROWS:
        said = page.theirs(row, WRITTEN["verdicts"][row.id])
        assert said.partition(" (")[0] != page.OURS[our_result(row).verdict], row.id


def test_no_peer_differs_from_us_in_nothing() -> None:
    assert {peer for row in ROWS for peer in row.about} == set(rows.PEERS)
    assert {row.id[0] for row in ROWS} == set("PAKTDYZ")


@pytest.mark.parametrize("peer", list(verdicts.MATCHERS))
def test_a_peer_still_says_what_was_written_down(peer: str) -> None:
    if not environment.is_made(peer):
        pytest.skip(f"{peer} is not installed; `npm run peers` makes its environment")
    version, said = verdicts.ask_peer(peer)
    assert version == WRITTEN["versions"][peer]
    assert said == {row_id: by_peer[peer] for row_id, by_peer in WRITTEN["verdicts"].items()}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mode": "inorder"}, "row X1: unknown mode 'inorder'; allowed: exact, in_order, any_order, subset, superset"),
        ({"arguments": "partial"}, "row X1: unknown arguments 'partial'; allowed: ignore, exact, subset"),
        ({"about": ["pydantic"]}, "row X1: unknown peer in ['pydantic']; allowed: promptfoo, agentevals"),
        ({"modes": "exact"}, "row X1: unknown key modes"),
        ({"mode": "exact"}, "row X1: a mode needs the expected calls"),
    ],
)
def test_a_faulty_row_is_refused_with_what_is_allowed(change: dict[str, Any], problem: str) -> None:
    described = {"id": "X1", "about": ["tau2"], "case": "", "why": "", "actual": [], "ours": {"tool_sequence": {}}}
    with pytest.raises(ValueError, match=r"rows\.yaml") as error:
        rows.read_row(described | change)
    assert problem in str(error.value)
