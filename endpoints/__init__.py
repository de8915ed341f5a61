"""Where are the model, the portal and the pull-request host of this run, and how are they reached?

What the environment does not name is taken from the local stack, which is started when it is not running.

The names below are loaded when they are first used: a hook or an assertion is a process of its own and often needs no
more than `endpoints.settings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from endpoints.addresses import (
        Endpoints,
        ModelEndpoint,
        Portal,
        PullRequestHost,
        resolve,
        resolve_model,
        resolve_pull_request_host,
    )
    from endpoints.settings import SettingsError

_HOMES = {
    "Endpoints": "addresses",
    "ModelEndpoint": "addresses",
    "Portal": "addresses",
    "PullRequestHost": "addresses",
    "SettingsError": "settings",
    "resolve": "addresses",
    "resolve_model": "addresses",
    "resolve_pull_request_host": "addresses",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)


__all__ = [
    "Endpoints",
    "ModelEndpoint",
    "Portal",
    "PullRequestHost",
    "SettingsError",
    "resolve",
    "resolve_model",
    "resolve_pull_request_host",
]
