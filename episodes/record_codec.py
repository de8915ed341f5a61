"""The record as JSON: the one place that knows the camelCase keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from episodes import json_safe
from episodes.record import (
    SCHEMA_VERSION,
    AtHost,
    CassetteUse,
    Episode,
    EvidenceError,
    Fingerprint,
    Goal,
    ModelCallTime,
    PullRequest,
    RoleUsage,
    StopReason,
    Timings,
    ToolCall,
    ToolStatus,
    Usage,
    VariableValue,
)

TOOL_CALLS_ALIAS = "mcpToolCalls"
"""promptfoo's own MCP providers use this key; whoever reads it finds our calls there too, without their results."""

_ALIAS_KEYS = ("id", "server", "name", "arguments", "status")


def encode_episode(episode: Episode) -> dict[str, Any]:
    calls = None if episode.tool_calls is None else [_encode_call(call) for call in episode.tool_calls]
    record: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "caseId": episode.case_id,
        "stepId": episode.step_id,
        "evalId": episode.eval_id,
        "suite": episode.suite,
        "stopReason": episode.stop_reason,
        "messages": episode.messages,
        "toolCalls": calls,
        "pullRequests": [_encode_pull_request(pull) for pull in episode.pull_requests],
        "goals": episode.goals,
        "usage": {role: _encode_usage(getattr(episode.usage, role)) for role in ("agent", "user", "judge")},
        "timings": {
            "startedAt": episode.timings.started_at,
            "durationMs": episode.timings.duration_ms,
            "modelMs": episode.timings.model_ms,
            "userModelMs": episode.timings.user_model_ms,
            "toolMs": episode.timings.tool_ms,
            "judgeModelMs": episode.timings.judge_model_ms,
            "modelCalls": [
                {"role": call.role, "turn": call.turn, "latencyMs": call.latency_ms}
                for call in episode.timings.model_calls
            ],
        },
        "fingerprint": episode.fingerprint,
    }
    if episode.variables is not None:
        record["variables"] = [_encode_variable(variable) for variable in episode.variables]
    if episode.cassette is not None:
        record["cassette"] = {"file": episode.cassette.file, "mode": episode.cassette.mode}
    warnings = list(episode.warnings)
    encoded = cast(dict[str, Any], json_safe.encode(record, warnings))
    listed = encoded["toolCalls"]
    encoded[TOOL_CALLS_ALIAS] = listed and [{key: call[key] for key in _ALIAS_KEYS} for call in listed]
    encoded["warnings"] = json_safe.encode(warnings, [])
    return encoded


def decode_episode(metadata: Mapping[str, Any], *, tagged: bool = True) -> Episode:
    data = dict(metadata)
    if "toolCalls" in data:
        # The alias holds the same calls once more.
        data.pop(TOOL_CALLS_ALIAS, None)
    if tagged:
        data = json_safe.decode(data)
    version = data.get("schema")
    if version != SCHEMA_VERSION:
        raise EvidenceError("/schema", f"expected the record version {SCHEMA_VERSION!r}, found {version!r}")
    calls = data.get("toolCalls")
    return Episode(
        case_id=_text(data, "caseId", ""),
        step_id=_text(data, "stepId", ""),
        eval_id=_text(data, "evalId", ""),
        suite=_text(data, "suite", ""),
        stop_reason=_stop_reason(data.get("stopReason")),
        messages=tuple(_objects(data, "messages", "")),
        tool_calls=None if calls is None else tuple(_decode_calls(calls)),
        pull_requests=tuple(_decode_pull_request(pull, where) for where, pull in _located(data, "pullRequests")),
        goals=tuple(
            Goal(
                int(goal.get("step", 0)),
                _text(goal, "text", where),
                goal.get("status", "blocked"),
                _text(goal, "reason", where),
                _whole(goal, "turn", where),
            )
            for where, goal in _located(data, "goals")
        ),
        variables=None
        if data.get("variables") is None
        else tuple(_decode_variable(part, where) for where, part in _located(data, "variables")),
        usage=Usage(**{role: _decode_usage(data, role) for role in ("agent", "user", "judge")}),
        timings=_decode_timings(_object(data, "timings", "")),
        fingerprint={
            key: Fingerprint(_text(part, "name", f"/fingerprint/{key}"), _text(part, "sha256", f"/fingerprint/{key}"))
            for key, part in _object(data, "fingerprint", "").items()
            if isinstance(part, dict)
        },
        warnings=tuple(str(line) for line in data.get("warnings") or ()),
        cassette=_decode_cassette(data),
    )


def _encode_call(call: ToolCall) -> dict[str, Any]:
    encoded = {
        "id": call.id,
        "turn": call.turn,
        "step": call.step,
        "batch": call.batch,
        "server": call.server,
        "name": call.name,
        "arguments": call.arguments,
        "argumentsRaw": call.arguments_raw,
        "status": call.status,
        "result": call.result,
        "startedAt": call.started_at,
        "latencyMs": call.latency_ms,
    }
    if call.problem:
        encoded["problem"] = call.problem
    if call.replayed:
        encoded["replayed"] = True
    if call.added_arguments:
        encoded["addedArguments"] = call.added_arguments
    return encoded


def _decode_calls(calls: Any) -> list[ToolCall]:
    if not isinstance(calls, list):
        raise EvidenceError("/toolCalls", f"expected a list, found {type(calls).__name__}")
    return [_decode_call(call, f"/toolCalls/{index}") for index, call in enumerate(calls)]


_STATUSES = {status.value: status for status in ToolStatus}


def _decode_call(call: Any, where: str) -> ToolCall:
    if not isinstance(call, dict):
        raise EvidenceError(where, f"expected an object, found {type(call).__name__}")
    name = call.get("name")
    if not isinstance(name, str) or not name:
        raise EvidenceError(f"{where}/name", "a tool call without a name")
    arguments = call.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise EvidenceError(f"{where}/arguments", f"expected an object or null, found {type(arguments).__name__}")
    status = _STATUSES.get(str(call.get("status")))
    if status is None:
        allowed = ", ".join(ToolStatus)
        raise EvidenceError(f"{where}/status", f"{call.get('status')!r} is none of {allowed}")
    return ToolCall(
        id=_text(call, "id", where),
        turn=_whole(call, "turn", where),
        step=_whole(call, "step", where),
        batch=_whole(call, "batch", where),
        server=_text(call, "server", where),
        name=name,
        arguments=arguments,
        arguments_raw=_text(call, "argumentsRaw", where),
        status=status,
        result=call.get("result"),
        started_at=_text(call, "startedAt", where),
        latency_ms=_number(call, "latencyMs", where),
        problem=_text(call, "problem", where),
        replayed=call.get("replayed") is True,
        added_arguments=call.get("addedArguments") if isinstance(call.get("addedArguments"), dict) else None,
    )


def _encode_variable(variable: VariableValue) -> dict[str, Any]:
    encoded = {"name": variable.name, "value": variable.value, "turn": variable.turn}
    return {**encoded, "callId": variable.call_id} if variable.call_id else encoded


def _decode_variable(part: dict[str, Any], where: str) -> VariableValue:
    if "value" not in part:
        raise EvidenceError(f"{where}/value", "a variable without a value")
    return VariableValue(
        _text(part, "name", where), part["value"], _whole(part, "turn", where), _text(part, "callId", where)
    )


def _encode_pull_request(pull: PullRequest) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "url": pull.url,
        "id": pull.id,
        "repository": pull.repository,
        "sourceBranch": pull.source_branch,
        "status": pull.status,
    }
    if pull.at_host is not None:
        encoded["atHost"] = encode_at_host(pull.at_host)
    if pull.replayed:
        encoded["replayed"] = True
    return encoded


def encode_at_host(at_host: AtHost) -> dict[str, Any]:
    """What a host said, as it stands in the record."""
    return {
        "exists": at_host.exists,
        "askedAt": at_host.asked_at,
        "status": at_host.status,
        "title": at_host.title,
        "sourceBranch": at_host.source_branch,
        "targetBranch": at_host.target_branch,
        "changedPaths": list(at_host.changed_paths),
    }


def _decode_pull_request(pull: dict[str, Any], where: str) -> PullRequest:
    return PullRequest(
        url=_text(pull, "url", where),
        id=_text(pull, "id", where),
        repository=_text(pull, "repository", where),
        source_branch=_text(pull, "sourceBranch", where),
        status=_text(pull, "status", where),
        at_host=None
        if pull.get("atHost") is None
        else decode_at_host(_object(pull, "atHost", where), f"{where}/atHost"),
        replayed=pull.get("replayed") is True,
    )


def decode_at_host(part: dict[str, Any], place: str) -> AtHost:
    """Read it back; `place` is put before every complaint.

    Raises:
        EvidenceError: a part has the wrong shape.
    """
    if not isinstance(part.get("exists"), bool):
        raise EvidenceError(f"{place}/exists", f"expected true or false, found {part.get('exists')!r}")
    paths = part.get("changedPaths") or []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise EvidenceError(f"{place}/changedPaths", "expected a list of texts")
    return AtHost(
        exists=part["exists"],
        asked_at=_text(part, "askedAt", place),
        status=_text(part, "status", place),
        title=_text(part, "title", place),
        source_branch=_text(part, "sourceBranch", place),
        target_branch=_text(part, "targetBranch", place),
        changed_paths=tuple(paths),
    )


def _decode_cassette(data: dict[str, Any]) -> CassetteUse | None:
    if data.get("cassette") is None:
        return None
    part = _object(data, "cassette", "")
    return CassetteUse(_text(part, "file", "/cassette"), _text(part, "mode", "/cassette"))


def _encode_usage(usage: RoleUsage) -> dict[str, Any]:
    return {
        "promptTokens": usage.prompt_tokens,
        "completionTokens": usage.completion_tokens,
        "requests": usage.requests,
        "cost": usage.cost,
    }


def _decode_usage(data: dict[str, Any], role: str) -> RoleUsage:
    part = _object(_object(data, "usage", ""), role, "/usage")
    where = f"/usage/{role}"
    return RoleUsage(
        _whole(part, "promptTokens", where),
        _whole(part, "completionTokens", where),
        _whole(part, "requests", where),
        None if part.get("cost") is None else _number(part, "cost", where),
    )


def _decode_timings(part: dict[str, Any]) -> Timings:
    where = "/timings"
    return Timings(
        _text(part, "startedAt", where),
        _number(part, "durationMs", where),
        _number(part, "modelMs", where),
        _number(part, "userModelMs", where),
        _number(part, "toolMs", where),
        _number(part, "judgeModelMs", where),
        tuple(
            ModelCallTime(
                _text(call, "role", f"{where}{place}"),
                _whole(call, "turn", f"{where}{place}"),
                _number(call, "latencyMs", f"{where}{place}"),
            )
            for place, call in _located(part, "modelCalls")
        ),
    )


def _stop_reason(value: Any) -> StopReason:
    try:
        return StopReason(str(value))
    except ValueError:
        raise EvidenceError("/stopReason", f"{value!r} is none of {', '.join(StopReason)}") from None


def _text(part: dict[str, Any], key: str, where: str) -> str:
    value = part.get(key, "")
    if type(value) is str:  # nearly always, and a file may hold very many
        return value
    if value is None:
        return ""
    if not isinstance(value, str):
        raise EvidenceError(f"{where}/{key}", f"expected text, found {type(value).__name__}")
    return value


def _whole(part: dict[str, Any], key: str, where: str) -> int:
    value = part.get(key, 0)
    return value if type(value) is int else int(_number(part, key, where))


def _number(part: dict[str, Any], key: str, where: str) -> float:
    value = part.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise EvidenceError(f"{where}/{key}", f"expected a number, found {type(value).__name__}")
    return value


def _object(part: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = part.get(key) or {}
    if not isinstance(value, dict):
        raise EvidenceError(f"{where}/{key}", f"expected an object, found {type(value).__name__}")
    return value


def _objects(part: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = part.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise EvidenceError(f"{where}/{key}", "expected a list of objects")
    return value


def _located(part: dict[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    return [(f"/{key}/{index}", item) for index, item in enumerate(_objects(part, key, ""))]
