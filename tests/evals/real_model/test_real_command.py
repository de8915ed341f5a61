"""`evals real` as it is typed, with everything real but the engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from endpoints.settings import CHECKOUT, SETTINGS
from evals.__main__ import main
from evals.exit_codes import Exit
from tests.support.real_model import StandIn, alive, stand_in

COMMAND = [sys.executable, "-P", "-m", "evals", "real"]


@pytest.fixture
def engine(tmp_path: Path) -> StandIn:
    return stand_in(tmp_path / "home")


def environment(engine: StandIn) -> dict[str, str]:
    """With a portal and a model that nobody may be sent to."""
    ours = {setting.name for setting in SETTINGS}
    kept = {name: text for name, text in os.environ.items() if name not in ours}
    elsewhere = {"EVALS_PORTAL_URL": "http://127.0.0.1:9", "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9"}
    return {**kept, "EVALS_HOME": str(engine.home), "EVALS_ENV_FILE": "off", **elsewhere}


def start(engine: StandIn, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *words],
        env=environment(engine),
        cwd=engine.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(engine: StandIn, *words: str) -> tuple[int, str]:
    with start(engine, *words) as process:
        output, _ = process.communicate(timeout=300)
    return process.returncode, output


def records(engine: StandIn) -> list[dict[str, Any]]:
    """What the providers recorded of each row, in the order of the cases."""
    (file,) = (engine.home / "results").glob("*.json")
    rows = json.loads(file.read_text(encoding="utf-8"))["results"]["results"]
    return [row["response"]["metadata"] for row in sorted(rows, key=lambda row: str(row["testCase"]["description"]))]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes_of(home: Path) -> list[str]:
    """The command lines of all processes that work in this data folder."""
    found = []
    wanted = f"EVALS_HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0") and alive(int(folder.name)):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_a_case_runs_against_the_local_portal_and_an_engine_that_dies_in_the_next_ends_in_a_record_and_in_2(
    engine: StandIn,
) -> None:
    engine.behave("dies later")
    code, output = run(engine, "--filter-pattern", "C0[12]")
    assert code == 2, output
    said = output[output.index("\nQwen2.5-Coder-1.5B-Instruct") :]
    assert (
        "\nC01 copy a development spoke for testing: failed\n  ended by user_stop after 1 of 4 turns, 2 of 14 steps"
        in said
    )
    assert "\n  tools: get_spoke (1 of 1 were written as text)\n" in said
    assert "\n  wrong: no pull request was created, and the answer shows no pull-request URL\n" in said
    faults = said.partition("The machinery did NOT hold:\n")[2]
    assert faults.startswith("  C02 the machinery failed: provider_error: model qwen2.5-coder")
    assert "  C01 " not in faults
    record, broken = records(engine)
    assert broken["stopReason"] == "provider_error"
    (call,) = record["toolCalls"]
    assert (call["id"], call["status"]) == ("from_text_1_0", "ok")
    assert record["fingerprint"]["model"]["name"] == "qwen2.5-coder-1.5b-instruct"
    assert record["fingerprint"]["userModel"]["name"] == "qwen2.5-coder-1.5b-instruct"
    loaded, *asked = engine.noted()
    assert loaded["context"] == 16_384
    assert [(entry["tools"], entry["max_tokens"]) for entry in asked[:3]] == [(8, 2048), (8, 2048), (0, 256)]
    wait_until(lambda: processes_of(engine.home) == [])


def test_an_engine_that_hangs_is_ended_by_the_deadline_and_the_machinery_held(engine: StandIn) -> None:
    engine.behave("hangs")
    code, output = run(engine, "--filter-pattern", "C01", "--case-seconds", "15")
    assert code == 0, output
    assert "C01 copy a development spoke for testing: not judged\n  ended by deadline after 1 of 4 turns" in output
    assert "\nThe machinery held: every case ended with a record and within its limits.\n" in output
    assert engine.noted()[-1] == {"gone": True}, "the engine was told that nobody waits any more"


def test_nothing_is_left_of_a_run_that_was_killed(engine: StandIn) -> None:
    engine.behave("hangs")
    with start(engine, "--filter-pattern", "C01") as process:
        wait_until(lambda: len(engine.noted()) > 1)
        process.send_signal(signal.SIGKILL)
        wait_until(lambda: processes_of(engine.home) == [])
    assert not any(map(alive, engine.engine_pids()))


def test_an_engine_that_does_not_start_ends_with_5_and_its_own_words(engine: StandIn) -> None:
    engine.behave("refuses")
    code, output = run(engine, "--filter-pattern", "C01")
    assert code == 5, output
    assert "The model did not start: python -m local: the engine did not start: RuntimeError: failed to load " in output
    assert not (engine.home / "results").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-j", "4"], "-j has no place in `evals real`, which takes filters of cases and --repeat only.\n"),
        (["--model", "x"], "evals real has a suite, models and a portal of its own; it takes filters of cases only.\n"),
        (["spoke-qa"], "evals real has a suite, models and a portal of its own; it takes filters of cases only.\n"),
        (["--case-seconds", "5"], "evals real: argument --case-seconds: a whole number from 15 to 3600 is allowed, "),
        (["--filter-patern", "C01"], "There is no flag --filter-patern"),
    ],
)
def test_a_wrong_line_ends_with_5_and_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["real", *words]) == Exit.SETUP
    assert capsys.readouterr().err.startswith(sentence)


def test_a_filter_that_selects_nothing_ends_with_4_before_anything_is_fetched(engine: StandIn) -> None:
    code, output = run(engine, "--filter-pattern", "Z99")
    assert code == 4, output
    assert engine.noted() == []


def test_the_script_of_package_json_starts_it() -> None:
    scripts = json.loads((CHECKOUT / "package.json").read_text(encoding="utf-8"))["scripts"]
    assert scripts["eval:real"] == "node setup/launch.mjs evals real"
