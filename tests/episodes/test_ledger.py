"""The ledger stands between a crash and a forgotten pull request: its lines survive kills, threads and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from episodes.creations import ProvenPullRequest, read_ledger
from episodes.ledger import Ledger, LedgerError, ledger_file, left_file, new_marker
from episodes.record import PullRequest

RUN = "eval-abc-2026-03-01T10:00:00"
STEP = "test-0-prompt-0-repeat-0"
PULL = PullRequest("http://host/p/_git/r/pullrequest/41", "41", "platform/spokes", "evals/a/x", "active")


def test_a_result_closes_the_intent_of_its_call(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create_spoke_pull_request", "evals/a")
    ledger.result(STEP, "call-1", PULL)

    run = read_ledger(ledger.path)
    (creation,) = run.creations
    assert run.run_id == RUN
    assert creation.pull_request == ProvenPullRequest("41", PULL.url, "platform/spokes", "evals/a/x")
    assert (creation.tool, creation.marker, creation.host) == ("create_spoke_pull_request", "evals/a", "local")
    assert creation.answered
    assert creation.pid == os.getpid()
    assert not creation.settled


def test_an_intent_without_a_result_stays_open(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")

    (creation,) = read_ledger(ledger.path).unsettled
    assert creation.result_at == ""
    assert not creation.answered
    assert creation.writer_alive


def test_the_intent_is_on_disk_before_the_call_is_sent(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, signal, sys\n"
        "from episodes.ledger import Ledger\n"
        f"ledger = Ledger.open(pathlib.Path(sys.argv[1]), {RUN!r}, 'local')\n"
        f"ledger.intent({STEP!r}, 'c', 'portal', 'create', 'evals/a')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -9

    (creation,) = read_ledger(ledger_file(tmp_path, RUN)).unsettled
    assert creation.marker == "evals/a"
    assert not creation.writer_alive


def test_each_line_and_the_new_file_are_synced_before_the_call_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, bytes]] = []
    really = os.fsync

    def watched(descriptor: int) -> None:
        really(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append((path, path.read_bytes() if path.is_file() else b""))

    monkeypatch.setattr(os, "fsync", watched)
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
    assert synced == [(ledger.path, ledger.path.read_bytes()), (ledger.path.parent, b"")]
    ledger.result(STEP, "call-1", PULL)
    assert synced[2:] == [(ledger.path, ledger.path.read_bytes())]


def test_an_address_with_a_password_is_masked_in_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
    url = PULL.url.replace("http://", "http://me:pa55word@")
    ledger.result(STEP, "call-1", PullRequest(url, "41", "platform/spokes", "evals/a/x", "active"))
    (creation,) = read_ledger(ledger.path).creations
    assert creation.pull_request == ProvenPullRequest(
        "41", "http://[redacted]@host/p/_git/r/pullrequest/41", "platform/spokes", "evals/a/x"
    )


def test_a_call_that_is_made_twice_under_one_id_is_two_creations(tmp_path: Path) -> None:
    for number in ("41", "42"):
        ledger = Ledger.open(tmp_path, RUN, "local")
        ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
        ledger.result(STEP, "call-1", PullRequest("u", number, "platform/spokes", "b", "active"))

    pulls = [creation.pull_request for creation in read_ledger(ledger_file(tmp_path, RUN)).creations]
    assert [pull.id for pull in pulls if pull] == ["41", "42"]


def test_a_result_written_by_another_process_finds_its_intent(tmp_path: Path) -> None:
    Ledger.open(tmp_path, RUN, "local").intent(STEP, "call-1", "portal", "create", "evals/a")
    Ledger.open(tmp_path, RUN, "local").result(STEP, "call-1", PULL)

    (creation,) = read_ledger(ledger_file(tmp_path, RUN)).creations
    assert creation.marker == "evals/a"
    assert creation.pull_request is not None


def test_a_result_whose_intent_was_lost_still_counts(tmp_path: Path) -> None:
    Ledger.open(tmp_path, RUN, "local").result(STEP, "call-1", PULL)

    (creation,) = read_ledger(ledger_file(tmp_path, RUN)).unsettled
    assert creation.pull_request is not None
    assert creation.pull_request.id == "41"


def test_a_call_that_was_never_sent_leaves_nothing_to_look_for(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
    ledger.result(STEP, "call-1", None, "a replayed answer", sent=False)

    assert not read_ledger(ledger.path).unsettled


def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
    with ledger.path.open("a", encoding="utf-8") as file:
        file.write('{"run": "eval-abc", "kind": "res')
    ledger.intent(STEP, "call-2", "portal", "create", "evals/b")

    run = read_ledger(ledger.path)
    assert [creation.call_id for creation in run.creations] == ["call-1", "call-2"]
    assert run.unreadable_lines == 1


def test_many_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "from episodes.ledger import Ledger\n"
        f"ledger = Ledger.open(pathlib.Path(sys.argv[1]), {RUN!r}, 'local')\n"
        "for number in range(25):\n"
        "    ledger.intent(sys.argv[2], f'call-{number}', 'portal', 'create', 'evals/' + 'x' * 3000)\n"
        "    ledger.result(sys.argv[2], f'call-{number}', None, 'refused')\n"
    )

    def write(step: int) -> int:
        return subprocess.run([sys.executable, "-c", program, str(tmp_path), f"step-{step}"], timeout=120).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [0, 0, 0, 0]
    run = read_ledger(ledger_file(tmp_path, RUN))
    assert run.unreadable_lines == 0
    assert len(run.creations) == 100
    assert all(creation.problem == "refused" for creation in run.creations)


def test_two_runs_in_one_checkout_have_their_own_files(tmp_path: Path) -> None:
    Ledger.open(tmp_path, "eval-one", "local").intent(STEP, "c", "portal", "create", "evals/a")
    Ledger.open(tmp_path, "eval-two", "local").intent(STEP, "c", "portal", "create", "evals/b")

    assert [one.marker for one in read_ledger(ledger_file(tmp_path, "eval-one")).creations] == ["evals/a"]
    assert [one.marker for one in read_ledger(ledger_file(tmp_path, "eval-two")).creations] == ["evals/b"]


@pytest.mark.parametrize("run_id", ["../../etc/passwd", "..", "/abs", "a/b", "nul\0", "ü" * 3, ".hidden"])
def test_no_run_id_leads_out_of_the_ledger_folder(tmp_path: Path, run_id: str) -> None:
    for path in (ledger_file(tmp_path, run_id), left_file(tmp_path, run_id)):
        assert path.resolve().parent == tmp_path / "ledger"
        assert not path.name.startswith(".")
    ledger = Ledger.open(tmp_path, run_id, "local")
    ledger.intent(STEP, "c", "portal", "create", "evals/a")
    assert read_ledger(ledger.path).run_id == run_id


def test_an_unwritable_ledger_refuses_the_call(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file where the folder should be")

    with pytest.raises(LedgerError, match="cannot write the ledger"):
        Ledger.open(tmp_path, RUN, "local").intent(STEP, "c", "portal", "create", "evals/a")


def test_a_ledger_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="id of its run"):
        Ledger.open(tmp_path, "", "local")


def test_the_host_is_the_configured_one_and_local_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALS_PULL_REQUEST_API", raising=False)
    Ledger.open(tmp_path, RUN).intent(STEP, "c", "portal", "create", "")
    monkeypatch.setenv("EVALS_PULL_REQUEST_API", "https://dev.azure.com/org/")
    Ledger.open(tmp_path, RUN).intent(STEP, "c", "portal", "create", "")

    hosts = [creation.host for creation in read_ledger(ledger_file(tmp_path, RUN)).creations]
    assert hosts == ["local", "https://dev.azure.com/org"]


def test_the_cleanup_settles_a_creation_once_nothing_is_left(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "call-1", "portal", "create", "evals/a")
    ledger.result(STEP, "call-1", PULL)
    (creation,) = read_ledger(ledger.path).unsettled

    ledger.swept(creation.intent_id, STEP, "platform/spokes", "41", "failed", "500")
    assert read_ledger(ledger.path).unsettled
    ledger.swept(creation.intent_id, STEP, "platform/spokes", "41", "abandoned")
    assert not read_ledger(ledger.path).unsettled


def test_a_reused_process_number_is_not_taken_for_the_writer(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "c", "portal", "create", "")
    row = json.loads(ledger.path.read_text())
    ledger.path.write_text(json.dumps({**row, "born": "1"}) + "\n")

    assert not read_ledger(ledger.path).alive


def test_markers_are_never_the_same_and_fit_into_a_branch_name() -> None:
    markers = {new_marker() for _ in range(1000)}
    assert len(markers) == 1000
    assert all(marker.startswith("evals/") and marker[6:].isalnum() for marker in markers)


def test_the_files_are_for_their_owner_only(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, RUN, "local")
    ledger.intent(STEP, "c", "portal", "create", "")
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert ledger.path.parent.stat().st_mode & 0o077 == 0
