"""The flags of `promptfoo eval`, so that a typed line can be taken apart before promptfoo is started.

A test compares this table with what the installed promptfoo says about itself.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Takes = Literal["nothing", "one", "many", "perhaps"]


class Flag(NamedTuple):
    """`many` values end at the next flag; `perhaps` takes one unless a flag follows."""

    names: tuple[str, ...]
    takes: Takes


FLAGS = (
    Flag(("-c", "--config"), "many"),
    Flag(("-a", "--assertions"), "one"),
    Flag(("-p", "--prompts"), "many"),
    Flag(("-r", "--providers"), "many"),
    Flag(("-t", "--tests"), "one"),
    Flag(("-v", "--vars"), "one"),
    Flag(("--model-outputs",), "one"),
    Flag(("--prompt-prefix",), "one"),
    Flag(("--prompt-suffix",), "one"),
    Flag(("--var",), "one"),
    Flag(("--tag",), "one"),
    Flag(("-j", "--max-concurrency"), "one"),
    Flag(("--repeat",), "one"),
    Flag(("--delay",), "one"),
    Flag(("--no-cache",), "nothing"),
    Flag(("--remote",), "nothing"),
    Flag(("-n", "--filter-first-n"), "one"),
    Flag(("--filter-pattern",), "one"),
    Flag(("--filter-range",), "one"),
    Flag(("--filter-prompts",), "one"),
    Flag(("--filter-providers", "--filter-targets"), "one"),
    Flag(("--filter-sample",), "one"),
    Flag(("--filter-sample-seed",), "one"),
    Flag(("--filter-failing",), "one"),
    Flag(("--filter-failing-only",), "one"),
    Flag(("--filter-errors-only",), "one"),
    Flag(("--filter-metadata",), "one"),
    Flag(("-o", "--output"), "many"),
    Flag(("--table",), "nothing"),
    Flag(("--no-table",), "nothing"),
    Flag(("--table-cell-max-length",), "one"),
    Flag(("--share",), "nothing"),
    Flag(("--no-share",), "nothing"),
    Flag(("--resume",), "perhaps"),
    Flag(("--retry-errors",), "nothing"),
    Flag(("--no-write",), "nothing"),
    Flag(("--grader",), "one"),
    Flag(("--suggest-prompts",), "one"),
    Flag(("-w", "--watch"), "nothing"),
    Flag(("-x", "--extension"), "many"),
    Flag(("--description",), "one"),
    Flag(("--no-progress-bar",), "nothing"),
    Flag(("--env-file", "--env-path"), "one"),
)

BY_NAME = {name: flag for flag in FLAGS for name in flag.names}
