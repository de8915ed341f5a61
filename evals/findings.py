"""What the doctor found: one line per thing that was looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """`mend` is empty when all is well; else it says what to do. `advice` is for what is well and could be better."""

    text: str
    mend: str = ""
    advice: str = ""

    @property
    def ok(self) -> bool:
        return not self.mend


def in_lines(title: str, findings: Sequence[Finding]) -> list[str]:
    """The findings under a title, a fault with its mend below it."""
    lines = [f"{title}:"]
    for finding in findings:
        lines.append(f"  {'ok   ' if finding.ok else 'FAULT'}  {finding.text}")
        if not finding.ok:
            lines.append(f"         mend: {finding.mend}")
        elif finding.advice:
            lines.append(f"         advice: {finding.advice}")
    return lines
