"""Where an episode meets the world: its models, its tool servers and the pull-request host, real ones or recordings.

    cassette: once                     # see `providers.cassette_choice`
    fakes: {seed: 7, rules: [...]}     # see `providers.agent.fake_server`
    now: 2026-03-01T12:00:00Z          # see `providers.agent.frozen_world`

EVALS_CASSETTES sets the mode for a whole run, and `off` turns recordings off. Without a mode it is `none` where CI is
set, else `once`. The services of the run are looked up only when something real is needed, so that a replay needs none.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from endpoints.settings import home
from episodes.ledger import Ledger
from models.cassettes.cassette import Cassette
from models.cassettes.modes import command_to_record
from models.cassettes.tape import TapeError
from models.settings import ModelSettings
from providers.agent_protocol import ConfigurationProblem
from providers.cassette_choice import read_cassette_choice
from providers.recorder import CaseIdentity, Recorder
from providers.services import services
from providers.tracing import current_trace

if TYPE_CHECKING:
    from endpoints import Endpoints
    from models.protocol import Model
    from providers.agent.server_settings import ServerSettings
    from providers.agent.tool_server import ToolServer

WITHOUT_RUN = "no-run"
"""Ledger of calls made outside promptfoo, which has no evaluation id."""

CHECKOUT = Path(__file__).resolve().parent.parent


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
        self._looking_up = asyncio.Lock()
        self._found: Endpoints | None = None
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

            endpoint = (await self._services()).model
            return await self._stack.enter_async_context(open_model(endpoint, settings))

        model: Model
        if self._cassette is None:
            model = await live()
        else:
            model = RecordedModel(f"model {role}", settings, self._cassette, live)
        trace = current_trace()
        return model if trace is None else trace.model(role, model)

    async def _services(self) -> Endpoints:
        """The run's services, looked up once for an episode: asking takes a thread and a socket's round trip."""
        async with self._looking_up:
            if self._found is None:
                self._found = await services()
            return self._found

    async def server(self, settings: ServerSettings) -> ToolServer:
        """The server of one entry of `servers`. Raises as `model` does."""
        from providers.agent.fake_server import FakeServer
        from providers.agent.recorded_server import RecordedServer

        async def live() -> ToolServer:
            from providers.agent.mcp_server import open_mcp_server
            from providers.agent.server_settings import fill_in

            portal = (await self._services()).portal
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
    repeat = recorder.identity.repeat
    if repeat and cassette.asked_live and not cassette.spoilt:
        # Each repeat would write over the one that ended before it.
        cassette.spoilt = f"it holds one episode, that of the first repeat, and this is repeat {repeat + 1}"
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
    choice = read_cassette_choice(options, os.environ)
    if choice is None:
        return None
    path = _folder(choice.folder, base_path, identity.suite) / choice.file_name(identity.case_id)
    again = command_to_record(identity.suite, identity.case_id)
    try:
        return Cassette(path, identity.case_id, choice.mode, again=again)
    except TapeError as problem:
        raise ConfigurationProblem(str(problem)) from None


def _folder(folder: str, base_path: Path, suite: str) -> Path:
    """The folder of the suite's cassettes: in the suite's own folder, wherever promptfoo was started."""
    own = CHECKOUT / "suites" / suite
    return (own if suite and own.is_dir() else base_path) / folder
