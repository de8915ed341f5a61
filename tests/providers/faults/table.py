"""The fault matrix: what each fault does at each place, and why some of them have no place.

`SERVICES`: the stop reason with the fault in the agent's model, the simulated user's, or the judge that checks a
simulation's step; and what is known of the pull request when the fault is at its host (`known`, `unknown`, `missing`).

`HTTP_SERVER`, `STDIO_SERVER`: the stop reason when an MCP server has the fault while its session is opened; and the
status of the call when it has it in a call that looks something up, or in one that creates a pull request. A second
word is the stop reason. Without it the episode goes on: to its goal, or, when nothing was created, to a step that is
not reached (`max_turns`).

`-x` is a cell that makes no sense; `NO_SENSE` says why.
"""

from __future__ import annotations

from dataclasses import dataclass

SERVICES = """
fault              | agent          | user           | judge          | host
connection refused | provider_error | provider_error | provider_error | unknown
connect time-out   | provider_error | provider_error | provider_error | unknown
read time-out      | provider_error | provider_error | provider_error | unknown
stall in mid-body  | provider_error | provider_error | provider_error | unknown
closed in mid-body | provider_error | provider_error | provider_error | unknown
reset              | provider_error | provider_error | provider_error | unknown
400                | provider_error | provider_error | provider_error | unknown
400 content_filter | content_filter | provider_error | provider_error | -f
401                | provider_error | provider_error | provider_error | unknown
403                | provider_error | provider_error | provider_error | unknown
404                | provider_error | provider_error | provider_error | missing
408                | provider_error | provider_error | provider_error | unknown
409                | provider_error | provider_error | provider_error | unknown
429                | provider_error | provider_error | provider_error | unknown
500                | provider_error | provider_error | provider_error | unknown
503                | provider_error | provider_error | provider_error | unknown
not JSON           | provider_error | provider_error | provider_error | unknown
empty body         | provider_error | provider_error | provider_error | unknown
cut JSON           | provider_error | provider_error | provider_error | unknown
wrong shape        | provider_error | provider_error | provider_error | unknown
huge body          | provider_error | provider_error | provider_error | unknown
slow               | goal_reached   | goal_reached   | goal_reached   | known
"""

HTTP_SERVER = """
fault                 | mcp open         | mcp look                      | mcp create
connection refused    | tool_unavailable | not_executed tool_unavailable | not_executed tool_unavailable
connect time-out      | tool_unavailable | transport_error max_turns     | transport_error
read time-out         | tool_unavailable | transport_error               | transport_error
stall in mid-body     | tool_unavailable | transport_error               | transport_error
closed in mid-body    | tool_unavailable | transport_error               | transport_error
reset                 | tool_unavailable | transport_error               | transport_error
400                   | tool_unavailable | tool_error                    | tool_error
401                   | tool_unavailable | tool_error                    | tool_error
403                   | tool_unavailable | tool_error                    | tool_error
404                   | tool_unavailable | not_executed tool_unavailable | not_executed tool_unavailable
408                   | tool_unavailable | transport_error               | transport_error
409                   | tool_unavailable | tool_error                    | tool_error
429                   | tool_unavailable | tool_error                    | tool_error
500                   | tool_unavailable | transport_error               | transport_error
503                   | tool_unavailable | transport_error               | transport_error
not JSON              | tool_unavailable | transport_error               | transport_error
empty body            | tool_unavailable | transport_error               | transport_error
cut JSON              | tool_unavailable | transport_error               | transport_error
wrong shape           | tool_unavailable | transport_error               | transport_error
huge body             | tool_unavailable | transport_error               | transport_error
slow                  | goal_reached     | ok                            | ok
isError               | -o               | tool_error                    | tool_error
protocol error        | tool_unavailable | tool_error                    | tool_error
session expired       | -s               | ok                            | ok
server gone and back  | goal_reached     | ok                            | ok
tool list fails       | tool_unavailable | -l                            | -l
tool list in pages    | goal_reached     | -l                            | -l
tool list unending    | tool_unavailable | -l                            | -l
unending progress     | -o               | transport_error deadline      | transport_error deadline
structured malformed  | -o               | transport_error               | transport_error
structured off schema | -o               | ok                            | ok max_turns
"""

STDIO_SERVER = """
fault                 | stdio open       | stdio look               | stdio create
connection refused    | tool_unavailable | -p                       | -p
connect time-out      | -c               | -c                       | -c
read time-out         | tool_unavailable | transport_error          | transport_error
stall in mid-body     | tool_unavailable | transport_error          | -u
closed in mid-body    | tool_unavailable | transport_error          | transport_error
reset                 | -r               | -r                       | -r
400                   | -h               | -h                       | -h
401                   | -h               | -h                       | -h
403                   | -h               | -h                       | -h
404                   | -h               | -h                       | -h
408                   | -h               | -h                       | -h
409                   | -h               | -h                       | -h
429                   | -h               | -h                       | -h
500                   | -h               | -h                       | -h
503                   | -h               | -h                       | -h
not JSON              | tool_unavailable | transport_error          | -u
empty body            | tool_unavailable | transport_error          | -u
cut JSON              | tool_unavailable | transport_error          | -u
wrong shape           | tool_unavailable | transport_error          | transport_error
huge body             | tool_unavailable | ok                       | ok max_turns
slow                  | goal_reached     | ok                       | ok
isError               | -o               | tool_error               | tool_error
protocol error        | tool_unavailable | tool_error               | tool_error
session expired       | -h               | -h                       | -h
server gone and back  | -g               | -g                       | -g
tool list fails       | tool_unavailable | -l                       | -l
tool list in pages    | -l               | -l                       | -l
tool list unending    | -l               | -l                       | -l
unending progress     | -o               | transport_error deadline | transport_error deadline
structured malformed  | -o               | transport_error          | transport_error
structured off schema | -o               | ok                       | ok max_turns
"""

NO_SENSE = {
    "-c": "A program on stdio has no connection that could take long; that it says nothing is the read time-out.",
    "-f": "A pull-request host has no content filter.",
    "-g": "A program on stdio that is gone is started anew for the next call; that is `closed in mid-body`.",
    "-h": "A program on stdio speaks no HTTP: no status, and no session that could expire.",
    "-l": "The tool list is asked for once, while the session is opened; how it is read is the same for both kinds.",
    "-o": "Only a tool's answer can be this.",
    "-p": "A program is started when the session is opened, and not for each call.",
    "-r": "A pipe that breaks is a program that ended: that is `closed in mid-body`.",
    "-u": "A line that can not be read is left aside: to a creating call it is what the read time-out is.",
    "-s": "A session that is being opened can not have expired.",
}

RETRIED = (
    "read time-out",
    "closed in mid-body",
    "reset",
    "408",
    "409",
    "429",
    "500",
    "503",
    "not JSON",
    "empty body",
    "cut JSON",
    "wrong shape",
)
"""Faults of a model that are worth another try: when they come once, the episode reaches its goal all the same."""


@dataclass(frozen=True)
class Cell:
    """One fault at one place, and what is expected."""

    fault: str
    place: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.fault} - {self.place}"


def cells(table: str) -> list[Cell]:
    """Every cell of a table, those that make no sense included."""
    head, *rows = [[part.strip() for part in line.split("|")] for line in table.strip().splitlines()]
    return [
        Cell(row[0], place, tuple(expected.split()))
        for row in rows
        for place, expected in zip(head[1:], row[1:], strict=True)
    ]


def sensible(table: str) -> list[Cell]:
    return [cell for cell in cells(table) if cell.expected[0] not in NO_SENSE]
