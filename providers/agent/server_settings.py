"""Where is a server of tools? One entry of `servers:` in an agent file or a provider's config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from endpoints.redaction import remember_named
from models.config_values import check_keys, number
from providers.agent_protocol import ConfigurationProblem

if TYPE_CHECKING:
    from endpoints import Portal

SERVER_KEYS = ("name", "url", "headers", "command", "args", "env", "cwd", "connectSeconds")
PORTAL_VARIABLE = "EVALS_PORTAL_URL"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")


@dataclass(frozen=True)
class ServerSettings:
    """One server: `url` for streamable HTTP, or `command` for a process on stdio. Texts may still hold `${NAME}`."""

    name: str
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    connect_s: float = 15.0

    @property
    def needs_portal(self) -> bool:
        """True when the portal's address stands somewhere in this entry."""
        texts = (self.url, self.command, *self.args, *self.headers.values(), *self.env.values())
        return any(PORTAL_VARIABLE in text for text in texts)


@dataclass(frozen=True)
class ServerAddress:
    """A server with every `${NAME}` filled in. Its secrets never appear in its `repr`."""

    name: str
    connect_s: float
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""


def parse_servers(data: Any, where: str) -> tuple[ServerSettings, ...]:
    """Read `servers:`, a list of mappings with `name` and either `url` or `command`.

    Raises:
        ConfigurationProblem: with the place, what is wrong, and what is allowed.
    """
    if data is None:
        return ()
    if not isinstance(data, list):
        raise ConfigurationProblem(f"{where}: expected a list of servers, found {type(data).__name__}")
    servers = tuple(_parse_server(item, f"{where}[{index}]") for index, item in enumerate(data))
    names = [server.name for server in servers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise ConfigurationProblem(f"{where}: two servers are called {twice!r}")
    return servers


def fill_in(
    server: ServerSettings, portal: Portal | None, environment: Mapping[str, str] | None = None
) -> ServerAddress:
    """Fill in `${NAME}` from the environment; the portal's address is the one that this run uses.

    What is a credential by its name is masked from then on. The portal's token goes to the portal's own origin and
    nowhere else.

    Raises:
        ConfigurationProblem: a variable is not set.
    """
    names = os.environ if environment is None else environment

    def fill(text: str) -> str:
        return _VARIABLE.sub(lambda match: _value(match.group(1), server.name, portal, names), text)

    def fill_named(name: str, text: str) -> str:
        filled = fill(text)
        # The last word: what comes before it in a header is the scheme, such as Bearer.
        remember_named(name, filled.rpartition(" ")[2])
        return filled

    url = fill(server.url)
    headers = {key: fill_named(key, value) for key, value in server.headers.items()}
    has_own = any(key.lower() == "authorization" for key in headers)
    if portal is not None and portal.token and not has_own and _origin(url) == _origin(portal.mcp_url):
        headers["Authorization"] = f"Bearer {portal.token}"
    return ServerAddress(
        name=server.name,
        connect_s=server.connect_s,
        url=url,
        headers=headers,
        command=fill(server.command),
        args=tuple(map(fill, server.args)),
        env={key: fill_named(key, value) for key, value in server.env.items()},
        cwd=fill(server.cwd),
    )


def _parse_server(data: Any, where: str) -> ServerSettings:
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"{where}: expected a mapping with {', '.join(SERVER_KEYS)}")
    check_keys(data, SERVER_KEYS, f"{where}.")
    name, url, command = data.get("name"), data.get("url"), data.get("command")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationProblem(f"{where}.name: expected letters, digits, - and _, found {name!r}")
    if isinstance(url, str) == isinstance(command, str):
        raise ConfigurationProblem(f"{where}: expected either url (streamable HTTP) or command (a process on stdio)")
    if isinstance(url, str) and not url.startswith(("http://", "https://", "${")):
        raise ConfigurationProblem(f"{where}.url: expected an address that begins with http://, https:// or ${{NAME}}")
    args = data.get("args") or []
    if not isinstance(args, list):
        raise ConfigurationProblem(f"{where}.args: expected a list, found {type(args).__name__}")
    return ServerSettings(
        name=name,
        url=url or "",
        headers=_texts(data, "headers", where),
        command=command or "",
        args=tuple(map(str, args)),
        env=_texts(data, "env", where),
        cwd=str(data.get("cwd") or ""),
        connect_s=number(data, "connectSeconds", f"{where}.", 0.1, 120) or ServerSettings.connect_s,
    )


def _texts(data: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    value = data.get(key) or {}
    if not isinstance(value, Mapping):
        raise ConfigurationProblem(f"{where}.{key}: expected a mapping of names to texts")
    return {str(name): str(text) for name, text in value.items()}


def _value(name: str, server: str, portal: Portal | None, environment: Mapping[str, str]) -> str:
    if name == PORTAL_VARIABLE and portal is not None:
        return portal.web_url
    text = environment.get(name)
    if not text:
        raise ConfigurationProblem(f"server {server}: the environment variable {name} is not set")
    remember_named(name, text)
    return text


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
