"""`python -m local serve`: what stands in for production on one machine, as a process."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

_DESCRIPTION = """\
Serve the local portal (spokes, documentation and pull requests, over MCP and a REST interface) and the local model, on
loopback only. Addresses and the tokens of this run are handed over on the Unix socket, as one JSON line to whoever
sends the line {"leases": [<process id>, ...]}; they are written nowhere else.
"""


def _port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; a number from 1 to 65535 is")
    return int(text)


def _pid(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a process id; a number from 1 is")
    return int(text)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description="What stands in for production.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="run portal and model until nobody needs them", description=_DESCRIPTION)
    serve.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder for everything that is kept")
    serve.add_argument(
        "--socket",
        type=Path,
        required=True,
        metavar="PATH",
        help="Unix socket for the addresses and tokens, in a folder that only you can enter",
    )
    serve.add_argument("--portal-port", type=_port, metavar="N", help="default: last time's if it is free, else any")
    serve.add_argument("--model-port", type=_port, metavar="N", help="default: last time's if it is free, else any")
    serve.add_argument(
        "--lease-pid",
        type=_pid,
        nargs="+",
        action="extend",
        default=[],
        metavar="PID",
        help="processes that need the stack; it ends when they and all that asked on the socket are gone (default: the "
        "parent process)",
    )
    serve.add_argument("--only", choices=["portal", "model"], help="serve one of the two")
    _add_real_model(commands)
    return parser


def _add_real_model(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    real = commands.add_parser("real-model", help="run a real small model until nobody needs it")
    real.add_argument("--python", type=Path, required=True, metavar="PATH", help="the Python that has the engine")
    real.add_argument("--model", type=Path, required=True, metavar="FILE", help="the model, as a GGUF file")
    real.add_argument("--name", required=True, help="what requests call the model")
    real.add_argument("--context", type=_count, required=True, metavar="TOKENS", help="longest conversation")
    real.add_argument("--most-tokens", type=_count, required=True, metavar="N", help="longest answer")
    real.add_argument("--threads", type=_count, required=True, metavar="N")
    real.add_argument("--lease-pid", type=_pid, nargs="+", default=[], metavar="PID", help="as for serve")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code: 0 after a clean stop, 1 when it can not start."""
    options = _parser().parse_args(arguments)
    return _real_model(options) if options.command == "real-model" else _serve(options)


def _real_model(options: argparse.Namespace) -> int:
    from local.real_model.serve import EngineError, Options, serve

    try:
        serve(
            Options(
                python=options.python,
                model=options.model,
                name=options.name,
                context=options.context,
                most_tokens=options.most_tokens,
                threads=options.threads,
                lease_pids=tuple(options.lease_pid),
            )
        )
    except (EngineError, OSError) as error:
        print(f"python -m local: the engine did not start: {error}", file=sys.stderr)
        return 1
    return 0


def _serve(options: argparse.Namespace) -> int:
    from local.handover import HandoverError
    from local.portal.data_folder import DataFolderError
    from local.portal.git_process import GitError
    from local.ports import PortError
    from local.serve import Options, serve

    try:
        serve(
            Options(
                data=options.data,
                socket_path=options.socket,
                portal_port=options.portal_port,
                model_port=options.model_port,
                lease_pids=tuple(options.lease_pid),
                only=options.only,
            )
        )
    except (DataFolderError, GitError, PortError, HandoverError) as error:
        print(f"python -m local: {error}", file=sys.stderr)
        return 1
    except ImportError as missing:
        advice = "`npm run eval` installs what the checkout needs"
        print(f"python -m local: {sys.executable} lacks a package: {missing}; {advice}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
