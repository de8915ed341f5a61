"""`evals run` with the real promptfoo: what it says at the end, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.evals.conftest import Demo, make_demo


def results_of(demo: Demo) -> list[Path]:
    return sorted((demo.home / "results").iterdir()) if (demo.home / "results").exists() else []


@dataclass(frozen=True)
class Mixed:
    """A run with a case of each kind, beside a suite with a faulty case."""

    demo: Demo
    ended: subprocess.CompletedProcess[str]

    @property
    def file(self) -> Path:
        (file,) = (file for file in results_of(self.demo) if file.suffix == ".json")
        return file


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, answering: str) -> Mixed:
    demo = make_demo(tmp_path_factory.mktemp("mixed"), answering)
    other = demo.root / "suites" / "other"
    other.mkdir()
    (other / "cases.yaml").write_text("- description: O01\n", encoding="utf-8")
    config = (demo.root / "suites" / "demo" / "promptfooconfig.yaml").read_text(encoding="utf-8")
    (other / "promptfooconfig.yaml").write_text(config.replace("suites/demo", "suites/other"), encoding="utf-8")
    words = ("--filter-pattern", "T0[1-5]", "--model", "big", "--user-model=small")
    return Mixed(demo, demo.run(*words, EVALS_JUDGE_MODEL="strict"))


def test_the_files_that_promptfoo_says_it_has_written_are_there(mixed: Mixed) -> None:
    # promptfoo breaks long lines, so the names are looked for and not the sentence.
    said = mixed.ended.stdout + mixed.ended.stderr
    written = [mixed.file, mixed.file.with_suffix(".jsonl")]
    assert [file.name in said for file in written] == [True, True]
    assert results_of(mixed.demo) == written


def test_a_mixed_run_is_told_in_words(mixed: Mixed) -> None:
    said = mixed.ended.stdout[mixed.ended.stdout.index("\ndemo: ") :]
    seconds = said.partition(" cases in ")[2].partition(" s.")[0]
    eval_id = json.loads(mixed.file.read_text(encoding="utf-8"))["evalId"]
    assert said == (
        "\ndemo: 2 passed, 1 failed, 1 error, 1 not evaluated\n"
        "  good     1 passed\n"
        "  bad      0 passed, 1 failed, 1 error\n"
        "  unclear  0 passed, 1 not evaluated\n"
        "  opening  1 passed\n"
        "\n"
        "Did not pass:\n"
        '  T02, failed: Expected output to contain "hello"\n'
        "  T03, error: the model is gone\n"
        "  T04, not evaluated: no telemetry\n"
        "\n"
        f"2 passed, 1 failed, 1 error, 1 not evaluated of 5 cases in {seconds} s.\n"
        "Pull requests: 1 opened, 0 abandoned.\n"
        "LEFT BEHIND, 1 thing to look at:\n"
        "  https://host.example/pr/7 was opened, and nothing shows that it was abandoned\n"
        f"  To finish: npm run evals -- cleanup --run {eval_id}\n"
        "Tokens: 4,020 (4,000 in, 20 out) in 9 model requests, cost 2.0000.\n"
        f"Results: {mixed.file}\n"
        "To look at them: npm run eval:view (or yarn eval:view)\n"
    )
    assert (mixed.demo.home / "promptfoo" / "promptfoo.db").exists()


def test_what_was_opened_and_not_abandoned_ends_with_3_whatever_else_went_wrong(mixed: Mixed) -> None:
    assert mixed.ended.returncode == 3, mixed.ended.stdout + mixed.ended.stderr


def test_the_models_of_the_command_line_reach_the_providers(mixed: Mixed) -> None:
    rows = json.loads(mixed.file.read_text(encoding="utf-8"))["results"]["results"]
    told = [row["response"]["metadata"]["models"] for row in rows if "error" not in row["response"]]
    assert told == [["big", "small", "strict"]] * 4


def test_a_faulty_case_of_another_suite_does_not_hold_up_this_one(mixed: Mixed) -> None:
    assert " of 5 cases in " in mixed.ended.stdout
    assert mixed.demo.evals("run", "other", "--root", str(mixed.demo.root)).returncode == 5


def test_a_run_in_which_promptfoo_selects_nothing_ends_with_4(demo: Demo) -> None:
    ended = demo.run("--filter-range", "50:60")
    assert ended.returncode == 4, ended.stdout + ended.stderr
    assert "No case of demo was selected." in ended.stdout


def test_a_config_that_promptfoo_refuses_ends_with_5(demo: Demo) -> None:
    config = demo.root / "suites" / "demo" / "promptfooconfig.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("provider.py", "nowhere.py"), encoding="utf-8")
    ended = demo.run("-n", "0")
    assert ended.returncode == 5
    assert "promptfoo ended with code 1 before any case of demo had; the reason stands above." in ended.stderr
    assert results_of(demo) == []


def _stopped(demo: Demo, pattern: str, number: signal.Signals) -> tuple[int, str]:
    """The exit code and the words of a run that gets a signal when a case has begun."""
    command = [*demo.command, "run", "demo", "--root", str(demo.root), "--filter-pattern", pattern]
    with subprocess.Popen(
        command,
        env=demo.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        wait_for(Path(demo.environment["STARTED"]))
        # As in a terminal, where npm and the launcher pass on what this process has already got.
        process.send_signal(number)
        process.send_signal(number)
        output, _ = process.communicate(timeout=120)
    assert "Stopped after " in output
    assert "To look at them: npm run eval:view" in output
    assert _processes_with(str(demo.root)) == []
    return process.returncode, output


def test_a_stopped_run_says_what_is_known_ends_with_130_and_leaves_no_process(demo: Demo) -> None:
    code, output = _stopped(demo, "T0[16]", signal.SIGTERM)
    assert code == 130, output
    (file,) = results_of(demo)
    assert file.suffix == ".jsonl"


_CREATING = """\
from endpoints.settings import home
from episodes.ledger import Ledger, new_marker
from episodes.record import PullRequest

def call_api(prompt, options, context):
    import os, time
    ledger = Ledger.open(home(), context["evaluationId"])
    ledger.intent("step", "call", "portal", "create", new_marker())
    ledger.result("step", "call", PullRequest("https://host.example/pr/7", "7", "r", "evals/x", "active"))
    open(os.environ["STARTED"], "a").write("started")
    time.sleep(120)
"""


def test_what_a_stopped_run_had_created_is_swept_and_what_is_left_ends_with_3(demo: Demo) -> None:
    (demo.root / "suites" / "demo" / "provider.py").write_text(_CREATING, encoding="utf-8")
    code, output = _stopped(demo, "T06", signal.SIGINT)
    # The host of this test answers and knows nothing: the sweep can not abandon what the ledger proves.
    assert code == 3, output
    assert "Pull requests: 1 opened, 0 abandoned.\nLEFT BEHIND, 1 thing to look at:\n" in output
    assert "https://host.example/pr/7" in output
    (ledger,) = (demo.home / "ledger").glob("eval-*.jsonl")
    assert f"  To finish: npm run evals -- cleanup --run {json.loads(ledger.open().readline())['run']}" in output


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} did not appear"
        time.sleep(0.1)


def _processes_with(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if text in words and entry.parent.name != str(os.getpid()):
            found.append(words.replace("\0", " "))
    return found


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--filter-metadata", "priority=smokey"], 4, "No case of demo matches --filter-metadata priority=smokey: "),
        (["--filter-metadata", "owner=me"], 4, "no case has the metadata owner."),
        (
            ["--filter-metadata", "priority=smoke", "--filter-metadata", "group=bad"],
            4,
            "No case of demo matches priority=smoke and group=bad at the same time.",
        ),
        (
            ["--filter-pattern", "C01"],
            4,
            "No description of a case of demo matches --filter-pattern C01: there are T01, ",
        ),
        (
            ["--filter-metadata", "smoke"],
            5,
            "--filter-metadata needs KEY=VALUE, such as priority=smoke, and got smoke.",
        ),
        (["dmo"], 5, "There is no suite dmo; did you mean demo? There are demo."),
        (
            ["--filter-pattrn", "x"],
            5,
            "There is no flag --filter-pattrn; did you mean --filter-pattern? `npm run evals -- run --help` lists",
        ),
        (["--model"], 5, "--model needs a value."),
        (["-c", "x.yaml"], 5, "-c has no place in `evals run`: the suite's name chooses the config."),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence_before_anything_starts(
    demo: Demo, words: list[str], code: int, sentence: str
) -> None:
    ended = demo.run(*words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr
    assert not demo.home.exists()


def test_a_missing_variable_is_named_and_no_value_is_shown(demo: Demo) -> None:
    ended = demo.run(AZURE_OPENAI_ENDPOINT="https://secret-resource.example", EVALS_MODEL_BASE_URL="")
    assert (ended.returncode, ended.stdout) == (5, "")
    assert "AZURE_OPENAI_API_KEY is not set, but AZURE_OPENAI_ENDPOINT is" in ended.stderr
    assert "secret-resource" not in ended.stderr
    assert not demo.home.exists()


def test_a_misspelt_variable_is_named_because_it_would_leave_the_run_with_what_is_local(demo: Demo) -> None:
    ended = demo.run(EVALS_MODL_BASE_URL="https://model.example", EVALS_PORTAL_URL="http://127.0.0.1:9")
    assert ended.stderr.startswith(
        "Warning: nothing reads EVALS_MODL_BASE_URL; unset or correct it; did you mean EVALS_MODEL_BASE_URL?\n"
    )
    assert "model.example" not in ended.stderr


def test_an_address_that_does_not_answer_is_named(demo: Demo) -> None:
    ended = demo.run(EVALS_PORTAL_URL="http://127.0.0.1:9")
    assert (ended.returncode, ended.stdout) == (5, "")
    assert "The portal of EVALS_PORTAL_URL is not reachable (Connection refused)" in ended.stderr
    assert not demo.home.exists()


def test_a_faulty_case_is_named_with_file_and_line(demo: Demo) -> None:
    cases = demo.root / "suites" / "demo" / "cases.yaml"
    cases.write_text(cases.read_text(encoding="utf-8").replace("group: unclear, ", ""), encoding="utf-8")
    ended = demo.run()
    assert (ended.returncode, ended.stdout) == (5, "")
    assert ended.stderr == "suites/demo/cases.yaml:14: metadata: group is missing; needed are id, group, priority\n"


def test_a_folder_that_cannot_be_written_is_named(demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    ended = demo.run(EVALS_HOME=str(file))
    assert ended.returncode == 5
    assert f"{file}/results: no results can be written there" in ended.stderr
