"""The first start installs, the second one does not, and whatever goes wrong is said with what to do about it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from endpoints.settings import CHECKOUT
from evals.installation import node

if TYPE_CHECKING:
    from tests.setup.conftest import FakeCheckout as Checkout

PACKAGES = "uv pip install --compile-bytecode --python .venv/bin/python --require-hashes -r setup/requirements.txt"
TESTS = "uv pip install --compile-bytecode --python .venv/bin/python --require-hashes -r setup/requirements-dev.txt"
QUIET = "--ignore-scripts --no-audit --no-fund --loglevel=error"
PROMPTFOO = f"npm ci --omit=optional {QUIET} in promptfoo with registry unset"
LIBRARY = f"npm ci {QUIET} in setup with registry unset"


def test_the_first_start_installs_everything_and_the_second_one_nothing(checkout: Checkout) -> None:
    first = checkout.start("greeting", "a", "b c")
    assert (first.returncode, first.stdout) == (0, "started a b c\n")
    assert set(checkout.calls()) == {PACKAGES, PROMPTFOO, LIBRARY}
    for step in ("Virtual environment", "Python packages", "promptfoo", "Database library", "Set-up"):
        assert f"  {step}: done in " in first.stderr

    second = checkout.start("greeting")
    assert (second.returncode, second.stdout, second.stderr) == (0, "started\n", "")
    assert checkout.calls() == []


def test_what_the_tests_need_is_installed_when_the_tests_are_started(checkout: Checkout) -> None:
    checkout.start("greeting")
    checkout.calls()
    assert checkout.start("--tests", "greeting").stdout == "started\n"
    assert checkout.calls() == [TESTS]
    checkout.start("--tests", "greeting")
    checkout.start("greeting")
    assert checkout.calls() == []


@pytest.mark.parametrize(
    ("file", "expected"),
    [("requirements.txt", [PACKAGES]), ("promptfoo/package-lock.json", [PROMPTFOO, LIBRARY])],
)
def test_only_the_part_is_installed_again_whose_lock_file_has_changed(
    checkout: Checkout, file: str, expected: list[str]
) -> None:
    checkout.start("greeting")
    checkout.calls()
    with (checkout.folder / "setup" / file).open("a") as lock:
        lock.write("\n")
    assert checkout.start("greeting").returncode == 0
    assert checkout.calls() == expected


def test_a_checkout_that_was_moved_is_set_up_again(checkout: Checkout, tmp_path: Path) -> None:
    checkout.start("greeting")
    checkout.calls()
    moved = tmp_path / "moved"
    checkout.folder.rename(moved)
    command = [word.replace(str(checkout.folder), str(moved)) for word in checkout.command("greeting")]
    ended = subprocess.run(command, env=checkout.environment, capture_output=True, text=True, check=False)
    assert ended.stdout == "started\n"
    assert len(checkout.calls()) == 3
    assert (moved / ".venv" / "lib").exists()


def test_a_killed_set_up_is_begun_again_with_an_empty_environment(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "uv-is-slow").touch()
    with subprocess.Popen(
        checkout.command("greeting"), env=checkout.environment, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        unfinished = checkout.folder / ".evals" / "set-up" / "unfinished"
        wait_for(lambda: unfinished.exists() and (checkout.folder / ".venv" / "bin" / "python").exists())
        os.killpg(process.pid, signal.SIGKILL)
    half_installed = checkout.folder / ".venv" / "half-installed"
    half_installed.touch()
    (tmp_path / "uv-is-slow").unlink()
    checkout.calls()

    again = checkout.start("greeting")
    assert (again.returncode, again.stdout) == (0, "started\n")
    assert PACKAGES in checkout.calls()
    assert not half_installed.exists()
    assert not unfinished.exists()


def test_of_two_set_ups_at_the_same_time_one_installs_and_the_other_waits(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "uv-is-slow").touch()
    both = [
        subprocess.Popen(
            checkout.command("greeting"),
            env=checkout.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [out for out, _ in outputs] == ["started\n", "started\n"]
    assert sorted(checkout.calls()) == sorted([PACKAGES, PROMPTFOO, LIBRARY])
    assert sum("waiting for it" in err for _, err in outputs) == 1


def test_the_lock_of_a_dead_process_is_taken_over(checkout: Checkout) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    lock = checkout.folder / ".evals" / "set-up" / "lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(str(dead.pid), encoding="utf-8")
    assert checkout.start("greeting").stdout == "started\n"
    assert not lock.exists()


def test_a_step_that_fails_says_which_one_why_and_what_to_do(checkout: Checkout, tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(1, 30)]
    (tmp_path / "uv-fails").write_text(
        "\n".join([*lines, "error: Failed to fetch https://name:pass@index.example/simple: dns error"]),
        encoding="utf-8",
    )
    ended = checkout.start("greeting")
    assert (ended.returncode, ended.stdout) == (5, "")
    assert 'Set-up failed at "Python packages".' in ended.stderr
    assert "uv ended with exit code 2; its last lines:" in ended.stderr
    assert "line 29" in ended.stderr
    assert "line 9\n" not in ended.stderr
    assert "What to do: the package registry was not reached" in ended.stderr
    assert "name:pass" not in ended.stderr
    log = checkout.folder / ".evals" / "set-up" / "python-packages.log"
    assert str(log) in ended.stderr
    assert "line 1\n" in log.read_text(encoding="utf-8")

    (tmp_path / "uv-fails").unlink()
    assert checkout.start("greeting").stdout == "started\n"


def test_promptfoo_is_not_installed_again_when_only_python_packages_had_failed(
    checkout: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "uv-fails").write_text("no", encoding="utf-8")
    checkout.start("greeting")
    checkout.calls()
    (tmp_path / "uv-fails").unlink()
    checkout.start("greeting")
    assert checkout.calls() == [PACKAGES]


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ("npm error code EINTEGRITY", "a package is not the one that the lock file names"),
        ("npm error code ENOSPC", "free some space on this disk"),
        ("npm error code ENOTFOUND", "the package registry was not reached"),
        ("npm error code EACCES", "make this folder writable for you"),
        ("npm error code ETARGET", "the configured registry does not offer a locked version"),
        ("something new", "mend what the lines above say"),
    ],
)
def test_the_remedy_fits_the_fault(checkout: Checkout, tmp_path: Path, output: str, remedy: str) -> None:
    (tmp_path / "npm-fails").write_text(output, encoding="utf-8")
    ended = checkout.start("greeting")
    assert ended.returncode == 5
    assert 'Set-up failed at "promptfoo".' in ended.stderr
    assert f"What to do: {remedy}" in ended.stderr


def test_a_package_with_another_content_than_locked_is_refused_by_the_real_pip(
    checkout: Checkout, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "greetings-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greetings.py", "")
        wheel.writestr("greetings-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: greetings\nVersion: 1\n")
        wheel.writestr("greetings-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("greetings-1.dist-info/RECORD", "")
    (checkout.folder / "setup" / "requirements.txt").write_text(
        f"greetings==1 --hash=sha256:{'0' * 64}\n", encoding="utf-8"
    )
    (checkout.bin / "uv").unlink()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    ended = checkout.start("greeting", more=offline)
    assert ended.returncode == 5
    assert 'Set-up failed at "Python packages".' in ended.stderr
    assert "a package is not the one that the lock file names" in ended.stderr
    assert not (checkout.folder / ".venv" / ".setup-stamp").exists()


def test_a_python_that_is_too_old_is_named(checkout: Checkout) -> None:
    old = checkout.bin / "old-python"
    old.write_text("#!/bin/sh\nprintf '3.9.2\\n/usr/bin/old\\n'\n", encoding="utf-8")
    old.chmod(0o755)
    ended = checkout.start("greeting", more={"PYTHON": str(old)})
    assert ended.returncode == 5
    assert f"Python 3.11 or newer is needed. PYTHON is set to {old}, which is Python 3.9.2." in ended.stderr
    assert "What to do: set PYTHON to such a Python, or unset it." in ended.stderr


def test_npm_does_not_get_the_registry_that_yarn_classic_hands_down(checkout: Checkout) -> None:
    handed_down = {"npm_config_user_agent": "yarn/1.22.22 npm/?", "npm_config_registry": "https://yarn.example"}
    checkout.start("greeting", more=handed_down)
    assert PROMPTFOO in checkout.calls()
    shutil.rmtree(checkout.folder / "setup" / "promptfoo" / "node_modules")
    checkout.start("greeting", more={**handed_down, "npm_config_user_agent": "npm/11"})
    assert PROMPTFOO.replace("unset", "https://yarn.example") in checkout.calls()


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("18.20.0", False), ("20.20.2", False), ("22.21.9", False), ("22.22.0", True), ("24.1.0", True)],
)
def test_a_node_that_promptfoo_refuses_is_not_used(version: str, accepted: bool) -> None:
    programs = (CHECKOUT / "setup" / "programs.mjs").as_uri()
    script = f"import {{ runningNode }} from {programs!r}; console.log(runningNode({version!r}) !== null)"
    ended = subprocess.run([node(), "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert ended.stdout == f"{str(accepted).lower()}\n"


def test_the_exit_code_of_the_command_is_handed_on(checkout: Checkout) -> None:
    assert checkout.start("greeting", "exit", "3").returncode == 3


def test_a_signal_reaches_the_command_and_its_end_is_told(checkout: Checkout) -> None:
    checkout.start("greeting")
    with subprocess.Popen(
        checkout.command("greeting", "wait"),
        env=checkout.environment,
        cwd=checkout.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 128 + signal.SIGTERM


def test_an_activated_environment_has_promptfoo_and_evals(checkout: Checkout) -> None:
    checkout.start("greeting")
    programs = checkout.folder / ".venv" / "bin"
    ended = subprocess.run(
        [programs / "promptfoo", "eval", "-c", "x"],
        env=checkout.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == f"promptfoo got eval -c x {programs / 'python'}\n"
    (checkout.folder / "evals").mkdir()
    (checkout.folder / "evals" / "__main__.py").write_text("import sys; print('evals got', sys.argv[1:])")
    ended = subprocess.run(
        [programs / "evals", "run", "all"], env=checkout.environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "evals got ['run', 'all']\n"


def test_the_lock_files_name_no_address() -> None:
    for lock in ("package-lock.json", "promptfoo/package-lock.json"):
        packages = json.loads((CHECKOUT / "setup" / lock).read_text(encoding="utf-8"))["packages"]
        assert packages
        assert [name for name, package in packages.items() if "resolved" in package] == []
    for name in ("requirements", "requirements-dev", "requirements-node"):
        text = (CHECKOUT / "setup" / f"{name}.txt").read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert "://" not in text
    assert "://" not in (CHECKOUT / "yarn.lock").read_text(encoding="utf-8")


def test_every_script_of_the_root_package_starts_something_that_exists() -> None:
    package = json.loads((CHECKOUT / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    wanted = {"eval", "eval:view", "evals", "eval:spoke-create", "eval:spoke-qa", "eval:smoke", "test", "bench"}
    assert wanted <= set(package["scripts"])
    for script in package["scripts"].values():
        program, file, *words = script.split()
        assert program == "node"
        assert (CHECKOUT / file).is_file()
        module = next((word for word in words if not word.startswith("--")), "evals")
        assert (CHECKOUT / module.replace(".", "/") / "__main__.py").is_file()
    # yarn berry runs a script without an installation only while its lock file describes this package.
    lock = (CHECKOUT / "yarn.lock").read_text(encoding="utf-8")
    for name, file in package["bin"].items():
        assert f"\n    {name}: {file}\n" in lock
    assert f'"{package["name"]}@workspace:."' in lock


def wait_for(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
