"""The record while it is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from episodes.canonical import digest_text
from episodes.record import Episode, ModelCallTime, PullRequest, RoleUsage, StopReason, ToolCall, ToolStatus
from providers.recorder import MAX_TEXT, CaseIdentity, Recorder
from providers.side_files import SideFiles

IDENTITY = CaseIdentity("C01", "test-0-prompt-0-repeat-0", "eval-1", "spoke-create")


def call(**more: Any) -> ToolCall:
    fields: dict[str, Any] = {"arguments": {}, "arguments_raw": "{}", "status": ToolStatus.OK, **more}
    return ToolCall(id="1", turn=1, step=1, batch=1, server="portal", name="ping", **fields)


def test_calls_are_unknown_until_somebody_watches_and_then_none_means_none() -> None:
    recorder = Recorder(IDENTITY)
    assert recorder.episode().tool_calls is None
    recorder.watch_tools()
    assert recorder.episode().tool_calls == ()
    recorder.tool_call(call())
    recorder.watch_tools()
    assert len(recorder.episode().tool_calls or ()) == 1


def test_an_episode_that_nobody_stopped_is_one_whose_machinery_failed() -> None:
    assert Recorder(IDENTITY).episode().stop_reason is StopReason.PROVIDER_ERROR


def test_each_role_has_its_own_usage_and_an_unknown_cost_does_not_hide_a_known_one() -> None:
    recorder = Recorder(IDENTITY)
    recorder.model_call("agent", RoleUsage(10, 1, 1, 0.5), 100)
    recorder.model_call("agent", RoleUsage(10, 1, 1, None), 50)
    recorder.model_call("user", RoleUsage(7, 2, 1, None), 30)
    episode = recorder.episode()
    assert episode.usage.agent == RoleUsage(20, 2, 2, 0.5)
    assert episode.usage.user == RoleUsage(7, 2, 1, None)
    assert (episode.timings.model_ms, episode.timings.user_model_ms) == (150, 30)


def test_every_model_call_has_its_own_time_with_its_role_and_turn() -> None:
    recorder = Recorder(IDENTITY)
    recorder.user_message("hello")
    recorder.model_call("agent", RoleUsage(), 100.04)
    recorder.model_call("judge", RoleUsage(), 20.0)
    timings = Episode.from_metadata(recorder.episode().to_metadata()).timings
    assert timings.model_calls == (ModelCallTime("agent", 1, 100.0), ModelCallTime("judge", 1, 20.0))
    assert (timings.model_ms, timings.judge_model_ms) == (100.0, 20.0)


def test_a_pull_request_that_is_reported_twice_is_one_with_its_latest_status() -> None:
    recorder = Recorder(IDENTITY)
    for status in ("active", "abandoned"):
        recorder.pull_request(PullRequest("https://github.com/o/r/pull/1", "1", "r", "b", status))
    assert [pull.status for pull in recorder.episode().pull_requests] == ["abandoned"]


def test_a_warning_is_kept_once() -> None:
    recorder = Recorder(IDENTITY)
    recorder.warn("twice")
    recorder.warn("twice")
    assert recorder.episode().warnings == ("twice",)


def test_an_episode_that_was_spoilt_is_an_error_whatever_ended_it() -> None:
    recorder = Recorder(IDENTITY)
    recorder.stop(StopReason.USER_STOP)
    recorder.spoil("a recording was not asked for")
    assert recorder.episode().stop_reason is StopReason.PROVIDER_ERROR
    assert recorder.problem == "a recording was not asked for"


def test_a_text_that_would_break_the_viewer_is_cut_and_kept_whole_aside(tmp_path: Path) -> None:
    long = "\u00e9" * (MAX_TEXT + 1)
    recorder = Recorder(IDENTITY, SideFiles(tmp_path))
    recorder.message({"role": "assistant", "content": long})
    recorder.tool_call(call(arguments_raw=long))
    assert recorder.ends_with_answer(long)
    episode = Episode.from_metadata(recorder.episode().to_metadata())
    (message,) = episode.messages
    assert message["content"].endswith(f"[cut: {MAX_TEXT} of {MAX_TEXT + 1} characters, SHA-256 {digest_text(long)}]")
    assert message["cut"]["length"] == MAX_TEXT + 1
    assert (tmp_path / message["cut"]["file"]).read_text(encoding="utf-8") == long
    assert len((episode.tool_calls or ())[0].arguments_raw) < MAX_TEXT + 200
    assert [path.name for path in (tmp_path / "transcripts").iterdir()] == [f"{digest_text(long)}.txt"]


def test_a_text_of_the_longest_length_is_left_alone(tmp_path: Path) -> None:
    recorder = Recorder(IDENTITY, SideFiles(tmp_path))
    recorder.message({"role": "user", "content": "x" * MAX_TEXT})
    assert recorder.episode().messages[0]["content"] == "x" * MAX_TEXT
    assert recorder.episode().warnings == ()


def test_a_side_file_that_can_not_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "transcripts").write_text("a file in the place of the folder", encoding="utf-8")
    recorder = Recorder(IDENTITY, SideFiles(tmp_path))
    recorder.message({"role": "user", "content": "x" * (MAX_TEXT + 1)})
    assert len(recorder.episode().messages[0]["content"]) == MAX_TEXT + 1
