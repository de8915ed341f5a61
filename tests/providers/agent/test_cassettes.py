"""Record and replay: an episode is replayed word for word, and whatever does not fit is an error that shows why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from episodes.record import CassetteUse, Episode, StopReason, Timings
from tests.providers.agent.rig import Result, Rig, make_rig
from tests.support.scripted_model import KEY, Say, ScriptedModel, Step, scripted_model
from tests.support.tool_process import ToolProcess

SCRIPT: tuple[Step, ...] = (Say(calls=[("add", {"a": 2, "b": 3}), ("fail", {})]), Say("It is 5."))


class Studio:
    """Rigs whose recordings all go to one folder."""

    def __init__(self, tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tools = tools
        self.tape = tmp_path / "suite" / "cassettes" / "C01.jsonl"
        self._tmp_path = tmp_path
        self._monkeypatch = monkeypatch

    @contextmanager
    def rig(self, *script: Step, **agent: Any) -> Iterator[tuple[Rig, ScriptedModel]]:
        self.tools.log.unlink(missing_ok=True)
        with scripted_model(*script) as model:
            servers = [{"name": "portal", "url": self.tools.url}]
            yield make_rig(self._tmp_path, self._monkeypatch, model, servers=servers, **agent), model

    def record(self, *script: Step, prompt: str = "2 + 3?") -> Result:
        with self.rig(*(script or SCRIPT)) as (rig, _):
            result = rig.run(prompt, cassette="once")
        assert result.error == ""
        return result

    def replay(self, prompt: str = "2 + 3?", cassette: Any = "none", **config: Any) -> Result:
        """With a model that answers nothing, and no tool may arrive."""
        with self.rig() as (rig, model):
            result = rig.run(prompt, cassette=cassette, **config)
        assert model.asked == []
        assert self.tools.names() == []
        return result


@pytest.fixture
def studio(tools: ToolProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Studio:
    monkeypatch.delenv("CI", raising=False)
    return Studio(tools, tmp_path, monkeypatch)


def _without_times(episode: Episode) -> Episode:
    calls = tuple(replace(call, started_at="", latency_ms=0.0, replayed=False) for call in episode.tool_calls or ())
    fingerprint = {key: part for key, part in episode.fingerprint.items() if key != "cassette"}
    return replace(episode, tool_calls=calls, timings=Timings(), fingerprint=fingerprint, cassette=None)


def test_a_recorded_episode_is_replayed_word_for_word_without_model_or_tools(studio: Studio) -> None:
    recorded = studio.record()
    replayed = studio.replay()
    assert replayed.output == recorded.output
    assert _without_times(replayed.episode) == _without_times(recorded.episode)
    assert [call.replayed for call in recorded.episode.tool_calls or ()] == [False, False]
    assert [call.replayed for call in replayed.episode.tool_calls or ()] == [True, True]
    assert replayed.episode.fingerprint["cassette"].name == "replayed"
    used = [result.episode.cassette for result in (recorded, replayed)]
    assert used == [CassetteUse(str(studio.tape), "all"), CassetteUse(str(studio.tape), "none")]


def test_a_replay_can_be_replayed_again_and_leaves_the_file_alone(studio: Studio) -> None:
    studio.record()
    before = studio.tape.read_bytes()
    assert studio.replay().error == studio.replay(cassette="once").error == ""
    assert studio.tape.read_bytes() == before


def test_a_request_without_recording_fails_and_shows_what_differs(studio: Studio) -> None:
    studio.record()
    result = studio.replay("2 + 4?")
    assert result.episode.stop_reason is StopReason.PROVIDER_ERROR
    lines = result.error.splitlines()
    assert lines[:2] == [
        "provider_error: model scripted: C01.jsonl has no recording of this request at model agent.",
        "The nearest recording differs:",
    ]
    assert '-   "content": "2 + 3?",' in lines
    assert '+   "content": "2 + 4?",' in lines


def test_another_tool_call_than_the_recorded_one_fails_and_is_not_executed(studio: Studio) -> None:
    studio.record()
    text = studio.tape.read_text(encoding="utf-8")
    changed = text.replace(r"{\"a\": 2, \"b\": 3}", r"{\"a\": 9, \"b\": 3}")
    assert changed != text
    studio.tape.write_text(changed, encoding="utf-8")
    result = studio.replay()
    assert (
        "C01.jsonl has no recording of this request at tool portal.\nThe nearest recording differs:\n" in result.error
    )
    assert '+  "a": 9,' in result.error
    assert result.statuses == [("add", "not_executed"), ("fail", "tool_error")]


def test_a_recording_that_nothing_asked_for_fails(studio: Studio) -> None:
    studio.record(*SCRIPT)
    with_extra = studio.tape.read_text(encoding="utf-8").rstrip("\n").splitlines()
    extra = json.loads(with_extra[-1])
    studio.tape.write_text("\n".join([*with_extra, json.dumps(extra)]) + "\n", encoding="utf-8")
    result = studio.replay()
    assert result.episode.stop_reason is StopReason.PROVIDER_ERROR
    assert "C01.jsonl: 1 recordings were not asked for, the first at model agent: " in result.error


def test_in_mode_none_a_case_without_file_fails(studio: Studio) -> None:
    result = studio.replay()
    assert result.error == "provider_error: C01.jsonl does not exist, so nothing can be replayed."


def test_a_changed_line_of_a_long_text_is_shown_and_not_the_whole_text(studio: Studio) -> None:
    studio.record(prompt="first line\nsecond line\n2 + 3?")
    lines = studio.replay("first line\nanother line\n2 + 3?").error.splitlines()
    assert [line.strip() for line in lines if line.startswith(("+ ", "- "))] == [
        '-    "second line",',
        '+    "another line",',
    ]


def test_once_is_the_default_here_and_none_where_ci_is_set(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    with studio.rig(*SCRIPT) as (rig, _):
        assert rig.run(cassette={}).episode.fingerprint["cassette"].name == "recorded"
        monkeypatch.setenv("CI", "true")
        assert rig.run(cassette={}).episode.fingerprint["cassette"].name == "replayed"


def test_the_environment_sets_the_mode_of_a_whole_run(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.record()
    monkeypatch.setenv("EVALS_CASSETTES", "none")
    assert studio.replay(cassette=None).error == ""
    monkeypatch.setenv("EVALS_CASSETTES", "off")
    with studio.rig(Say("live")) as (rig, _):
        assert rig.run(cassette="none").output == "live"


def test_new_episodes_asks_only_what_is_not_recorded_and_keeps_it(studio: Studio) -> None:
    studio.record()
    with studio.rig(Say("another")) as (rig, model):
        result = rig.run("something else", cassette="new_episodes")
    assert (result.output, result.error) == ("another", "")
    assert len(model.asked) == 1
    assert any("recordings were not asked for" in warning for warning in result.episode.warnings)
    with studio.rig() as (rig, model):
        assert rig.run("something else", cassette="new_episodes").output == "another"
        assert rig.run("2 + 3?", cassette="new_episodes").output == "It is 5."
    assert model.asked == []


def test_all_asks_everything_anew_and_replaces_the_file(studio: Studio) -> None:
    studio.record()
    with studio.rig(Say("fresh")) as (rig, _):
        assert rig.run(cassette="all").output == "fresh"
    assert "It is 5." not in studio.tape.read_text(encoding="utf-8")
    assert studio.replay("hello").output == "fresh"


def test_recording_twice_writes_the_same_file_however_the_calls_of_a_batch_end(studio: Studio) -> None:
    slow_first = (Say(calls=[("slow", {"seconds": 0.3}), ("add", {"a": 1, "b": 1})]), Say("done"))
    create = (Say(calls=[("create_pull_request", {"title": "x"})]), Say("done"))
    for script in (slow_first, create):
        files = []
        for _ in range(2):
            with studio.rig(*script) as (rig, _model):
                assert rig.run(cassette="all").error == ""
            files.append(studio.tape.read_text(encoding="utf-8"))
        assert files[0] == files[1]
    recordings = [json.loads(line) for line in files[0].splitlines()]
    called = [row["request"].get("tool") for row in recordings if row.get("boundary") == "tool portal"]
    assert called == [None, "create_pull_request"]


def test_a_provider_may_name_its_files_and_be_live_all_the_same(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"mode": "off", "name": "careful"}
    with studio.rig(Say("live"), Say("recorded")) as (rig, _):
        assert rig.run(cassette=own).episode.cassette is None
        monkeypatch.setenv("EVALS_CASSETTES", "all")
        assert rig.run(cassette=own).output == "recorded"
    assert [path.name for path in studio.tape.parent.iterdir()] == ["C01.careful.jsonl"]


@pytest.mark.parametrize("strange", ["line\u2028separator", "next\u0085line", "a\rb\vc\fd"])
def test_no_character_tears_a_line_of_the_file(studio: Studio, strange: str) -> None:
    studio.record(Say(strange), prompt=strange)
    assert studio.replay(strange).error == ""


@pytest.mark.parametrize("wrong", ["onec", {"mode": "always"}, {"moed": "once"}, 3])
def test_a_misspelt_mode_is_an_error_that_names_the_modes(studio: Studio, wrong: Any) -> None:
    result = studio.replay(cassette=wrong)
    assert result.error.startswith("provider_error: configuration: config.cassette")
    assert "none, once, new_episodes, all" in result.error or "mode, folder, name" in result.error


def test_a_misspelt_mode_is_an_error_too_where_the_run_turns_recordings_off(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_CASSETTES", "off")
    assert "config.cassette.mode: expected one of none, once" in studio.replay(cassette="onec").error


def test_a_creating_tool_is_never_replayed_as_if_it_had_created(studio: Studio) -> None:
    script = (Say(calls=[("create_pull_request", {"title": "x"})]), Say("done"))
    recorded = studio.record(*script)
    assert len(recorded.episode.pull_requests) == 1
    with studio.rig() as (rig, _):
        before = len(rig.ledger())
        replayed = rig.run("2 + 3?", cassette="none")
        assert len(rig.ledger()) == before
    (call,) = replayed.episode.tool_calls or ()
    assert (replayed.error, str(call.status), call.replayed) == ("", "ok", True)
    (made,), (pull,) = recorded.episode.pull_requests, replayed.episode.pull_requests
    assert (made.replayed, pull.replayed) == (False, True)
    assert (pull.url, pull.id) == (made.url, made.id)


def test_a_creation_that_is_replayed_while_others_are_live_is_not_in_the_ledger_as_one(studio: Studio) -> None:
    studio.record(Say(calls=[("create_pull_request", {"title": "x"})]), Say("done"))
    with studio.rig() as (rig, _):
        before = len(rig.ledger())
        replayed = rig.run("2 + 3?", cassette="new_episodes")
        intent, result = rig.ledger()[before:]
    assert replayed.error == ""
    assert [pull.replayed for pull in replayed.episode.pull_requests] == [True]
    assert (intent["kind"], result["sent"], result.get("pullRequest")) == ("intent", False, None)


def test_neither_key_nor_token_nor_address_is_written(studio: Studio) -> None:
    studio.record()
    written = studio.tape.read_text(encoding="utf-8")
    for secret in (KEY, "portal-token-of-the-test", "host-token-of-the-test", "127.0.0.1", "uthorization"):
        assert secret not in written


def test_a_credential_that_somebody_let_slip_is_masked_and_the_replay_still_fits(studio: Studio) -> None:
    leak = "Authorization: Bearer abcdef0123456789abcdef0123456789"
    recorded = studio.record(Say(leak, calls=[("ping", {})]), Say("done"), prompt=f"use {leak}")
    assert recorded.error == ""
    assert "abcdef0123456789" not in studio.tape.read_text(encoding="utf-8")
    assert studio.replay(f"use {leak}").output == "done"


def test_what_a_conversation_repeats_is_written_once(studio: Studio) -> None:
    studio.record()
    assert studio.tape.read_text(encoding="utf-8").count("Be careful.") == 1


def test_an_episode_that_failed_is_not_written(studio: Studio) -> None:
    with studio.rig(Say(calls=[("ping", {})])) as (rig, _):
        assert rig.run(cassette="once").error != ""
    assert not studio.tape.exists()


def test_a_tool_that_gave_no_answer_keeps_the_episode_off_the_tape(studio: Studio) -> None:
    with studio.rig(Say(calls=[("slow", {"seconds": 9})]), Say("done")) as (rig, _):
        result = rig.run(cassette="once", toolTimeoutSeconds=0.2)
    assert result.error == ""
    assert any("C01.jsonl was not written: slow gave no answer" in warning for warning in result.episode.warnings)
    assert not studio.tape.exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "C01.jsonl:2: is not JSON"),
        ("[]", "C01.jsonl:2: is not an object"),
        ('{"kind": "tape"}', "C01.jsonl:2: kind 'tape' is none of cassette, part, recording"),
        ('{"kind": "cassette", "version": 99}', "C01.jsonl:2: version 99; this pack reads version 1"),
        ('{"kind": "recording", "request": {"messages": ["no"]}}', "C01.jsonl:2: refers to a part that"),
        ('{"kind": "recording", "request": {}}', "C01.jsonl:2: a recording without boundary or key"),
    ],
)
def test_a_damaged_cassette_is_named_with_its_line(studio: Studio, line: str, problem: str) -> None:
    studio.tape.parent.mkdir(parents=True)
    studio.tape.write_text(f'{{"kind": "cassette", "version": 1}}\n{line}\n', encoding="utf-8")
    assert problem in studio.replay().error


def test_a_fake_answers_for_one_tool_and_its_arguments_only(studio: Studio) -> None:
    rules = [
        {"tool": "add", "arguments": {"a": 1}, "result": {"sum": 42}},
        {"tool": "ping", "error": "the portal is down"},
    ]
    calls = [("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2}), ("ping", {})]
    with studio.rig(Say(calls=calls), Say("done")) as (rig, _):
        result = rig.run(fakes={"rules": rules})
    found = [(str(call.status), call.result, call.replayed) for call in result.episode.tool_calls or ()]
    assert found == [
        ("ok", {"sum": 42}, True),
        ("ok", {"sum": 4}, False),
        ("tool_error", "the portal is down", True),
    ]
    assert studio.tools.names() == ["add"]
    assert "add: this answer is a fake" in result.episode.warnings


def test_a_faked_creation_created_nothing_and_the_ledger_says_so(studio: Studio) -> None:
    fake = {"url": "https://dev.azure.com/o/p/_git/spokes/pullrequest/5", "pullRequestId": 5}
    with studio.rig(Say(calls=[("create_pull_request", {"title": "x"})]), Say("done")) as (rig, _):
        result = rig.run(fakes={"rules": [{"tool": "create_pull_request", "result": fake}]})
        assert rig.ledger()[1]["sent"] is False
    assert result.episode.pull_requests == ()


def test_chance_follows_its_seed(studio: Studio) -> None:
    def outcome(seed: int) -> list[str]:
        rules = [{"tool": "ping", "error": "unlucky", "probability": 0.5}]
        with studio.rig(*[Say(calls=[("ping", {})])] * 8, Say("done")) as (rig, _):
            return [status for _, status in rig.run(fakes={"seed": seed, "rules": rules}).statuses]

    first = outcome(1)
    assert first == outcome(1)
    assert set(first) == {"ok", "tool_error"}
    assert first != outcome(2)


@pytest.mark.parametrize(
    ("fakes", "problem"),
    [
        ([], "config.fakes: expected a mapping with seed, rules"),
        ({"rules": [{"tool": "a"}]}, "config.fakes.rules[0].result: a fake needs a result, an error or a latencyMs"),
        ({"rules": [{"tool": "a", "result": 1, "error": "x"}]}, "config.fakes.rules[0].error: a fake has either"),
        ({"rules": [{"error": "x"}]}, "config.fakes.rules[0].tool: expected the name of a tool"),
        ({"rules": [{"tool": "a", "eror": "x"}]}, "config.fakes.rules[0].eror: unknown key; allowed: tool, arguments"),
        ({"rules": [{"tool": "a", "error": "x", "probability": 2}]}, "config.fakes.rules[0].probability: expected"),
        ({"rules": [{"tool": "a", "result": None}]}, "config.fakes.rules[0].result: null makes up nothing"),
        ({"rules": [{"tool": "a", "error": ""}]}, "config.fakes.rules[0].error: expected what the tool says, found ''"),
        ({"rules": [{"tool": "a", "error": None}]}, "config.fakes.rules[0].error: expected what the tool says, found"),
    ],
)
def test_a_wrong_fake_is_named_with_its_place(studio: Studio, fakes: Any, problem: str) -> None:
    assert problem in studio.replay(cassette=None, fakes=fakes).error


def test_a_fake_of_a_tool_that_no_server_offers_is_an_error_before_the_agent_may_call_the_real_one(
    studio: Studio,
) -> None:
    with studio.rig(Say(calls=[("create_pull_request", {"title": "x"})]), Say("done")) as (rig, model):
        result = rig.run(fakes={"rules": [{"tool": "create_pull_requests", "error": "not today"}]})
    assert "config.fakes: no server offers the tool 'create_pull_requests'; offered: add, " in result.error
    assert (model.asked, studio.tools.names()) == ([], [])
