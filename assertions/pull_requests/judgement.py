"""Did the agent open the pull request that it talks about, and is it the one that was wanted?

Parts, each with its own component and named score `pull_request.<part>`:

| part | question |
|---|---|
| `created` | does a tool result prove it (or, with `required: false`, prove that there is none)? |
| `linked` | does the agent's answer show its address, and no address that it made up? |
| `exists`, `open`, `target_branch`, `source_branch`, `title`, `allowed_paths` | what does the host say about it? |
| `replayed` | only in a replay: the host was not asked now, what it said stands in the recording |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from assertions.evidence import Evidence
from assertions.pull_requests.hosted import State, from_host, from_result
from assertions.pull_requests.proof import Claim, Created, claims, created_pull_requests, unproven_creation
from assertions.verdict import CheckResult, NotEvaluated, Verdict, conjunction, failed, not_evaluated, passed
from episodes.pull_request_url import HOST_KINDS, parse

NAME = "pull_request"


def judge(evidence: Evidence, config: Mapping[str, Any]) -> CheckResult:
    """Judge the pull requests of one episode.

    Config: `required` (default true; false means that none may have been created), `max` (default 1), `hosts` (kinds),
    `created_by` (tools, for records without a list of their own), `open` (default true), `target_branch`,
    `source_branch`, `title` (globs), `allowed_paths` (globs), `look_up` (default true; false asks no host: what the
    record holds of the host's answer counts, else the creating tool's result).
    """
    calls = evidence.calls()
    episode = evidence.record()
    created = created_pull_requests(episode, calls, _texts(config.get("created_by")))
    claimed = claims(episode, calls, evidence.output)
    strange = [pull.url for pull in episode.pull_requests if parse(pull.url) is None]
    if config.get("required", True) is False:
        if strange:
            return failed(NAME, f"no pull request may be created here, but {strange[0]} was")
        result = _none_wanted(created, claimed)
        doubt = unproven_creation(episode, calls, _texts(config.get("created_by"))) if result.passed else ""
        return not_evaluated(NAME, doubt) if doubt else result
    if strange:
        known = f"it is not the address of a pull request of a known host ({', '.join(HOST_KINDS)})"
        return conjunction(NAME, [_fail(f"{NAME}.created", f"{strange[0]} was created, but {known}")], "")
    parts = [_created(created, claimed, config), _linked(created, claimed)]
    if all(part.verdict is Verdict.PASS for part in parts):
        parts += _states(created, config)
    return conjunction(NAME, parts, f"{_listed(created)}: {', '.join(part.reason for part in parts)}")


def _none_wanted(created: Sequence[Created], claimed: Sequence[Claim]) -> CheckResult:
    if created:
        return failed(NAME, f"no pull request may be created here, but {_listed(created)} was ({_by(created[0])})")
    invented = [claim for claim in claimed if not claim.origin]
    if invented:
        return failed(
            NAME, f"no pull request was created, yet the answer shows {invented[0].url.text}, which no tool made"
        )
    return passed(NAME, "no pull request was created")


def _created(created: Sequence[Created], claimed: Sequence[Claim], config: Mapping[str, Any]) -> CheckResult:
    name = f"{NAME}.created"
    if not created:
        if not claimed:
            return _fail(name, "no pull request was created, and the answer shows no pull-request URL")
        claim = claimed[0]
        where = f"it was copied from {claim.origin}" if claim.origin else "it stands nowhere else in the conversation"
        return _fail(name, f"no tool result of this episode created {claim.url.text}, which the answer shows: {where}")
    unproven = [pull for pull in created if pull.call is None]
    if unproven:
        return not_evaluated(name, f"the record lists {unproven[0].url.text}, but no tool result in it shows that URL")
    allowed = _texts(config.get("hosts"))
    for pull in created:
        if allowed and pull.url.kind not in allowed:
            return _fail(name, f"{pull.url.text} is on {pull.url.kind}; allowed: {', '.join(allowed)}")
    most = config.get("max", 1)
    if len(created) > most:
        return _fail(name, f"{len(created)} pull requests were created, at most {most} may be: {_listed(created)}")
    return _pass(name, f"created by {_by(created[0])}")


def _linked(created: Sequence[Created], claimed: Sequence[Claim]) -> CheckResult:
    name = f"{NAME}.linked"
    if not created:
        return not_evaluated(name, "there is no pull request that the answer could show")
    for pull in created:
        if not any(claim.url.same_as(pull.url) for claim in claimed):
            return _fail(name, f"{pull.url.text} was created, but the answer does not show its URL")
    for claim in claimed:
        if not claim.origin and not any(claim.url.same_as(pull.url) for pull in created):
            return _fail(name, f"the answer also shows {claim.url.text}, which stands nowhere else in the conversation")
    return _pass(name, "its URL stands in the answer")


def _states(created: Sequence[Created], config: Mapping[str, Any]) -> list[CheckResult]:
    """What the host says, part by part.

    Without `look_up` nobody is asked now, but an answer from the end of the episode, in the record, is an answer. About
    a replayed pull request nobody is asked either: its host said what it said when the recording was made, or, when
    that does not hold it, the tool's recorded result has to do.
    """
    look_up = config.get("look_up", True) is not False
    by_result = [pull for pull in created if pull.at_host is None and (pull.replayed or not look_up)]
    by_host = [pull for pull in created if pull not in by_result]
    states: dict[str, State | None] = {pull.url.text: from_result(pull) for pull in by_result}
    if by_host:
        try:
            states |= from_host(by_host)
        except NotEvaluated as error:
            return [not_evaluated(f"{NAME}.exists", error.reason)]
    parts = []
    replayed = any(pull.replayed for pull in created)
    if replayed:
        parts.append(_pass(f"{NAME}.replayed", "from a recording; not looked up at the host"))
    if by_host:
        missing = [url for url, state in states.items() if state is None]
        if missing:
            problem = "did not exist at its host when it was recorded" if replayed else "does not exist at its host"
            return [_fail(f"{NAME}.exists", f"{missing[0]} {problem}")]
        existed = "it existed at its host when it was recorded"
        parts.append(_pass(f"{NAME}.exists", existed if replayed else "it exists at its host"))
    known = [(url, state) for url, state in states.items() if state is not None]
    for part, wanted, judge_state in _WANTED:
        if part in config or part == "open":
            if wanted is not None and config.get(part, True) is not wanted:
                continue
            parts.append(_every(f"{NAME}.{part}", known, config.get(part), judge_state, past=replayed))
    return parts


_Judge = Callable[[State, Any], str | None]
"""None: the state is as wanted. A text: what is wrong. Raises NotEvaluated when the source does not tell."""


def _every(
    name: str, states: Sequence[tuple[str, State]], wanted: Any, judge_state: _Judge, *, past: bool
) -> CheckResult:
    for url, state in states:
        try:
            problem = judge_state(state, wanted)
        except NotEvaluated as error:
            return not_evaluated(name, f"{url}: {error.reason}")
        if problem:
            return _fail(name, f"{url} {problem} (says {state.source})")
    return _pass(name, _PASSED[name.rpartition(".")[2]][past])


def _is_open(state: State, _wanted: Any) -> str | None:
    status = _told(state.status, state, "status")
    return None if status == "active" else f"is {status}, not open"


def _is_a_glob(part: str, of: str) -> _Judge:
    def judge_state(state: State, wanted: Any) -> str | None:
        value = _told(getattr(state, part), state, of)
        if any(fnmatchcase(value, pattern) for pattern in _texts(wanted)):
            return None
        return f"has the {of} {value!r}; expected {' or '.join(map(repr, _texts(wanted)))}"

    return judge_state


def _changes_allowed(state: State, wanted: Any) -> str | None:
    paths = _told(state.changed_paths, state, "changed paths")
    if not paths:
        return "changes no file"
    outside = [path for path in paths if not any(_path_matches(path, pattern) for pattern in _texts(wanted))]
    if not outside:
        return None
    more = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
    return f"changes {outside[0]}{more}; allowed: {', '.join(_texts(wanted))}"


_WANTED: tuple[tuple[str, bool | None, _Judge], ...] = (
    ("open", True, _is_open),
    ("target_branch", None, _is_a_glob("target_branch", "target branch")),
    ("source_branch", None, _is_a_glob("source_branch", "source branch")),
    ("title", None, _is_a_glob("title", "title")),
    ("allowed_paths", None, _changes_allowed),
)

_PASSED = {
    "open": ("it is open", "it was open"),
    "target_branch": ("its target branch is right", "its target branch was right"),
    "source_branch": ("its source branch is right", "its source branch was right"),
    "title": ("its title is right", "its title was right"),
    "allowed_paths": ("it changes allowed paths only", "it changed allowed paths only"),
}
"""What a part says that passed, and what it says of a replayed pull request."""


def _told(value: Any, state: State, what: str) -> Any:
    if value is None:
        raise NotEvaluated(f"{state.source} does not tell the {what}")
    return value


def _path_matches(path: str, pattern: str) -> bool:
    """`*` stays inside a folder and `**` does not, as people know it from ignore files."""
    import re

    expression = "".join(
        ".*" if piece in ("**", "**/") else "[^/]*" if piece == "*" else "[^/]" if piece == "?" else re.escape(piece)
        for piece in re.split(r"(\*\*/?|\*|\?)", pattern.lstrip("/"))
    )
    return re.fullmatch(expression, path, re.DOTALL) is not None


def _pass(name: str, reason: str) -> CheckResult:
    return passed(name, reason, named_scores={name: 1.0})


def _fail(name: str, reason: str) -> CheckResult:
    return failed(name, reason, named_scores={name: 0.0})


def _listed(created: Sequence[Created]) -> str:
    return ", ".join(pull.url.text for pull in created)


def _by(pull: Created) -> str:
    return f"{pull.call.name} in turn {pull.call.turn}" if pull.call is not None else "according to the record"


def _texts(value: Any) -> tuple[str, ...]:
    """One text or a list of them, as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
