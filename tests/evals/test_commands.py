"""Every command of the table can be asked for help, and wrong lines end in a sentence."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from endpoints.settings import SETTINGS
from evals.__main__ import main
from evals.commands import COMMANDS, missing_modules
from evals.exit_codes import Exit
from tests.support.viewer import wait_for_answer

if TYPE_CHECKING:
    from tests.evals.conftest import Demo


def test_every_command_has_its_module() -> None:
    assert missing_modules() == []


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main([name, "--help"])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == Exit.PASSED
    text = capsys.readouterr().out
    assert text.startswith(f"usage: evals {name}")
    assert "examples:" in text


def test_all_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == Exit.PASSED
    text = capsys.readouterr().out
    assert all(f"  {command.name} " in text and command.summary in text for command in COMMANDS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rum"], "There is no command rum; there are run, view, doctor, cleanup, real, "),
        (["view", "--prt", "1"], "evals view: unrecognized arguments: --prt 1. See `npm run evals -- view --help`.\n"),
        (["view", "--port", "99999"], "--port 99999: a port is a number from 1 to 65535.\n"),
        (["doctor", "now"], "evals doctor: unrecognized arguments: now. See `npm run evals -- doctor --help`.\n"),
    ],
)
def test_a_wrong_line_ends_with_5_and_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == Exit.SETUP
    assert capsys.readouterr().err.startswith(sentence)


def test_a_port_in_use_is_said_with_the_way_to_another(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["view", "--port", str(port)]) == Exit.SETUP
    assert capsys.readouterr().err == (
        f"Port {port} of this machine is in use, perhaps by another viewer: look at http://127.0.0.1:{port}, or choose "
        "another port with `npm run eval:view -- --port N`.\n"
    )


def test_the_viewer_is_reachable_from_this_machine_only(demo: Demo) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [*demo.command, "view", "--port", str(port)],
        env=demo.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as viewer:
        try:
            wait_for_answer(f"http://127.0.0.1:{port}/health", viewer)
            # All of 127.0.0.0/8 is this machine: a server on all interfaces would answer there as well.
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", port), timeout=5)
        finally:
            viewer.terminate()
            output, _ = viewer.communicate(timeout=60)
    assert f"Results of {demo.home / 'promptfoo'}; Ctrl-C ends the viewer." in output


def test_the_doctor_names_every_variable_and_shows_no_value(demo: Demo, tmp_path: Path) -> None:
    ended = demo.evals("doctor", EVALS_PORTAL_URL="http://127.0.0.1:9", EVALS_AGENT_MODEL="my-secret-deployment")
    assert ended.returncode == 5, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    for setting in SETTINGS:
        state = "set" if setting.name in demo.environment or setting.name == "EVALS_AGENT_MODEL" else "unset"
        assert any(line.split()[:2] == [state, setting.name] and setting.purpose in line for line in lines)
    for secret in ("portal-secret", "host-secret", "my-secret-deployment"):
        assert secret not in ended.stdout + ended.stderr
    assert "  ok     promptfoo 0.123.1 on Node " in ended.stdout
    assert f", {demo.command[0]}\n" in ended.stdout
    assert "  FAULT  portal of EVALS_PORTAL_URL does not answer\n         mend: The portal of " in ended.stdout
    assert "  ok     model of EVALS_MODEL_BASE_URL answers\n" in ended.stdout
    assert not (tmp_path / "home").exists()


def test_the_doctor_compares_the_listed_tools_with_those_of_the_local_portal(demo: Demo) -> None:
    for name in list(demo.environment):
        if name.startswith("EVALS_") and name != "EVALS_HOME":
            del demo.environment[name]
    ended = demo.evals("doctor")
    assert "  ok     the portal offers the 9 tools that cases may name\n" in ended.stdout, ended.stdout + ended.stderr
