"""The tables of `docs/matchers-compared.md`: what the peers said (`verdicts.json`) beside what our assertions say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assertions.verdict import Verdict
from bench.peers.ours import our_result
from bench.peers.rows import PEERS, Row, rows

FILE = Path(__file__).resolve().parents[2] / "docs" / "matchers-compared.md"
NO_SUCH_SETTING = "-"
OURS = {Verdict.PASS: "pass", Verdict.FAIL: "fail", Verdict.NOT_EVALUATED: "not evaluated"}


def filled(text: str, answered: Mapping[str, Any]) -> str:
    """The page's text with its three written parts (`<!-- name -->` to `<!-- end -->`) as `answered` demands."""
    parts = {
        "versions": ", ".join(f"{PEERS[peer]} {version}" for peer, version in answered["versions"].items()) + ".",
        "deviations": "\n".join(_deviations(answered["verdicts"])),
        "everyone": "\n".join(_everyone(answered["verdicts"])),
    }
    for name, part in parts.items():
        start = text.index(f"<!-- {name} -->\n") + len(f"<!-- {name} -->\n")
        text = text[:start] + part + text[text.index("\n<!-- end -->", start) :]
    return text


def theirs(row: Row, said: Mapping[str, str | None]) -> str:
    """The verdict of the peers that the row is about; each with its name when they do not agree."""
    verdicts = {peer: said[peer] or NO_SUCH_SETTING for peer in row.about}
    if len(set(verdicts.values())) == 1:
        return verdicts[row.about[0]]
    return ", ".join(f"{PEERS[peer]} {verdict}" for peer, verdict in verdicts.items())


def passes(verdict: str) -> bool:
    return verdict.startswith("pass") or verdict == "score 1"


def _deviations(verdicts: Mapping[str, Mapping[str, str | None]]) -> Iterator[str]:
    yield "| id | case | theirs | ours | why |"
    yield "|---|---|---|---|---|"
    for row in rows():
        about = ", ".join(PEERS[peer] for peer in row.about)
        ours = OURS[our_result(row).verdict]
        yield f"| {row.id} | {about}: {row.case} | {theirs(row, verdicts[row.id])} | {ours} | {row.why} |"


def _everyone(verdicts: Mapping[str, Mapping[str, str | None]]) -> Iterator[str]:
    yield "| id | " + " | ".join(PEERS.values()) + " | ours |"
    yield "|---" * (len(PEERS) + 2) + "|"
    for row in rows():
        if row.mode is None:
            continue
        ours = our_result(row).verdict
        cells = []
        for peer in PEERS:
            verdict = verdicts[row.id][peer]
            if verdict is None:
                cells.append(NO_SUCH_SETTING)
            else:
                cells.append(verdict if passes(verdict) is (ours is Verdict.PASS) else f"**{verdict}**")
        yield f"| {row.id} | " + " | ".join(cells) + f" | {OURS[ours]} |"
