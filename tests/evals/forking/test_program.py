"""A script in a forked process: to whoever started it, what it would have been in a Python of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoints import forked_python
from endpoints.settings import CHECKOUT, FORKED_PYTHON
from tests.support.fork_server import fork_server, gone, until

WRAPPER = CHECKOUT / "setup/promptfoo/node_modules/promptfoo/dist/src/python/wrapper.py"

TELL = """
import json, os, sys, time
print(json.dumps({
    "arguments": sys.argv, "name": __name__, "folder": os.getcwd(), "python": sys.executable, "first": sys.path[0],
    "marker": os.environ.get("MARKER"), "home": os.environ.get("HOME"), "zone": time.tzname[0],
    "stdin": sys.stdin.read(),
}))
"""

ENDS = """
import atexit, sys, threading, time
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.2), print("the thread ended"))).start()
how = sys.argv[1]
print("begun", how)
print("begun", how, file=sys.stderr)
if how == "raise":
    def inner():
        raise ValueError("no")
    inner()
sys.exit(None if how == "none" else int(how) if how.isdigit() else how)
"""

PARENT = "import os; print(os.getppid())"

_HABITS = {
    "forks a child that exits first": """
if os.fork() == 0:
    print("child", flush=True)
    sys.exit(3)
os.wait()
print("parent")
sys.exit(4)
""",
    "leaves by os._exit": "print('said', flush=True); os._exit(5)",
    "lists its threads": "import threading; print(threading.enumerate()[1:], threading.active_count())",
    "has no stdout": "print('said'); sys.stdout = None; sys.exit(3)",
    "has another stdout": "import io; print('said'); sys.stdout = io.StringIO()",
    "leaves a file open": "file = open('log', 'w'); file.write('data'); keep = lambda: file",
    "leaves a temporary file": """
import tempfile
file = tempfile.NamedTemporaryFile(dir=".")
keep = lambda: file
""",
    "leaves a file open in a module": "sys.path.insert(0, '.'); import logs",
    "looks at itself at its end": """
import atexit, pickle
class Own: pass
atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Own())))))
""",
    "is no Python": "def x(:",
    "has a hook for errors": """
sys.excepthook = lambda kind, error, trace: print(kind, trace.tb_frame.f_code.co_name)
1 / 0
""",
    "leaves a thread by sys.exit": """
import threading
thread = threading.Thread(target=lambda: sys.exit(4))
thread.start()
thread.join()
""",
    "pools processes": """
import multiprocessing
def double(number): return 2 * number
if __name__ == "__main__":
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            print(pool.map(double, [1, 2]))
""",
    "looks at its main module": "import __main__; print(vars(__main__) is globals(), __spec__, __builtins__, __file__)",
}

HANGS = """
import os, sys, time
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
time.sleep(100)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    with fork_server() as (path, process):
        yield path, process.pid


def _environment(path: str, **more: str) -> dict[str, str]:
    return {**os.environ, "EVALS_FORK_SERVER": path, "EVALS_PYTHON": sys.executable, **more}


def _run(path: str, *arguments: str, python: str = str(FORKED_PYTHON), **more: Any) -> subprocess.CompletedProcess[str]:
    environment = _environment(path, **more.pop("environment", {}))
    command = [python, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60, **more)


def _script(folder: Path, text: str) -> str:
    file = folder / "a script.py"
    file.write_text(text)
    return str(file)


def test_a_forked_script_sees_what_it_would_see_in_a_python_of_its_own(server: tuple[str, int], tmp_path: Path) -> None:
    script = _script(tmp_path, TELL)
    ours, theirs = (
        _run(
            server[0],
            *[script, "a b", "", "ü\n2"],
            python=python,
            input="given",
            cwd=tmp_path,
            environment={"MARKER": "own=text", "TZ": "XYZ-3"},
        )
        for python in (str(FORKED_PYTHON), sys.executable)
    )
    assert '"marker": "own=text"' in ours.stdout
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, theirs.stdout, "")


@pytest.mark.parametrize("how", ["none", "0", "7", "some words", "raise"])
def test_a_forked_script_ends_as_in_a_python_of_its_own(server: tuple[str, int], tmp_path: Path, how: str) -> None:
    script = _script(tmp_path, ENDS)
    ours, theirs = (_run(server[0], script, how, python=python) for python in (str(FORKED_PYTHON), sys.executable))
    assert ours.stdout == f"begun {how}\nthe thread ended\nat exit\n"
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("habit", _HABITS)
def test_a_forked_script_may_do_as_it_likes(server: tuple[str, int], tmp_path: Path, habit: str) -> None:
    script = _script(tmp_path, "import os, sys\n" + _HABITS[habit])
    seen = []
    for python in (str(FORKED_PYTHON), sys.executable):
        folder = tmp_path / Path(python).name
        folder.mkdir()
        (folder / "logs.py").write_text("file = open('log', 'w')\nfile.write('data')\n")
        done = _run(server[0], script, python=python, cwd=folder)
        files = {file.name: file.read_text() for file in folder.iterdir() if file.is_file()}
        seen.append((done.returncode, done.stdout, done.stderr, files))
    assert seen[0] == seen[1]


def test_a_script_is_forked_and_has_the_libraries(server: tuple[str, int], tmp_path: Path) -> None:
    script = _script(tmp_path, PARENT + "; import sys; print('jsonschema' in sys.modules, 'mcp' in sys.modules)")
    assert _run(server[0], script).stdout.split() == [str(server[1]), "True", "True"]


def test_a_module_is_forked_too(server: tuple[str, int], tmp_path: Path) -> None:
    (tmp_path / "its_module.py").write_text(f"import sys; print(sys.argv, __name__); {PARENT}")
    done = _run(server[0], "-m", "its_module", "x", cwd=tmp_path)
    assert done.stdout.splitlines() == [f"['{tmp_path}/its_module.py', 'x'] __main__", str(server[1])]


def test_many_at_once_each_have_a_process_of_their_own(server: tuple[str, int], tmp_path: Path) -> None:
    script = _script(tmp_path, "import os, sys; print(os.getpid(), sys.stdin.read())")
    environment = _environment(server[0])
    running = [
        subprocess.Popen(
            [FORKED_PYTHON, script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(20)
    ]
    told = [
        process.communicate(f"for {number}", timeout=60)[0].split(maxsplit=1) for number, process in enumerate(running)
    ]
    assert [words for _, words in told] == [f"for {number}\n" for number in range(20)]
    assert len({pid for pid, _ in told}) == 20


@pytest.mark.parametrize("killed", [signal.SIGTERM, signal.SIGKILL])
def test_a_forked_script_ends_with_the_process_that_was_started_for_it(
    server: tuple[str, int], tmp_path: Path, killed: signal.Signals
) -> None:
    told = tmp_path / "told"
    process = subprocess.Popen([FORKED_PYTHON, _script(tmp_path, HANGS), str(told)], env=_environment(server[0]))
    until(lambda: told.exists() and told.read_text())
    pid = int(told.read_text())
    assert pid != process.pid
    process.send_signal(killed)
    assert process.wait(60) == -killed
    until(lambda: gone(pid))


def test_a_forked_script_that_is_killed_is_seen_to_be(server: tuple[str, int], tmp_path: Path) -> None:
    told = tmp_path / "told"
    process = subprocess.Popen([FORKED_PYTHON, _script(tmp_path, HANGS), str(told)], env=_environment(server[0]))
    until(lambda: told.exists() and told.read_text())
    os.kill(int(told.read_text()), signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize(
    "variable", [("PYTHONPATH", "/elsewhere"), ("PYTHONHASHSEED", "1"), ("SSL_CERT_FILE", "/own.pem")]
)
def test_a_script_with_settings_that_are_read_at_the_start_gets_a_python_of_its_own(
    server: tuple[str, int], tmp_path: Path, variable: tuple[str, str]
) -> None:
    script = _script(tmp_path, f"import os; print(os.environ['{variable[0]}']); {PARENT}")
    done = _run(server[0], script, environment=dict([variable]))
    assert done.stdout.split() == [variable[1], str(os.getpid())]


@pytest.mark.parametrize("arguments", [["--version"], ["-c", PARENT]])
def test_other_command_lines_are_those_of_the_ordinary_python(server: tuple[str, int], arguments: list[str]) -> None:
    ours, theirs = (_run(server[0], *arguments, python=python) for python in (str(FORKED_PYTHON), sys.executable))
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, theirs.stdout, theirs.stderr)


def test_without_a_fork_server_a_script_gets_a_python_of_its_own(tmp_path: Path) -> None:
    script = _script(tmp_path, PARENT)
    assert _run(str(tmp_path / "nobody.sock"), script).stdout == f"{os.getpid()}\n"


@pytest.mark.parametrize("hangs", [True, False])
def test_a_fork_server_that_hangs_or_ends_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    with tempfile.TemporaryDirectory(prefix="fs") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder) / "f.sock")
        listener.bind(path)
        listener.listen()
        if hangs:
            monkeypatch.setattr(forked_python, "SECONDS", 0.2)
        else:
            threading.Thread(target=lambda: listener.accept()[0].close()).start()
        assert forked_python.forked(path, [_script(tmp_path, PARENT)]) is None


def test_a_script_with_modules_of_its_own_gets_them(server: tuple[str, int], tmp_path: Path) -> None:
    (tmp_path / "requests.py").write_text("WHOSE = 'its own'")
    script = _script(tmp_path, f"import requests; print(requests.WHOSE); {PARENT}")
    assert _run(server[0], script).stdout.splitlines() == ["its own", str(os.getpid())]
    checks = tmp_path / "checks"
    (checks / "hooks").mkdir(parents=True)
    (checks / "hooks" / "__init__.py").touch()
    (checks / "check.py").write_text(
        "def get_assert(output, context):\n    import hooks\n    return list(hooks.__path__)\n"
    )
    (tmp_path / "in.json").write_text('["", {}]')
    words = (WRAPPER, checks / "check.py", "get_assert", tmp_path / "in.json", tmp_path / "out.json")
    assert _run(server[0], *map(str, words)).returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["data"] == [str(checks / "hooks")]


@pytest.mark.parametrize("room", ["assertions", "formats", "hooks", "providers"])
def test_no_module_of_ours_stands_in_the_way_of_a_fork(server: tuple[str, int], tmp_path: Path, room: str) -> None:
    script = tmp_path / "with_two_scripts.py"
    script.write_text(PARENT)
    assert _run(server[0], str(script), str(CHECKOUT / room / "any.py")).stdout == f"{server[1]}\n"
