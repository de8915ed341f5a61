"""Where an episode meets the world: its models, its tool servers and the pull-request host, real ones or recordings.

    cassette: once                     # none | once | new_episodes | all; files beside the suite, in `cassettes`
    cassette: {mode: none, folder: recordings, name: mini}      # name: for one of several providers of the same cases
    fakes: {seed: 7, rules: [...]}     # see `providers.agent.fake_server`
    now: 2026-03-01T12:00:00Z          # see `providers.agent.frozen_world`

EVALS_CASSETTES sets the mode for a whole run, and `off` turns recordings off. Without a mode it is `none` where CI is
set, else `once`. The services of the run are looked up only when something real is needed, so that a replay needs none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from endpoints.settings import home
from episodes.ledger import Ledger
from models.cassettes.cassette import Cassette
from models.cassettes.modes import MODE_VARIABLE, CassetteMode, command_to_record, parse_mode
from models.cassettes.tape import TapeError
from models.config_values import check_keys
from models.settings import ModelSettings
from providers.agent_protocol import ConfigurationProblem
from providers.recorder import CaseIdentity, Recorder
from providers.services import services
from providers.tracing import current_trace

if TYPE_CHECKING:
    from models.protocol import Model
    from providers.agent.server_settings import ServerSettings
    from providers.agent.tool_server import ToolServer

BOUNDARY_KEYS = frozenset({"cassette", "fakes", "now"})
CASSETTE_KEYS = ("mode", "folder", "name")
OFF = "off"
WITHOUT_RUN = "no-run"
"""Ledger of calls made outside promptfoo, which has no evaluation id."""

CHECKOUT = Path(__file__).resolve().parent.parent
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


class Boundary:
    """The models and servers of one episode, as an async context: what it opened is closed at its end.

    `settle` comes last, and only when the episode ended without an exception: it writes the cassette.
    """

    def __init__(self, options: Mapping[str, Any], base_path: Path, recorder: Recorder) -> None:
        """Read `cassette` and `fakes`, and the cassette's file.

        Raises:
            ConfigurationProblem: one of them is wrong, or the file is damaged.
        """
        from providers.agent.fake_server import parse_fakes
        from providers.agent.frozen_world import read_frozen_world

        self._recorder = recorder
        self._stack = AsyncExitStack()
        self._cassette = _cassette(options, base_path, recorder.identity)
        self.fakes = parse_fakes(options.get("fakes"))
        self.world = read_frozen_world(options)
        if self._cassette is not None:
            recorder.fingerprint("cassette", self._cassette.describe(), self._cassette.describe())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def home(self) -> Path:
        """The data folder."""
        return home()

    async def model(self, role: str, settings: ModelSettings) -> Model:
        """The model of a role (`agent`, `user`, `judge`).

        Raises:
            ConfigurationProblem, EpisodeStopped: the services of the run can not be found or started.
        """
        from models.cassettes.model import RecordedModel

        async def live() -> Model:
            from models.service import open_model

            endpoint = (await services()).model
            return await self._stack.enter_async_context(open_model(endpoint, settings))

        model: Model
        if self._cassette is None:
            model = await live()
        else:
            model = RecordedModel(f"model {role}", settings, self._cassette, live)
        trace = current_trace()
        return model if trace is None else trace.model(role, model)

    async def server(self, settings: ServerSettings) -> ToolServer:
        """The server of one entry of `servers`. Raises as `model` does."""
        from providers.agent.fake_server import FakeServer
        from providers.agent.recorded_server import RecordedServer

        async def live() -> ToolServer:
            from providers.agent.mcp_server import open_mcp_server
            from providers.agent.server_settings import fill_in

            portal = (await services()).portal
            meta = self.world.meta()
            return await self._stack.enter_async_context(open_mcp_server(fill_in(settings, portal), meta))

        server: ToolServer
        if self._cassette is None:
            server = await live()
        else:
            server = RecordedServer(settings.name, self._cassette, live)
        if self.fakes.rules:
            server = FakeServer(server, self.fakes)
        trace = current_trace()
        return server if trace is None else trace.server(server)

    @property
    def cassette(self) -> Cassette | None:
        """For what is asked when the conversation has ended."""
        return self._cassette

    def settle(self) -> None:
        """Write the cassette. Recordings that nothing asked for spoil an episode that only replays.

        Raises:
            ConfigurationProblem: the file can not be written.
        """
        if self._cassette is not None:
            _finish(self._cassette, self._recorder)

    def ledger(self) -> Ledger:
        """The ledger of this run. It needs no service: its host is named in the environment, or is the local one."""
        return Ledger.open(self.home, self._recorder.identity.eval_id or WITHOUT_RUN)


def _finish(cassette: Cassette, recorder: Recorder) -> None:
    unused = cassette.describe_unused()
    if cassette.spoilt:
        recorder.warn(f"{cassette.path.name} was not written: {cassette.spoilt}")
    if unused and not cassette.records:
        recorder.spoil(unused)
    elif unused:
        recorder.warn(unused)
    try:
        cassette.save()
    except TapeError as problem:
        raise ConfigurationProblem(str(problem)) from None
    if not cassette.spoilt:
        recorder.cassette = cassette.use(CHECKOUT)


def _cassette(options: Mapping[str, Any], base_path: Path, identity: CaseIdentity) -> Cassette | None:
    wanted = options.get("cassette")
    from_environment = os.environ.get(MODE_VARIABLE, "").strip()
    data = {"mode": wanted} if isinstance(wanted, str) else {} if wanted is None else wanted
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"config.cassette: expected a mode or a mapping with {', '.join(CASSETTE_KEYS)}")
    check_keys(data, CASSETTE_KEYS, "config.cassette.")
    mode = CassetteMode.NONE if os.environ.get("CI") else CassetteMode.ONCE
    try:
        if data.get("mode") not in (None, OFF):
            mode = parse_mode(data["mode"], "config.cassette.mode")
        if from_environment == OFF or (not from_environment and (wanted is None or data.get("mode") == OFF)):
            return None
        if from_environment:
            mode = parse_mode(from_environment, MODE_VARIABLE)
    except ValueError as problem:
        raise ConfigurationProblem(f"{problem} (or {OFF})") from None
    path = _folder(data, base_path, identity.suite) / _file_name(identity, str(data.get("name") or ""))
    try:
        return Cassette(path, identity.case_id, mode, again=command_to_record(identity.suite, identity.case_id))
    except TapeError as problem:
        raise ConfigurationProblem(str(problem)) from None


def _folder(data: Mapping[str, Any], base_path: Path, suite: str) -> Path:
    """The folder of the suite's cassettes: in the suite's own folder, wherever promptfoo was started."""
    folder = str(data.get("folder") or "cassettes")
    own = CHECKOUT / "suites" / suite
    return (own if suite and own.is_dir() else base_path) / folder


def _file_name(identity: CaseIdentity, name: str) -> str:
    parts = [part for part in (identity.case_id or "case", name) if part]
    # An id from a case file may hold anything; a file name may not.
    return f"{_UNSAFE.sub('_', '.'.join(parts)).lstrip('.') or 'case'}.jsonl"
