"""The page of one pull request: title, state, author, description and what changes, for people in a browser.

Everything on it comes from models and strangers. It is escaped, no script is allowed at all, nothing is loaded, and the
one style sheet is named by its hash.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
from collections.abc import Iterator, Sequence
from html import escape

from local.portal.addresses import FULL_NAME
from local.portal.identity import identity
from local.portal.pull_request_table import Row
from local.portal.repository import Change, Repository

MAX_DIFF_LINES = 3000
"""Lines of a file's diff that are shown; the page says how many it leaves out."""

_MAX_FILE = 1_000_000
_MAX_FILES = 50

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
.state { border-radius: .3rem; color: #fff; padding: .1rem .5rem; }
.active { background: #0b6bcb; } .completed { background: #2a7d3c; } .abandoned { background: #6b6f76; }
.facts { color: GrayText; } code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.description { border-left: .2rem solid #8888; margin: 1rem 0; padding-left: 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
pre { border: 1px solid #8886; border-radius: .3rem; overflow-x: auto; padding: .6rem 0; tab-size: 2; }
pre span { display: block; min-height: 1.4em; padding: 0 .8rem; width: fit-content; min-width: 100%;
  box-sizing: border-box; }
.add { background: #2a7d3c2e; } .cut { background: #c0392b2e; } .at { color: GrayText; }
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Sent with every page."""


def pull_request_page(row: Row, changes: Sequence[Change], repository: Repository) -> str:
    """The whole page as HTML."""
    author = identity(row.created_by)
    parts = [
        f"<h1>Pull request {row.id}: {escape(row.title)}</h1>",
        f'<p><span class="state {row.status}">{row.status}</span> '
        f"<code>{escape(_branch(row.source_ref))}</code> into <code>{escape(_branch(row.target_ref))}</code> "
        f"of {escape(FULL_NAME)}</p>",
        f'<p class="facts">Opened by {escape(author.display_name)} on {escape(_day(row.created_at))}{_closed(row)}</p>',
    ]
    if row.description:
        parts.append(f'<div class="description">{escape(row.description)}</div>')
    parts += [_file(change, repository) for change in changes[:_MAX_FILES]]
    if not changes:
        parts.append("<p>No file changes.</p>")
    elif len(changes) > _MAX_FILES:
        parts.append(f"<p>{len(changes) - _MAX_FILES} more files change; they are not shown.</p>")
    return _frame(f"Pull request {row.id}", "\n".join(parts))


def missing_page() -> str:
    """The page for a number that no pull request has."""
    return _frame("No such pull request", "<h1>No such pull request</h1><p>There is none with this number.</p>")


def _frame(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _day(moment: str) -> str:
    return moment[:16].replace("T", " ") + " UTC"


def _closed(row: Row) -> str:
    if not row.closed_at:
        return ""
    who = identity(row.closed_by).display_name
    return f", {row.status} by {escape(who)} on {escape(_day(row.closed_at))}"


def _file(change: Change, repository: Repository) -> str:
    words = {"add": "new file", "edit": "changed", "delete": "deleted"}[change.kind]
    lines = list(_diff(change, repository))
    shown = [f'<span class="{kind}">{escape(line)}</span>' for kind, line in lines[:MAX_DIFF_LINES]]
    rest = len(lines) - MAX_DIFF_LINES
    if rest > 0:
        shown.append(f'<span class="at">… {rest} more lines are not shown</span>')
    return f"<h2><code>{escape(change.path)}</code> ({words})</h2>\n<pre>{''.join(shown)}</pre>"


def _diff(change: Change, repository: Repository) -> Iterator[tuple[str, str]]:
    """Lines of the unified diff with the class of each: `add`, `cut`, `at` (places and headings), `same`."""
    old, new = _lines(change.old, repository), _lines(change.new, repository)
    if old is None or new is None:
        yield "at", "(not text, or too long to show)"
        return
    left = f"a/{change.path}" if change.old else "/dev/null"
    right = f"b/{change.path}" if change.new else "/dev/null"
    for line in difflib.unified_diff(old, new, left, right, lineterm=""):
        heading = line.startswith(("--- ", "+++ ", "@@"))
        yield ("at" if heading else {"+": "add", "-": "cut"}.get(line[:1], "same")), line


def _lines(blob: str | None, repository: Repository) -> list[str] | None:
    if blob is None:
        return []
    found = repository.read(blob)
    if found is None or len(found.body) > _MAX_FILE:
        return None
    try:
        return found.body.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return None
