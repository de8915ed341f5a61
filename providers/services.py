"""The services of this run, for providers: looked up off the event loop, because the local stack may have to start."""

from __future__ import annotations

import asyncio
import os

from endpoints import Endpoints, SettingsError, resolve
from endpoints.local_stack import StackError
from episodes.record import StopReason
from providers.agent_protocol import ConfigurationProblem, EpisodeStopped


async def services() -> Endpoints:
    """Where model, portal and pull-request host are. The local stack is leased for promptfoo's process, our parent.

    Raises:
        ConfigurationProblem: an environment variable is missing or unusable.
        EpisodeStopped: the local stack did not start.
    """
    try:
        return await asyncio.to_thread(resolve, lease=os.getppid())
    except SettingsError as problem:
        raise ConfigurationProblem(str(problem)) from None
    except StackError as problem:
        raise EpisodeStopped(StopReason.PROVIDER_ERROR, str(problem)) from None
