"""The Python that promptfoo starts in a run: it has the script run by a process that is forked from the fork server.

    python -IS forked_python.py (SCRIPT | -m MODULE) ARGUMENT…

`evals/forking/program.py` says how they talk. This process hands over its streams, waits, and ends with the script's
exit code; the script's process ends when this one does. Where no such process is to be had, and for every other command
line (`--version`, `-c …`), it becomes the ordinary Python. It is started for each assertion, and so imports nothing but
what the interpreter has built in: that takes 15 ms; asyncio alone, which promptfoo's wrapper script needs, takes 90.
"""

import _socket
import os
import sys

SECONDS = 60.0
"""How long to wait for the fork server to have everything imported; it takes about two seconds."""


def forked(server: str, arguments: list[str]) -> int | None:
    """The script's exit code; None where nothing was begun. A script that was killed takes this process with it."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(SECONDS)
        connection.connect(server)
        streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
        connection.sendmsg([b"p"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
        environment = [f"{name}={text}" for name, text in os.environ.items()]
        words = [os.path.realpath("."), sys.executable, str(len(arguments)), *arguments, *environment, ""]
        message = os.fsencode("\0".join(words))
        connection.sendall(b"%010d" % len(message) + message)
        if connection.recv(1) != b"+":
            return None
    except OSError:
        return None
    connection.settimeout(None)
    code = connection.recv(1)
    if not code:
        os.kill(os.getpid(), 9)
    return code[0]


def run(arguments: list[str]) -> int | None:
    """`forked`, where there is a fork server and the arguments name a script or a module."""
    server = os.environ.get("EVALS_FORK_SERVER")
    if not server or not arguments or (arguments[0].startswith("-") and arguments[0] != "-m"):
        return None
    return forked(server, arguments)


if __name__ == "__main__":
    code = run(sys.argv[1:])
    if code is None:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    sys.exit(code)
