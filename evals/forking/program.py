"""A forked process that runs one script or module, as `python SCRIPT ARGUMENT…` or `python -m MODULE …` would have.

After the byte with the streams come ten digits with the length of what follows: working folder, interpreter, number of
arguments, arguments and environment (`NAME=text`), each ended by a zero byte. `+` is the answer when the script is run
here, and one byte with its exit code when it has ended. Without a `+` nothing was begun.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import runpy
import select
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType

from evals.forking.takeover import become, take_over


def run(connection: socket.socket, streams: list[int]) -> int:
    """Run what is asked for on `connection`. Returns its exit code, or 1 where it can not be run here.

    What the script raises is raised here, and printed without the frames between here and the script.
    """
    with connection.makefile("rb") as file:
        folder, executable, count, *rest = os.fsdecode(file.read(int(file.read(10)))).split("\0")
    arguments, variables = rest[: int(count)], rest[int(count) : -1]
    environment = dict(variable.split("=", 1) for variable in variables)
    if _read_by_python(environment) != _read_by_python(dict(os.environ)):
        return 1
    if _own_modules(arguments, folder) or become(executable, environment, folder) is not None:
        return 1
    take_over(streams)
    connection = connection.dup()  # the caller closes its own before this process is at its end
    connection.sendall(b"+")
    threading.Thread(target=_end_with, args=[connection], name="asker", daemon=True).start()
    code = 1
    try:
        _execute(arguments)
        code = 0
    except SystemExit as end:
        code = _exit_code(end.code)
    finally:
        leave.say(connection, code)
    return code


def _execute(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    script = arguments[0]
    sys.argv = arguments
    sys.path.insert(0, str(Path(script).resolve().parent))
    sys.excepthook = _excepthook(script)
    runpy.run_path(script, run_name="__main__")


class _Leave:
    """What Python does last in a script's process: it says the exit code, and leaves without taking everything apart
    that the process shares with its siblings.
    """

    def __init__(self) -> None:
        self._with: tuple[socket.socket, int] | None = None

    def register(self) -> None:
        """Call this before anything else is registered with `atexit`: the first one is the last to be called."""
        atexit.register(self._leave)

    def say(self, connection: socket.socket, code: int) -> None:
        self._with = (connection, code)

    def _leave(self) -> None:
        if self._with is None:
            return
        connection, code = self._with
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        with contextlib.suppress(OSError):
            connection.sendall(bytes([code]))
        os._exit(code)


leave = _Leave()


def _read_by_python(environment: dict[str, str]) -> dict[str, str]:
    """What Python reads when it starts: in a forked process it would have no effect."""
    return {name: text for name, text in environment.items() if name.startswith("PYTHON")}


def _own_modules(arguments: list[str], folder: str) -> set[str]:
    """The modules beside the script, and beside the one that promptfoo's wrapper script is to load, that it could not
    import here because another one of that name is imported already.
    """
    scripts = [Path(folder, argument) for argument in arguments[:2] if argument.endswith(".py")]
    beside = {script.parent for script in scripts} if arguments[0] != "-m" else {Path(folder)}
    names = {entry.name.removesuffix(".py"): entry for place in beside if place.is_dir() for entry in place.iterdir()}
    return {name for name, entry in names.items() if name in sys.modules and not _is_from(sys.modules[name], entry)}


def _is_from(module: ModuleType, entry: Path) -> bool:
    return Path(getattr(module, "__file__", None) or "").resolve() in (entry.resolve(), entry.resolve() / "__init__.py")


def _end_with(connection: socket.socket) -> None:
    """End when the asker is gone: whoever killed that meant this process."""
    poller = select.poll()
    poller.register(connection, select.POLLRDHUP)
    poller.poll()
    os._exit(1)


def _excepthook(script: str) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    def print_from_script(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        first = trace
        while first is not None and first.tb_frame.f_code.co_filename != script:
            first = first.tb_next
        traceback.print_exception(kind, error, first or trace)

    return print_from_script


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1
