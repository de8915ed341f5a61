"""Cassette files: what differs from run to run is levelled, and episode and checks share one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cassettes.cassette import Cassette, NoRecording
from models.cassettes.modes import CassetteMode, command_to_record
from models.cassettes.tape import read_tape
from models.cassettes.volatile import VOLATILE, Keys, LocalNumbers, levelled
from tests.support.laws import law

PORTAL = "http://127.0.0.1:38123/landing-zones/platform/_git/spokes/pullrequest"
LEVEL = "http://127.0.0.1:0/landing-zones/platform/_git/spokes/pullrequest"


def _record(path: Path, *answers: tuple[str, Any, Any], **options: Any) -> None:
    cassette = Cassette(path, "C01", CassetteMode.ALL, **options)
    for boundary, request, answer in answers:
        assert cassette.take(boundary, request) is None
        cassette.add(boundary, request, answer)
    cassette.save()


def test_numbers_of_the_local_portal_become_1_2_3_and_those_of_other_hosts_stay() -> None:
    numbers = LocalNumbers()
    numbers.learn([{"url": f"{PORTAL}/41"}, [f"see {PORTAL}/17 and {PORTAL}/41."]])
    other = "https://dev.azure.com/contoso/platform/_git/spokes/pullrequest/41"
    assert numbers.fill_in({"pullRequestId": 41, "url": f"{PORTAL}/41", "other": other, "count": 41}) == {
        "pullRequestId": 1,
        "url": f"{PORTAL}/1",
        "other": other,
        "count": 41,
    }
    assert numbers.fill_in([f"{PORTAL}/17?x", {"pull_request_id": 17}, {"pullRequestId": 99}]) == [
        f"{PORTAL}/2?x",
        {"pull_request_id": 2},
        {"pullRequestId": 99},
    ]
    assert numbers.fill_in(r'{"a": "{\"pullRequestId\": 17}"}') == r'{"a": "{\"pullRequestId\": 2}"}'


def test_every_volatile_part_says_why_and_is_level_when_it_is_levelled() -> None:
    assert all(part.reason for part in VOLATILE)
    branch = "evals/0123456789ab/spoke-a-test-deadbeef"
    level = levelled({"branch": branch, "marker": "evals/0123456789ab", "at": f"{PORTAL}/1"})
    assert level == {
        "branch": "evals/000000000000/spoke-a-test-00000000",
        "marker": "evals/000000000000",
        "at": f"{LEVEL}/1",
    }
    assert levelled(level) == level


@law(100)
@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_not_volatile_is_never_changed_by_numbering(value: Any) -> None:
    numbers = LocalNumbers()
    numbers.learn([f"{PORTAL}/5"])
    assert numbers.fill_in(value) == value


def test_a_request_has_the_same_key_live_and_on_the_cassette() -> None:
    live = {"messages": [{"role": "tool", "content": f"{PORTAL}/1 on evals/0123456789ab"}], "model": "m"}
    assert Keys().key_of(live) == Keys().key_of(levelled(live))
    assert Keys().key_of(live) != Keys().key_of({**live, "model": "other"})


def test_what_is_recorded_is_written_level_and_found_again(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    asked = {"method": "tools/call", "arguments": {"branch_prefix": "evals/0123456789ab"}}
    said = {"structured": {"pullRequestId": 41, "url": f"{PORTAL}/41"}, "isError": False}
    _record(file, ("tool portal", asked, said), ("host", {"pullRequest": f"{PORTAL}/41"}, {"exists": True}))
    [tool, host] = read_tape(file)
    assert tool.answer["structured"] == {"pullRequestId": 1, "url": f"{LEVEL}/1"}
    replay = Cassette(file, "C01", CassetteMode.NONE)
    again = {"method": "tools/call", "arguments": {"branch_prefix": "evals/000000000000"}}
    assert replay.take("tool portal", again) == tool.answer
    assert replay.take("host", {"pullRequest": f"{LEVEL}/1"}) == host.answer == {"exists": True}
    assert replay.describe_unused() == ""


def test_checks_add_to_the_episodes_file_in_an_order_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    _record(
        file, ("model agent", {"messages": [{"role": "user", "content": "hi"}]}, {"message": {"role": "assistant"}})
    )
    written = []
    for order in (("check rubric", "check groundedness"), ("check groundedness", "check rubric")):
        _record(file, ("model agent", {"messages": [{"role": "user", "content": "hi"}]}, {"message": {}}))
        for boundary in order:
            _record(file, (boundary, {"messages": []}, {"message": {"content": boundary}}), part="checks")
        written.append(file.read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert [one.boundary for one in read_tape(file)] == ["model agent", "check groundedness", "check rubric"]


def test_a_check_that_is_recorded_again_replaces_its_answer(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    for said in ("first", "second"):
        _record(file, ("check rubric", {"messages": []}, {"message": {"content": said}}), part="checks")
    [kept] = read_tape(file)
    assert kept.answer == {"message": {"content": "second"}}


def test_episode_and_checks_do_not_count_each_others_recordings_as_unused(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    _record(file, ("model agent", {"messages": []}, {"message": {}}))
    _record(file, ("check rubric", {"messages": []}, {"message": {}}), part="checks")
    episode = Cassette(file, "C01", CassetteMode.NONE)
    assert episode.take("model agent", {"messages": []}) is not None
    assert episode.describe_unused() == ""
    with pytest.raises(NoRecording, match="no recording of this request at check rubric, and none that is left"):
        episode.take("check rubric", {"messages": []})


def test_new_episodes_keeps_what_the_checks_recorded(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    _record(file, ("model agent", {"messages": []}, {"message": {}}))
    _record(file, ("check rubric", {"messages": []}, {"message": {}}), part="checks")
    more = Cassette(file, "C01", CassetteMode.NEW_EPISODES)
    request = {"messages": [{"role": "user", "content": "more"}]}
    assert more.take("model agent", request) is None
    more.add("model agent", request, {"message": {"content": "yes"}})
    more.save()
    assert [one.boundary for one in read_tape(file)] == ["model agent", "model agent", "check rubric"]


def test_a_request_that_was_never_answered_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "C01.jsonl"
    cassette = Cassette(file, "C01", CassetteMode.ALL)
    cassette.take("tool portal", {"tool": "slow"})
    cassette.save()
    assert not file.exists()


def test_the_command_to_record_names_suite_and_case_and_survives_a_shell() -> None:
    assert command_to_record("spoke-create", "C01") == (
        "EVALS_CASSETTES=all npm run eval -- spoke-create --filter-pattern '^C01'"
    )
    assert command_to_record("spoke-create", "it's (new)").endswith(r"""--filter-pattern '^it'"'"'s\ \(new\)'""")
    assert command_to_record("", "C01") == command_to_record("no-such-suite", "C01") == ""
