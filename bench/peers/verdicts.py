"""What every matcher really says about every row: `npm run peers`, or `python -m bench.peers.verdicts`.

Each peer is asked in its own environment, which is made when it is not there; promptfoo in a run of its own. The
answers go to `verdicts.json`, and the tables of `docs/matchers-compared.md` are written from them and from our own
verdicts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.peers import page, promptfoo_rows
from bench.peers.environment import PeerEnvironmentError, PeerFailed, ask
from bench.peers.rows import PEERS, rows

FILE = Path(__file__).with_name("verdicts.json")
MATCHERS: dict[str, Path] = {
    peer: Path(__file__).resolve().parent / "matchers" / name
    for peer, name in {
        "agentevals": "agentevals_matcher.py",
        "google-adk": "adk_matcher.py",
        "deepeval": "deepeval_matcher.py",
        "pydantic-evals": "pydantic_evals_matcher.py",
        "tau2": "tau2_matcher.py",
        "azure-ai-evaluation": "azure_matcher.py",
    }.items()
}
"""What is run in each peer's environment. promptfoo is not a Python package and has a module of its own."""


def written() -> dict[str, Any]:
    """`verdicts.json`: `versions` by peer, and `verdicts` by row and peer.

    A verdict is `pass` or `fail` (with a score that is neither 0 nor 1 in parentheses), `score x` where the peer gives
    a number and no verdict, `error (type)`, or null where the peer has no such mode.
    """
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def ask_peer(peer: str, say: Callable[[str], None] = print) -> tuple[str, dict[str, str | None]]:
    """The peer's version, and its verdict on each row.

    Raises:
        PeerEnvironmentError: its environment can not be made.
        PeerFailed: its process ended with an error.
    """
    if peer == "promptfoo":
        return promptfoo_rows.version(), promptfoo_rows.verdicts(rows())
    questions = [question for row in rows() if (question := row.question(peer)) is not None]
    answered = ask(peer, MATCHERS[peer], questions, say)
    return answered["version"], {row.id: answered["verdicts"].get(row.id) for row in rows()}


def ask_all(say: Callable[[str], None]) -> dict[str, Any]:
    """The content of `verdicts.json`."""
    versions: dict[str, str] = {}
    verdicts: dict[str, dict[str, str | None]] = {row.id: {} for row in rows()}
    for peer in PEERS:
        say(f"{peer} …")
        versions[peer], said = ask_peer(peer, say)
        for row_id, verdict in said.items():
            verdicts[row_id][peer] = verdict
    return {"versions": versions, "verdicts": verdicts}


def main(arguments: list[str]) -> int:
    """0: written, or nothing to change; 1: a peer could not be asked, or (with `--check`) something would change."""
    options = argparse.ArgumentParser(prog="npm run peers --", description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; 1 when a file would change")
    chosen = options.parse_args(arguments)
    try:
        answered = ask_all(lambda text: print(text, flush=True))
    except (PeerEnvironmentError, PeerFailed) as error:
        print(error, file=sys.stderr)
        return 1
    changed = 0
    for file, text in (
        (FILE, json.dumps(answered, indent=1, ensure_ascii=False) + "\n"),
        (page.FILE, page.filled(page.FILE.read_text(encoding="utf-8"), answered)),
    ):
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            changed += 1
            print(f"{file} {'would change' if chosen.check else 'is written'}")
            if not chosen.check:
                file.write_text(text, encoding="utf-8")
    return 1 if changed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
