"""Why is an expected call not there? What the record says about a tool that was not counted."""

from __future__ import annotations

from collections.abc import Sequence

from assertions.matching.call_pattern import CallPattern
from assertions.matching.selection import Seen, Selection, When, uncounted_note

DONE = {When.ATTEMPTED: "attempted", When.EXECUTED: "executed", When.SUCCEEDED: "successful"}
"""`N executed calls`, and `was not executed`."""

NOT_DONE = {When.ATTEMPTED: "was not attempted", When.EXECUTED: "was not executed", When.SUCCEEDED: "did not succeed"}


def why_absent(pattern: CallPattern, selection: Selection, when: When) -> str:
    """What explains that no counted call is one of these tools: an attempt that did not count, or another spelling.

    Empty when nothing does; else it begins with a separator, to be put behind a sentence.
    """
    tried = [seen for seen in (*selection.unknown, *selection.left_out) if pattern.names(seen.call)]
    tried.sort(key=lambda seen: seen.number)
    note = uncounted_note(selection, pattern.names)
    if note:
        return note
    if tried:
        return f"; it was attempted, but {NOT_DONE[when].replace('was ', '')}: {tried[0]}"
    return _near_miss(pattern, selection.counted)


def _near_miss(pattern: CallPattern, seen: Sequence[Seen]) -> str:
    for alternative in pattern.alternatives:
        wanted = alternative.tool
        for one in seen:
            if one.call.name.casefold() == wanted.text.casefold() and one.call.name != wanted.text:
                return f"; {one} differs in upper and lower case"
            if one.call.name == wanted.text and wanted.server:
                return f"; {one} is on the server {one.call.server or '(unknown)'!r}"
    return ""


def listed(names: Sequence[str], limit: int = 12) -> str:
    """`a → b → c`, cut after `limit` names, with the number of those left out; `nothing` for none."""
    if not names:
        return "nothing"
    shown = " → ".join(names[:limit])
    return f"{shown} → … ({len(names) - limit} more)" if len(names) > limit else shown
