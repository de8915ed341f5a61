"""A forked process that runs one script or module, as `python SCRIPT ARGUMENT…` or `python -m MODULE …` would have.

After the byte with the streams come ten digits with the length of what follows: working folder, interpreter, number of
arguments, arguments and environment (`NAME=text`), each ended by a zero byte. `+` is the answer when the script is run
here, and one byte with its exit code when it has ended. Without a `+` nothing was begun.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import gc
import io
import os
import runpy
import select
import socket
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType

from evals.forking.takeover import become, take_over


def run(connection: socket.socket, streams: list[int]) -> int:
    """Run what is asked for on `connection`. Returns its exit code, or 1 where it can not be run here.

    What the script raises is printed without the frames between here and the script.
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
    # Not one of `threading`: the script is to find only its own threads there.
    _thread.start_new_thread(_end_with, (connection,))
    leave.begin(connection)
    with _End():
        _execute(arguments)
    return leave.code


class _End:
    """How the script ends becomes the exit code, as Python itself has it."""

    def __enter__(self) -> None:
        leave.code = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, SystemExit):
            leave.code = _exit_code(error.code)
        elif kind is not None and error is not None:
            leave.code = 1
            for _ in (run, _execute):
                trace = trace and trace.tb_next
            sys.excepthook(kind, error.with_traceback(trace), trace)
        return True


def _execute(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    script = arguments[0]
    sys.argv = arguments
    sys.path.insert(0, str(Path(script).resolve().parent))
    # It stays the main module when it has ended: threads and `atexit` may still look into it.
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=script, __loader__=SourceFileLoader("__main__", script), __builtins__=sys.modules["builtins"]
    )
    sys.modules["__main__"] = main
    exec(compile(Path(script).read_bytes(), script, "exec", dont_inherit=True), main.__dict__)


class _Leave:
    """What Python does last in a script's process: it says the exit code, and leaves without taking everything apart
    that the process shares with its siblings.
    """

    code = 0

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._shared: frozenset[str] = frozenset()
        self._exit = os._exit

    def register(self) -> None:
        """Call this before anything else is registered with `atexit`: the first one is the last to be called."""
        atexit.register(self._leave)

    def begin(self, connection: socket.socket) -> None:
        """From now on this process is a script's."""
        self._connection = connection
        self._shared = frozenset(sys.modules)
        vars(os)["_exit"] = self._say
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """What the script forks itself has nothing to say to the asker."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        vars(os)["_exit"] = self._exit

    def _say(self, code: int) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.sendall(bytes([code & 0xFF]))
        self._exit(code)

    def _leave(self) -> None:
        if self._connection is None:
            return
        # What the script has made goes as it would go: its open files are written, its temporary ones are removed. Both
        # before and after: garbage is not collected in the order in which a file lies on its buffer.
        _write_out()
        for name in {"__main__", *sys.modules} - (self._shared - {"__main__"}):
            sys.modules.pop(name, None)
        gc.collect()
        _write_out()
        self._say(self.code)


def _write_out() -> None:
    for thing in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, *gc.get_objects()):
        if issubclass(type(thing), io.IOBase):
            with contextlib.suppress(OSError, ValueError):
                thing.flush()


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


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1
